"""What a currency is: a filter over whole numbers.

A currency keeps a few *lines*, each with a limit. A release has one or more *ways* to be paid, each asking amounts on
some lines; a way that cannot bear a release is dead from then on, and a release that no living way can bear is refused
and changes nothing. With a single way this is plain adding up. With several it is the union of filters, whose δ's add
up (proofs/residue.md §5): only a way that needs no δ of its own comes free.

    step(state, price) → next state, or a refusal
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from bursar.errors import ConversionRefused, CostInvalid
from bursar.ledger.amounts import PARTS, units_up
from bursar.ledger.release import Release
from bursar.numerics.validate import MAX_COUNT

ALL = "all"
_MOST_PRICES = 4096


class Balance(NamedTuple):
    """One line's state, in units."""

    limit: int
    spent: int
    held: int
    dead: bool
    window: int = 0
    """Which period ``spent`` belongs to, on scopes that start anew in each."""

    @property
    def numbers(self) -> tuple[int, int, int, int, int]:
        """As tables and the journal keep it."""
        return (self.limit, self.spent, self.held, int(self.dead), self.window)

    @property
    def left(self) -> int:
        """What may still be charged."""
        return 0 if self.dead else self.limit - self.spent - self.held


State = Mapping[str, Balance]


@dataclass(frozen=True)
class Line:
    """One allowance of a currency."""

    name: str
    limit: Fraction
    """Exact; a derived limit has been rounded down."""
    means: str
    """What adds up on it, in a few words."""

    @property
    def unit(self) -> Fraction:
        """What one unit is worth."""
        return self.limit / PARTS

    def price(self, cost: Fraction) -> int:
        """A cost in units, rounded up."""
        return units_up(cost, self.unit)


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


@dataclass(frozen=True)
class Refusal:
    """Which line would have been exceeded, in units."""

    line: str
    asked: int
    balance: Balance


class Currency(ABC):
    """One way of keeping a budget; ``ways`` names the lines that each alternative uses."""

    name: ClassVar[str]

    def __init__(self, lines: tuple[Line, ...], ways: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.lines = {line.name: line for line in lines}
        self.ways = dict(ways) if ways else {ALL: tuple(self.lines)}
        self._prices: dict[Release, Price] = {}
        uses = [line for lines in self.ways.values() for line in lines]
        self.private = frozenset(line for line in uses if len(self.ways) > 1 and uses.count(line) == 1)
        """Lines that only one of several ways uses: they die with it."""

    @abstractmethod
    def terms(self) -> dict[str, str]:
        """What `currency_of` needs to make it again, as text."""

    @abstractmethod
    def ask(self, release: Release, state: State) -> Price:
        """The price of a release for this state; `CostInvalid` where it has none here."""

    def price(self, release: Release, state: State) -> Price:
        """The same, remembered where the state does not matter."""
        known = self._prices.get(release)
        if known is None:
            known = self.ask(release, state)
            if self.stateless:
                if len(self._prices) >= _MOST_PRICES:
                    self._prices.clear()
                self._prices[release] = known
        return known

    stateless: ClassVar[bool] = True
    """Whether a price is the same whatever has been spent."""

    def opening(self) -> dict[str, Balance]:
        """Nothing spent."""
        return {name: Balance(PARTS, 0, 0, False) for name in self.lines}

    def living(self, state: State) -> list[str]:
        """The ways that are still open."""
        if not self.private:
            return list(self.ways)
        return [way for way, lines in self.ways.items() if not any(state[line].dead for line in lines)]

    def step(self, state: State, price: Price) -> dict[str, Balance] | Refusal:
        """The next state, or why there is none."""
        amounts = self.amounts(state, price)
        if isinstance(amounts, Refusal):
            return amounts
        after = {}
        for line, balance in state.items():
            asked = amounts.get(line)
            if asked is not None:
                after[line] = balance._replace(spent=balance.spent + asked)
            else:
                after[line] = balance._replace(dead=balance.dead or line in self.private)
        return after

    def amounts(self, state: State, price: Price) -> dict[str, int] | Refusal:
        """What each line is charged; lines of ways that this release closes are missing."""
        paid: dict[str, int] = {}
        refusals = []
        for way in self.living(state):
            asked = price.ways.get(way)
            if asked is None:
                continue
            both = dict(asked)
            for line, amount in paid.items():
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

    def alike(self, release: Release, state: State) -> int:
        """For how many repetitions from this state the price certainly stays the same."""
        return MAX_COUNT

    def late(self, release: Release, state: State, ran: Sequence[str]) -> Price:
        """The price of a release that ran before others which were charged already: ``ran`` lists what did."""
        return self.price(release, state)

    def shrinks(self, line: str, balance: Balance) -> bool:
        """Whether a line's limit may be lowered to no less than what is spent and held."""
        return True

    def fits(self, release: Release, state: State) -> int:
        """How many such releases, one after another, would be admitted: exactly, many steps at a time.

        As long as the price is the same and every line that pays can pay it again, the same ways stay open.
        """
        now, count = dict(state), 0
        while count < MAX_COUNT:
            amounts = self.amounts(now, self.price(release, now))
            if isinstance(amounts, Refusal):
                return count
            rooms = [now[line].left // amount for line, amount in amounts.items() if amount > 0]
            rounds = min([self.alike(release, now), *rooms])
            for line, balance in now.items():
                if line in amounts:
                    now[line] = balance._replace(spent=balance.spent + rounds * amounts[line])
                elif line in self.private:
                    now[line] = balance._replace(dead=True)
            count += rounds
        return MAX_COUNT


def additive(release: Release, kind: Any, cost: Any, line: Line) -> int:
    """Σ count·⌈cost⌉: a repeated release costs exactly what its repetitions do."""
    total = 0
    try:
        for promise, count in release.promises(kind):
            total += count * line.price(cost(promise))
    except ConversionRefused as refusal:
        raise CostInvalid(str(refusal)) from None
    return total
