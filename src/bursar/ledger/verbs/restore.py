"""Going on with a ledger that is behind its anchor, or that is one of two copies that both went on.

Entries after the backup are lost, and with them what was spent: all that was left of the affected roots counts as
spent, what was held too, since it may have been drawn. The entry that says so takes a number beyond the anchor's, and
the chain goes on from there. Limits that were raised since are lost as well, so such a root is never raised again.
"""

from __future__ import annotations

from bursar.ledger.anchors.every import Anchors
from bursar.ledger.anchors.evidence import Anchored, behind
from bursar.ledger.budget.currencies._moves import forfeited
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Effects, effect_row, reservation_row
from bursar.ledger.journal.entry import FIRST, Chain, Chained, Entry, canonical
from bursar.ledger.receipt import Receipt, receipt_of
from bursar.ledger.stores._base import Head, Store, Transaction
from bursar.ledger.verbs.reserve import ended_reservation

LOST = "unknown releases: entries were lost"
"""What stands in the list of releases from then on: odometer and hindsight are not known any more."""


def restored(store: Store, chain: Chain, anchors: Anchors, now: int, actor: str, reason: str) -> list[Receipt]:
    """One entry for each affected root."""
    receipts = []
    heads = {}
    with store.writing() as tx:
        known = anchors.read()
        lost = sorted(behind(tx, known))
        tx.lock(lost)
        for root in lost:
            chained = _entry(tx, chain, root, known[root], (now, actor, reason))
            heads[root] = Head(chained.entry.seq, chained.entry.at, chained.hash, 0)
            receipts.append(receipt_of(chained, False))
    if heads:
        anchors.append(heads)
        store.settled()
    return receipts


def _entry(tx: Transaction, chain: Chain, root: str, anchored: Anchored, said: tuple[int, str, str]) -> Chained:
    now, actor, reason = said
    head = tx.head(root)
    scopes = tx.scopes(root)
    effects: Effects = [
        (row.name, line, before, forfeited(before)) for row in scopes for line, before in tx.balances(row.name).items()
    ]
    ended = [ended_reservation(row) for row in tx.reservations(root) if row.status == "open"]
    marked = [Scope(row).with_terms(lost=True).row for row in scopes]
    seq, at, prev, _ = head or (0, 0, FIRST, 0)
    lost = {"anchor": [str(anchored.seq), anchored.hash], "reason": reason}
    content = {
        "effect": [effect_row(*effect) for effect in effects],
        "lost": lost,
        "released": LOST,
        "request": None,
        "reservations": [reservation_row(row) for row in ended],
        "scopes": [list(row) for row in marked],
    }
    entry = Entry(root, max(seq, anchored.seq) + 1, max(now, at + 1), "restore", "", actor, canonical(content), prev)
    chained = Chained(entry, chain.hash(entry))
    tx.set_balances((scope, line, after) for scope, line, _, after in effects)
    for name in dict.fromkeys(scope for scope, _, _, _ in effects):
        tx.add_released(name, LOST, 1)
    for reservation in ended:
        tx.set_reservation(reservation)
    for row in marked:
        tx.set_scope(row)
    tx.append(chained, entry.seq)  # more changes than any process can have seen of the history that is lost
    return chained
