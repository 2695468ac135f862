"""Spending: reserve, draw and close in one entry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bursar.ledger.currencies import Balance
from bursar.ledger.draft import Draft, Effects, by_root
from bursar.ledger.entry import Chained
from bursar.ledger.posting import Posting, Request, Seen, decided
from bursar.ledger.receipt import Part, Quote, Receipt, receipt_of
from bursar.ledger.refusing import refusal_of, within_cap
from bursar.ledger.release import Release
from bursar.ledger.scope import Scope


def spend(posting: Posting, request: Request, release: Release, cap: Fraction | None = None) -> Receipt:
    """Charge a release to every scope on its paths, or to none."""
    scopes = posting.debited(request.names, release)
    found, refused = posting.decide(scopes, release)
    if refused is not None:
        raise posting.refuse(request, *refused)
    effects: Effects = []
    for scope, state, _, amounts in found:
        for line, amount in amounts.items():
            if cap is not None:
                within_cap(cap, amount, state[line], f"{scope.name}'s {line}")
        effects += charged(scope, state, amounts)
    return receipt_of(post_all(posting, request, "spend", scopes, effects, release.text), False)


def charged(scope: Scope, state: dict[str, Balance], amounts: dict[str, int]) -> Effects:
    """What a charge does to each line; a way that did not pay is closed."""
    effects: Effects = []
    for line, before in state.items():
        if line in amounts:
            after = Balance(before.limit, before.spent + amounts[line], before.held, before.dead, before.window)
        elif line in scope.currency.private and not before.dead:
            after = before._replace(dead=True)
        else:
            continue
        effects.append((scope.name, line, before, after))
    return effects


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
    found, refused = decided(seen, release)
    if refused is not None:
        scope, refusal = refused
        unit = scope.currency.lines[refusal.line].unit
        part = Part(scope.name, refusal.line, refusal.asked * unit, refusal.balance.left * unit, True)
        return Quote(release.text, 0, (part,), f"{scope.name} has not enough left of {refusal.line}")
    parts = []
    for scope, state, price, amounts in found:
        for line, asked in amounts.items():
            unit = scope.currency.lines[line].unit
            given_back = line not in price.fixed
            parts.append(Part(scope.name, line, Fraction(asked * unit), state[line].left * unit, given_back))
    fits = min(scope.currency.fits(release, state) for scope, state, _, _ in found)
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
                    state[line] = state[line]._replace(held=state[line].held - kept)
        return state

    def states(self, names: Sequence[str], release: Release) -> Seen:
        """What a charge on these would find."""
        return [(scope, self.lines(scope)) for scope in self.debited(names, release)]
