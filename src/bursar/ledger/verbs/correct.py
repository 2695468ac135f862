"""Correcting: adding spend that an earlier entry should have had.

It reaches every scope that the release touched: those of the entry, the other roots of the same charge, and blocks that
were opened since. What no longer fits has happened all the same: reservations give way to it first; then the lines are
filled, the scope is frozen, and its terms remember by how much it is overdrawn, so that a larger limit pays that first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bursar.errors import CostInvalid, InputError
from bursar.ledger.budget.currencies import Balance, Price, Refusal
from bursar.ledger.budget.currencies._moves import filled
from bursar.ledger.budget.refusals import alike
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.posting import Posting, Request
from bursar.ledger.journal.body import Draft, Effects, by_root, effects_of
from bursar.ledger.journal.entry import Chained
from bursar.ledger.receipt import Receipt, receipt_of
from bursar.ledger.stores._base import Reader
from bursar.ledger.verbs.consent import consented
from bursar.ledger.verbs.reserve import cancel

_CHARGES = ("spend", "draw", "import", "correct")


def correct(
    posting: Posting,
    request: Request,
    release: Release,
    reason: str,
    entry: tuple[str, int],
    consent: str | None = None,
) -> Receipt:
    """Add spend that an earlier entry should have had."""
    root, seq = entry
    wrong = posting.tx.entry(root, seq)
    if wrong is None or wrong.entry.kind not in _CHARGES:
        raise InputError(f"entry {seq} of {root} is no charge", argument="entry")
    paths = [posting.catalogue.find(name, posting.tx)[1] for name in charged_by(posting.tx, wrong)]
    scopes = [posting.scope(name) for name in dict.fromkeys(name for path in paths for name in path)]
    alike(scopes, release)
    agreed = consented(posting, scopes, release, entry, consent)
    _make_room(posting, scopes, release)
    effects: Effects = []
    overdrawn: dict[str, Scope] = {}
    for scope in scopes:
        state, price, after = _asked(posting, scope, release)
        if after is not None:
            effects += effects_of(scope.name, state, after)
        else:
            full, overdrawn[scope.name] = _overdrawn(scope, state, price)
            effects += [(scope.name, line, before, full[line]) for line, before in state.items()]
    first = None
    for part, changes in by_root(scopes, effects).items():
        beyond = [scope for scope in overdrawn.values() if scope.row.root == part]
        draft = Draft(changes, release.text, scopes=[scope.row for scope in beyond])
        draft.extra = {"corrects": [root, seq], "reason": reason, "overdrawn": [scope.name for scope in beyond]}
        draft.extra |= agreed
        chained = posting.post(request, "correct", part, draft)
        first = first or chained
    assert first is not None
    return receipt_of(first, False)


def charged_by(reader: Reader, chained: Chained) -> list[str]:
    """The scopes that a charge named or debited, in every root; those of the charge that it corrects, if it does."""
    names: dict[str, None] = {}
    met: set[str] = set()
    following: Chained | None = chained
    while following is not None and following.hash not in met:
        met.add(following.hash)
        content = following.entry.content()
        names.update(dict.fromkeys([row[0] for row in content["effect"]]))
        names.update(dict.fromkeys((content["request"] or {}).get("scopes", ())))
        corrects = content.get("corrects")
        following = None if corrects is None else reader.entry(corrects[0], int(corrects[1]))
    return list(names)


def _asked(
    posting: Posting, scope: Scope, release: Release
) -> tuple[dict[str, Balance], Price | None, dict[str, Balance] | None]:
    """The state, the price out of its order, and the state after it; None where there is none, or no room."""
    state = posting.lines(scope)
    try:
        price = scope.currency.known(release, state, posting.ran(scope))
        after = scope.currency.step(state, price)
    except CostInvalid:
        return state, None, None
    return state, price, None if isinstance(after, Refusal) else after


def _make_room(posting: Posting, scopes: Sequence[Scope], release: Release) -> None:
    """What is only held gives way to what has happened."""
    roots = dict.fromkeys(scope.row.root for scope in scopes)
    for root in roots:
        posting.expire(root)
    short = [scope for scope in scopes if _asked(posting, scope, release)[2] is None]
    for root in roots:
        cancel(posting, root, {scope.name for scope in short if scope.row.root == root})


def _overdrawn(scope: Scope, state: Mapping[str, Balance], price: Price | None) -> tuple[dict[str, Balance], Scope]:
    """The lines filled as far as they go, and the scope with what went beyond; frozen, unless it is closed."""
    known: dict[str, Any] | None
    if scope.period or price is None or len(scope.currency.ways) > 1 or scope.overdrawn is None:
        known = {} if scope.period else None  # a window starts anew
        after = {line: filled(before)[0] for line, before in state.items()}
    else:
        (asked,) = price.ways.values()
        after, known = {}, {}
        for line, before in state.items():
            after[line], beyond = filled(before, asked.get(line, 0))
            if beyond + scope.overdrawn.get(line, 0):
                known[line] = str(beyond + scope.overdrawn.get(line, 0))
    marked = scope.with_terms(overdrawn=known)
    return after, marked if scope.row.status == "closed" else marked.with_status("frozen")
