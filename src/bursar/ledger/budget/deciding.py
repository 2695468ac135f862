"""What a release does to each scope that it debits: decided on states that somebody has found, without any store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bursar.ledger.budget.currencies import SPENT, Balance, Currency, Into, Price, Refusal, Sought, Unpriced
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope


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
        """What each line that changes is charged, spent and held together."""
        amounts = {}
        for line, before in self.before.items():
            after = self.after[line]
            if after.spent != before.spent or after.held != before.held:
                amounts[line] = after.spent - before.spent + after.held - before.held
        return amounts


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


def folded(
    scope: Scope, state: dict[str, Balance], releases: Sequence[Release], ran: Sequence[str]
) -> dict[str, Balance] | Refusal:
    """The state after past releases: each priced by its place in the list where nothing else ran, else as late."""
    now = state
    for release in releases:
        try:
            price = scope.currency.known(release, now, ran)
        except Unpriced:  # then all of them at once
            raise Unpriced(Sought(scope.currency, tuple(releases), state, tuple(ran))) from None
        after = scope.currency.step(now, price)
        if isinstance(after, Refusal):
            return after
        now = after
    return now
