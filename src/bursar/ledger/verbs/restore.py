"""Restore: go on with a ledger that is behind its anchor, or that is one of two copies that both went on.

Entries after the backup are lost, and with them what was spent: all that was left of the affected roots counts as
spent, what was held too, since it may have been drawn. The entry that says so takes a number beyond the anchor's, and
the chain goes on from there. Limits that were raised since are lost as well, so such a root is never raised again.
"""

from __future__ import annotations

from collections.abc import Mapping

from bursar.ledger.anchors.evidence import Anchored
from bursar.ledger.budget.currencies._moves import forfeited
from bursar.ledger.budget.reservations import forgotten
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import LOST, Body, Draft, Gone, effect, kept
from bursar.ledger.receipt import Receipt, receipt_of


def restore(posting: Posting, lost: Mapping[str, Anchored], actor: str, reason: str) -> list[Receipt]:
    """Write one entry for each root that is behind."""
    return [
        receipt_of(posting.post(_draft(posting, root, anchored, reason), actor=actor), False)
        for root, anchored in lost.items()
    ]


def _draft(posting: Posting, root: str, anchored: Anchored, reason: str) -> Draft:
    scopes = posting.rows.scopes(root)
    body = Body(
        effect=[
            effect(row.name, line, before, forfeited(before))
            for row in scopes
            for line, before in posting.rows.balances(row.name).items()
        ],
        lost=Gone((str(anchored.seq), anchored.hash), reason),
        released=LOST,
        reservations=[kept(forgotten(row)) for row in posting.rows.reservations(root) if row.status == "open"],
        scopes=[Scope(row).with_terms(lost=True).row for row in scopes],
    )
    return Draft("restore", root, body, above=anchored.seq)
