"""What entries move that were charged before: each is done again, by the functions that did it the first time."""

from __future__ import annotations

from collections.abc import Mapping

from bursar.ledger.budget.currencies import Balance, Price
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.reservations import drawn, given_back
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Body
from bursar.ledger.journal.held import Held, held_in
from bursar.ledger.journal.rows import ScopeRow
from bursar.ledger.journal.rules import NOTHING
from bursar.ledger.verbs.limit import changes
from bursar.ledger.verbs.open import set_aside

States = Mapping[str, Mapping[str, Balance]]


def moved_otherwise(
    kind: str, body: Body, states: States, rows: Mapping[str, ScopeRow], open_ones: Mapping[str, Held]
) -> str:
    """What is wrong with an opening, a draw, an ending or a new limit, from what the entries before it left."""
    expected: dict[str, Mapping[str, Balance]] = {}
    if kind in ("draw", "close", "expire"):
        if body.reservation is None or (held := open_ones.get(body.reservation.id)) is None:
            return "is about a reservation that is not open"
        left = dict(held_in(body.reservation.row("")).left)
        parts = [(text, count - left.get(text, 0)) for text, count in held.left if kind == "draw"]
        if any(count < 0 for _, count in parts):
            return "draws what was not reserved"
        for name in held.scopes:
            state = states[name]
            expected[name] = drawn(held, name, state, parts) if kind == "draw" else given_back(held, name, state)
        return _differs(body, states, expected, "moves other amounts than were held")
    if kind == "open" and body.opening is None:
        for scope in (Scope(row) for row in body.scopes or () if row.name not in rows):
            opened = states[scope.row.root] if scope.kind == "block" else scope.currency.opening()
            expected[scope.name] = set_aside(scope, opened)
        return _differs(body, {name: {} for name in expected}, expected, "opens with other amounts than its limit")
    if kind == "limit":
        for row in body.scopes or ():
            found = changes(Scope(rows[row.name]), dict(states[row.name]), Scope(row).current)
            expected[row.name] = {one.line: one.after for one in found}
        return _differs(body, states, expected, "gives other amounts than its limit")
    return ""


def _differs(body: Body, states: States, expected: States, said: str) -> str:
    lines = {(name, line): balance for name, state in expected.items() for line, balance in state.items()}
    done = {(one.scope, one.line): one.after for one in body.effect}
    before = {place: states[place[0]].get(place[1], NOTHING) for place in [*lines, *done]}
    return said if {**before, **lines} != {**before, **done} else ""


def reserved_otherwise(body: Body, scope: str, release: Release, price: Price) -> str:
    """What is wrong with what a new reservation says that it holds for a scope: its draws will be priced by that."""
    if body.reservation is None:
        return "makes no reservation"
    held = held_in(body.reservation.row(""))
    terms = [text for text, _ in release.terms]
    for measure, place in held.priced.get(scope, {}).items():
        if held.terms != terms or tuple(held.units[place]) != price.units.get(measure):
            return "holds parts at other prices than theirs"
    paid = [[] if one is None else list(one.terms) for one in price.payments]
    kept = held.splits.get(scope, [[] for _ in paid])
    if held.left != list(release.terms) or kept != paid:
        return "holds something else than was reserved"
    return ""
