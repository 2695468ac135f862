"""What a release does to each scope that it debits: decided on states that somebody has found, without any store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.ledger.budget.currencies import SPENT, Balance, Currency, Into, Price, Refusal, Sought, Unpriced
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import measured, share_left
from bursar.ledger.journal.body import Basis


def _known(currency: Currency, release: Release, state: Any) -> Price:
    return currency.known(release, state)


Seen = Sequence[tuple[Scope, dict[str, Balance]]]
"""Scopes and their states, as somebody has found them."""


class Decided(NamedTuple):
    """What a release does to a scope."""

    scope: Scope
    before: dict[str, Balance]
    after: dict[str, Balance]
    price: Price

    def charged(self) -> dict[str, int]:
        """What is taken of each measure, spent and held together."""
        before, after = measured(self.before), measured(self.after)
        amounts = {name: balance.left - after[name].left for name, balance in before.items()}
        return {name: amount for name, amount in amounts.items() if amount}

    def takes(self) -> Fraction:
        """The share of the scope that is taken."""
        return share_left(self.before) - share_left(self.after)


def decided(
    seen: Seen, release: Release, into: Into = SPENT, price: Callable[[Currency, Release, Any], Price] = _known
) -> tuple[list[Decided], tuple[Scope, Refusal] | None]:
    """What a release does to each scope, or the first refusal; `Unpriced` with all the prices that are missing."""
    found: list[Decided] = []
    sought: list[Sought] = []
    for scope, state in seen:
        try:
            asked = price(scope.currency, release, state)
        except Unpriced as missing:
            sought += missing.sought
            continue
        after = scope.currency.step(state, asked, into)
        if isinstance(after, Refusal):
            if sought:  # a scope before this one may refuse for its own reasons
                break
            return [], (scope, after)
        found.append(Decided(scope, state, after, asked))
    if sought:
        raise Unpriced(*sought)
    return found, None


class Folded(NamedTuple):
    """What past releases do to a scope."""

    after: dict[str, Balance]
    bases: tuple[Basis, ...]


def folded(scope: Scope, state: dict[str, Balance], releases: Sequence[Release], late: bool) -> Folded | Refusal:
    """The state after past releases: each priced by its place in the list where nothing else ran, else as late."""
    now, bases = state, dict[Basis, None]()
    for release in releases:
        try:
            price = scope.currency.known(release, now, late)
        except Unpriced:  # then all of them at once
            raise Unpriced(Sought(scope.currency, tuple(releases), state, late)) from None
        after = scope.currency.step(now, price)
        if isinstance(after, Refusal):
            return after
        now = after
        bases |= dict.fromkeys(price.bases)
    return Folded(now, tuple(bases))


def bases_of(found: Sequence[Decided], root: str) -> list[Basis] | None:
    """What engines found, on which the prices of a root's scopes rest; None where none does."""
    rows = (basis for one in found if one.scope.row.root == root for basis in one.price.bases)
    return list(dict.fromkeys(rows)) or None
