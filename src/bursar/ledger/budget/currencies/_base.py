"""What a currency is: a filter over whole numbers.

It answers three questions:

    known(release, state)    the price, as far as it was found before; `Unpriced` otherwise
    price(release, state)    the same, found now if need be: that takes time, so nobody does it while others wait
    step(state, price)       the next state, or a refusal
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from bursar.errors import ConversionRefused, CostInvalid
from bursar.ledger.budget.amounts import PARTS, units_up
from bursar.ledger.budget.currencies._step import SPENT, Into, Price, Refusal, State, step
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import Balance
from bursar.numerics.validate import MAX_COUNT

Mark = tuple[str, Fraction | None]
"""A release's text, and its δ if it has one."""
_MOST_PRICES = 4096


@dataclass(frozen=True)
class Line:
    """One allowance of a currency, as people see it."""

    name: str
    limit: Fraction
    """Exact; a derived limit has been rounded down."""
    means: str
    """What adds up on it, in a few words."""
    worth: Fraction | None = None
    """What one unit is worth, where that is not as usual."""

    @property
    def unit(self) -> Fraction:
        """What one unit is worth."""
        return self.limit / PARTS if self.worth is None else self.worth

    def price(self, cost: Fraction) -> int:
        """A cost in units, rounded up."""
        return units_up(cost, self.unit)


class Sought(NamedTuple):
    """Prices that somebody needs: of some releases, one after another, from a state on."""

    currency: Currency
    releases: tuple[Release, ...]
    state: State
    late: bool
    """Whether others may have run after them that were charged already."""


class Unpriced(Exception):
    """Nobody has found these prices yet: find them where nobody waits, then ask again."""

    def __init__(self, *sought: Sought) -> None:
        super().__init__("; ".join(release.text[:60] for one in sought for release in one.releases[:3]))
        self.sought = sought


class Currency(ABC):
    """One way of keeping a budget."""

    name: ClassVar[str]
    bases: tuple[Basis, ...] | None = None
    """What engines found of composed releases, where nothing else is to be believed; None where they may be asked."""
    concurrent = True
    """Whether a theorem covers interactive mechanisms whose questions are interleaved, whatever is admitted here."""

    def __init__(self, lines: tuple[Line, ...]) -> None:
        self.lines = {line.name: line for line in lines}

    @abstractmethod
    def terms(self) -> dict[str, Any]:
        """What `currency_of` needs to make it again, as text."""

    @abstractmethod
    def price(self, release: Release, state: State, late: bool = False) -> Price:
        """The price of a release for this state; `CostInvalid` where it has none here. A ``late`` one may have run
        before others that were charged already.
        """

    @abstractmethod
    def known(self, release: Release, state: State, late: bool = False) -> Price:
        """The same, if it was found before; `Unpriced` if it was not."""

    @abstractmethod
    def lessons(self, releases: Sequence[Release]) -> Any:
        """What has been found of these releases' prices, for `learn` of an equal currency in another process."""

    @abstractmethod
    def learn(self, lessons: Any) -> None:
        """Prices that were found elsewhere."""

    def rest_on(self, bases: tuple[Basis, ...]) -> None:
        """Ask no engine from now on: believe what a journal says that it rests on."""
        self.bases = bases

    @property
    def state_lines(self) -> Set[str]:
        """The lines of a scope's state."""
        return self.lines.keys()

    def damage(self, state: State) -> str:
        """What is wrong with lines that a store gives as a state; empty where they may be one."""
        if state.keys() == self.state_lines:
            return ""
        return f"{', '.join(sorted(state.keys() ^ self.state_lines))} is missing, or should not be there"

    def opening(self) -> dict[str, Balance]:
        """The lines of a new scope: nothing is spent."""
        return {name: Balance(PARTS, 0, 0) for name in self.lines}

    def step(self, state: State, price: Price, into: Into = SPENT, times: int = 1) -> dict[str, Balance] | Refusal:
        """The next state, or why there is none."""
        return step(state, price, into, times)

    def alike(self, release: Release, state: State) -> int:
        """For how many repetitions from this state the price certainly stays the same."""
        return MAX_COUNT

    def find(self, releases: Sequence[Release], state: State, late: bool = False) -> None:
        """Find the prices of these releases, one after another, as far as they are admitted. What has no price is found
        to have none: `known` says so from then on.
        """
        now = state
        for release in releases:
            try:
                after = self.step(now, self.price(release, now, late))
            except CostInvalid:
                return
            if isinstance(after, Refusal):
                return
            now = after

    def fits(self, release: Release, state: State) -> int:
        """How many such releases, one after another, would be admitted: exactly, many steps at a time."""
        now, count = dict(state), 0
        while count < MAX_COUNT:
            price = self.price(release, now)
            times = self._bearable(now, price, self.alike(release, now))
            if not times:
                return count
            after = self.step(now, price, times=times)
            assert not isinstance(after, Refusal)
            now, count = after, count + times
        return MAX_COUNT

    def _bearable(self, state: State, price: Price, most: int) -> int:
        """The largest number of steps at one price, up to ``most``, that are all admitted."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2 if low else min(high, 1)  # the first refusal ends most searches
            if isinstance(self.step(state, price, times=middle), Refusal):
                high = middle - 1
            else:
                low = middle
        return low


class Stateless(Currency):
    """A currency whose prices are the same whatever has been spent, and in whatever order."""

    def __init__(self, lines: tuple[Line, ...]) -> None:
        super().__init__(lines)
        self._prices: dict[Mark, Price | str] = {}
        """By text; why there is none where there is none."""

    @abstractmethod
    def ask(self, release: Release) -> Price:
        """The price of a release; `CostInvalid` where it has none here."""

    def price(self, release: Release, state: State, late: bool = False) -> Price:
        """The price of a release, found once and then remembered."""
        found = self._prices.get(release.mark)
        if found is None:
            try:
                found = self.ask(release)
            except CostInvalid as problem:
                found = str(problem)
            self.learn({release.mark: found})
        if isinstance(found, str):
            raise CostInvalid(found)
        return found

    def known(self, release: Release, state: State, late: bool = False) -> Price:
        """By its text, which says all about it."""
        found = self._prices.get(release.mark)
        if found is None:
            raise Unpriced(Sought(self, (release,), state, False))
        if isinstance(found, str):
            raise CostInvalid(found)
        return found

    def lessons(self, releases: Sequence[Release]) -> dict[Mark, Price | str]:
        """The prices of these releases that are known, by text."""
        found = {release.mark: self._prices.get(release.mark) for release in releases}
        return {mark: price for mark, price in found.items() if price is not None}

    def learn(self, lessons: Mapping[Mark, Price | str]) -> None:
        """Take prices that were found elsewhere."""
        if len(self._prices) + len(lessons) > _MOST_PRICES:
            self._prices = {}
        self._prices.update(lessons)


def additive(release: Release, kind: Any, cost: Callable[[Any], Fraction], line: Line) -> tuple[int, ...]:
    """⌈cost⌉ of one release of each term."""
    try:
        return tuple(line.price(cost(promise)) for promise in release.promises(kind))
    except ConversionRefused as refusal:
        raise CostInvalid(str(refusal)) from None


def summed(release: Release, units: Mapping[str, tuple[int, ...]]) -> Price:
    """Σ count·⌈cost⌉ on each line: a repeated release costs exactly what its repetitions do."""
    return Price({line: total(release, each) for line, each in units.items()}, units=units)


def total(release: Release, each: Sequence[int]) -> int:
    """Of a price for each term, with their counts."""
    return sum(count * unit for (_, count), unit in zip(release.terms, each, strict=True))
