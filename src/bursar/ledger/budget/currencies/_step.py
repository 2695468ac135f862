"""The one step of every filter: which ways of paying a release pay, which are given up, and what each line is charged.

A currency keeps a few *lines*, each with a limit. A release has one or more *ways* to be paid, each asking amounts on
some lines; a way that cannot bear a release is dead from then on, and a release that no living way can bear is refused
and changes nothing. With a single way this is plain adding up. With several it is the union of filters, whose δ's add
up (proofs/residue.md §5): only a way that needs no δ of its own comes free.

Whoever charges anything calls `step`: spending, reserving, importing, correcting, `fits`, repricing, and the adversary
of the tests. What moves amounts that were charged before stands in `_moves`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bursar.errors import CostInvalid
from bursar.ledger.journal.rows import Balance

State = Mapping[str, Balance]


class Into(Enum):
    """Where a charge goes."""

    SPENT = "spent"
    HELD = "held"
    """Set aside, apart from what could not be given back: that is spent at once."""


SPENT, HELD = Into.SPENT, Into.HELD


@dataclass(frozen=True)
class Price:
    """What a release asks: for each way the amounts on its lines."""

    ways: Mapping[str, Mapping[str, int]]
    unable: Mapping[str, str] = field(default_factory=dict)
    """Ways that cannot bear such a release at all, and why."""
    together: Mapping[str, int] = field(default_factory=dict)
    """What a line that several ways share is charged when they all pay; without this, the sum."""
    fixed: frozenset[str] = frozenset()
    """Lines on which an unused part of a reservation is not given back."""
    units: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """On each other line the price of one release of each term: a part of a reservation costs as many of these."""


@dataclass(frozen=True)
class Refusal:
    """Which line would have been exceeded, in units."""

    line: str
    asked: int
    balance: Balance


@dataclass(frozen=True)
class Ways:
    """The ways of a currency: the lines that each of them uses."""

    lines: Mapping[str, tuple[str, ...]]
    private: frozenset[str]
    """Lines that only one of several ways uses: they die with it."""

    def living(self, state: State) -> list[str]:
        """The ways that are still open."""
        if not self.private:
            return list(self.lines)
        return [way for way, lines in self.lines.items() if not any(state[line].dead for line in lines)]


def ways_of(lines: Mapping[str, tuple[str, ...]]) -> Ways:
    """Ways, with what is private to each."""
    uses = [line for way in lines.values() for line in way]
    return Ways(lines, frozenset(line for line in uses if len(lines) > 1 and uses.count(line) == 1))


def step(
    ways: Ways, state: State, price: Price, into: Into = Into.SPENT, times: int = 1
) -> dict[str, Balance] | Refusal:
    """The state after ``times`` such releases, one after another at this price, or the refusal of the first that does
    not fit; `CostInvalid` where no way that is left can bear such a release at all.
    """
    now, open_ones = dict(state), times
    while open_ones:
        paid = _paid(ways, now, price)
        if isinstance(paid, Refusal):
            return paid
        rounds = 1
        if open_ones > 1:  # as long as every line that pays can pay again, the same ways stay open
            rounds = min([open_ones, *(now[line].left // amount for line, amount in paid.items() if amount > 0)])
        for line, before in now.items():
            limit, spent, held, dead, window = before
            amount = paid.get(line)
            if amount is None:
                if line in ways.private and not dead:
                    now[line] = Balance(limit, spent, held, True, window)
            elif into is HELD and line not in price.fixed:
                now[line] = Balance(limit, spent, held + rounds * amount, dead, window)
            elif amount:
                now[line] = Balance(limit, spent + rounds * amount, held, dead, window)
        open_ones -= rounds
    return now


def _paid(ways: Ways, state: State, price: Price) -> dict[str, int] | Refusal:
    """What each line is charged; lines of ways that this release closes are missing."""
    paid: dict[str, int] = {}
    refusals = []
    for way in ways.living(state):
        asked = price.ways.get(way)
        if asked is None:
            continue
        both = dict(asked)
        for line, amount in paid.items():  # of the ways before this one
            both[line] = price.together.get(line, amount + asked[line]) if line in asked else amount
        for line, amount in both.items():
            if amount > state[line].left:
                refusals.append(Refusal(line, amount, state[line]))
                break
        else:
            paid = both
    if paid:
        return paid
    if not refusals:
        raise CostInvalid("; ".join(dict.fromkeys(price.unable.values())) or "no way of paying is left")
    return min(refusals, key=lambda refusal: refusal.asked - refusal.balance.left)
