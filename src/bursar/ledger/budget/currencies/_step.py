"""The one step of every filter: what each line is charged, and which splits are given up.

A currency keeps a few *lines*, each with a limit; a release that some line cannot bear is refused and changes nothing.
The (ε, δ) currency also keeps *splits* (`splits`): a split that cannot bear a release is given up from then on, and a
release that no living split can bear is refused.

Whoever charges anything calls `step`: spending, reserving, importing, correcting, `fits`, repricing, and the adversary
of the tests. What moves amounts that were charged before stands in `_moves`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from bursar.ledger.budget.currencies.splits import LINE, Payment, paid
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import Balance

State = Mapping[str, Balance]


class Into(Enum):
    """Where a charge goes."""

    SPENT = "spent"
    HELD = "held"
    """Set aside, apart from what could not be given back: that is spent at once."""


SPENT, HELD = Into.SPENT, Into.HELD


@dataclass(frozen=True)
class Refusal:
    """Which measure would have been exceeded, in units."""

    line: str
    asked: int
    balance: Balance


@dataclass(frozen=True)
class Price:
    """What a release asks."""

    amounts: Mapping[str, int]
    """On each line."""
    fixed: frozenset[str] = frozenset()
    """Measures on which an unused part of a reservation is not given back."""
    units: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """On each other measure the price of one release of each term: a part of a reservation costs as many of these."""
    payments: Sequence[Payment | None] = ()
    """How each split pays; None where it cannot."""
    short: Refusal | None = None
    """What is missing, where no split can pay."""
    bases: tuple[Basis, ...] = ()
    """What engines found of composed releases, if the price rests on that."""


def step(state: State, price: Price, into: Into = Into.SPENT, times: int = 1) -> dict[str, Balance] | Refusal:
    """The state after ``times`` such releases, one after another at this price; a refusal where they do not all fit,
    whose amounts speak of a single one.
    """
    if price.short is not None:
        return price.short
    now = dict(state)
    held = into is HELD
    for line, amount in price.amounts.items():
        before = state[line]
        if times * amount > before.left:
            return Refusal(line, amount, before)
        if held and line not in price.fixed:
            now[line] = before._replace(held=before.held + times * amount)
        elif amount:
            now[line] = before._replace(spent=before.spent + times * amount)
    before = state.get(LINE, NOTHING)
    if before.splits is not None:
        splits = paid(before.splits, price.payments, held=held, times=times)
        if splits is None:
            return Refusal("gaussian", times * max(one.gaussian for one in price.payments if one), NOTHING)
        now[LINE] = before._replace(splits=splits)
    return now


NOTHING = Balance(0, 0, 0)
