"""Spending: reserve, draw and close in one entry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bursar.ledger.budget.currencies import Balance
from bursar.ledger.budget.currencies._moves import given_back
from bursar.ledger.budget.deciding import Seen, decided
from bursar.ledger.budget.refusals import refusal_of, within_cap
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.posting import Posting, Request
from bursar.ledger.journal.body import Draft, Effects, by_root, effects_of
from bursar.ledger.journal.entry import Chained
from bursar.ledger.receipt import Part, Quote, Receipt, receipt_of


def spend(posting: Posting, request: Request, release: Release, cap: Fraction | None = None) -> Receipt:
    """Charge a release to every scope on its paths, or to none."""
    scopes = posting.debited(request.names, release)
    found, refused = posting.decide(scopes, release)
    if refused is not None:
        raise posting.refuse(request, *refused)
    effects: Effects = []
    for one in found:
        if cap is not None:
            for line, amount in one.charged().items():
                within_cap(cap, amount, one.before[line], f"{one.scope.name}'s {line}")
        effects += effects_of(one.scope.name, one.before, one.after)
    return receipt_of(post_all(posting, request, "spend", scopes, effects, release.text), False)


def post_all(
    posting: Posting, request: Request, kind: str, scopes: Sequence[Scope], effects: Effects, released: str | None
) -> Chained:
    """One entry in each root's chain; the first one answers for the key."""
    first = None
    for root, part in by_root(scopes, effects).items():
        chained = posting.post(request, kind, root, Draft(part, released))
        first = first or chained
    assert first is not None
    return first


def replayed(scope_of: Any) -> Any:
    """Read an outcome back from its entry: a receipt, or the refusal again."""

    def read(chained: Chained, again: bool) -> Receipt:
        if chained.entry.kind == "refuse":
            raise refusal_of(scope_of(chained.entry.content()["refusal"][0]), chained, again)
        return receipt_of(chained, again)

    return read


def quote(seen: Seen, release: Release) -> Quote:
    """What spending would do now."""
    found, refused = decided(seen, release, price=lambda currency, what, state: currency.price(what, state))
    if refused is not None:
        scope, refusal = refused
        unit = scope.currency.lines[refusal.line].unit
        part = Part(scope.name, refusal.line, refusal.asked * unit, refusal.balance.left * unit, True)
        return Quote(release.text, 0, (part,), f"{scope.name} has not enough left of {refusal.line}")
    parts = []
    for one in found:
        for line, asked in one.charged().items():
            unit = one.scope.currency.lines[line].unit
            comes_back = line not in one.price.fixed
            parts.append(Part(one.scope.name, line, Fraction(asked * unit), one.before[line].left * unit, comes_back))
    fits = min(one.scope.currency.fits(release, one.before) for one in found)
    return Quote(release.text, fits, tuple(parts), None)


class View(Posting):
    """A posting that only looks."""

    looking = True

    def lines(self, scope: Scope) -> dict[str, Balance]:
        """As whoever writes next will find them: what has expired is no longer held."""
        state = super().lines(scope)
        if any(balance.held for balance in state.values()):
            for row in self.tx.due(scope.row.root, self.now):
                for line, kept in json.loads(row.detail)["held"].get(scope.name, {}).items():
                    state[line] = given_back(state[line], kept)
        return state

    def states(self, names: Sequence[str], release: Release) -> Seen:
        """What a charge on these would find."""
        return [(scope, self.lines(scope)) for scope in self.debited(names, release)]
