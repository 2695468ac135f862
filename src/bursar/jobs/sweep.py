"""Many plans at once: a grid of targets and settings, with a progress bar in a terminal. Private training is planned in
arrays; whatever else there is, from its neighbour's answer on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from bursar.errors import InputError, PlanImpossible, understood
from bursar.jobs.plan import Plan, finished
from bursar.jobs.plan_family import Family
from bursar.jobs.plan_search import Search
from bursar.jobs.plan_training import Pair, Training, first_look, pairs
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown_exactly
from bursar.numerics.validate import listed, probability, real
from bursar.presented import Bare, Presented, Table, Tabled, cut, named, spread

_MOST = 1_000_000
_CLOSE = 1e-6  # how finely the value is given
_AT_ONCE = 2_000  # cells of an array
_FEW = 3  # cells: fewer are as quick one by one
_SHOWN = 40  # cells of a table


@dataclass(frozen=True, repr=False)
class Cell(Presented):
    """One target and setting with its plan, or the reason why there is none."""

    epsilon: Number
    delta: Number
    setting: Any
    plan: Plan | None
    reason: str | None

    @property
    def value(self) -> Any:
        """The plan's value, or None."""
        return None if self.plan is None else self.plan.value

    def _facts(self) -> list[tuple[str, object]]:
        target = [("epsilon", Bare(_text(self.epsilon))), ("delta", Bare(_text(self.delta)))]
        return [*target, ("setting", self.setting), ("value", self.value)]

    def __str__(self) -> str:
        found = f"value {self.value}" if self.plan is not None else f"no value: {self.reason}"
        setting = "" if self.setting is None else f", {self.setting}"
        return f"ε = {_text(self.epsilon)}, δ = {_text(self.delta)}{setting}: {found}"


def _text(number: Number) -> str:
    return number.text() if isinstance(number, Real) else str(number)


class Sweep(list[Cell], Tabled):
    """The cells of a sweep, in order: a list, which shows itself as a table."""

    def __repr__(self) -> str:
        return named(
            "Sweep", [("", Bare(f"{len(self)} cells")), ("first", self[0]), ("last", self[-1])][: 1 + 2 * bool(self)]
        )

    def __str__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [
            [
                _text(cell.epsilon),
                _text(cell.delta),
                "" if cell.setting is None else cut(str(cell.setting), 30),
                _found(cell),
            ]
            for cell in (self[place] for place in spread(len(self), _SHOWN))
        ]
        below = [f"({len(rows)} of {len(self)} cells)"] if len(rows) < len(self) else []
        return Table((), ("ε", "δ", "setting", "value"), rows, below)


def _found(cell: Cell) -> str:
    """The value, rounded away from the one that fails; or why there is none."""
    if cell.plan is None:
        return cut(cell.reason or "", 40)
    value, fails = cell.plan.value, cell.plan.neighbour
    return str(value) if fails is None else shown_exactly(Fraction(value), up=value > fails, digits=8)


@understood
def sweep(
    make: Callable[..., Any],
    *,
    epsilons: Sequence[Number],
    deltas: Sequence[Number],
    settings: Iterable[Any] | None = None,
    progress: bool | None = None,
) -> Sweep:
    """A plan for every combination of target and setting; ``make(value, setting)`` where settings are given.

    Plans of private training (one Poisson-sampled Gaussian, many times) are proved many at once: their reports are
    written when they are read.

    ``progress`` shows a bar; by default in a terminal only.
    """
    if not callable(make):
        raise InputError("make must be a function of the unknown (and of the setting)", argument="make")
    risks = [probability(deltas=delta) for delta in listed(deltas=deltas)]
    targets = sorted(real(epsilons=epsilon, at_least=0) for epsilon in listed(epsilons=epsilons))
    choices = [None] if settings is None else listed(settings=settings)
    grid = list(product(range(len(choices)), risks, targets))
    if not 0 < len(grid) <= _MOST:
        raise InputError(f"a sweep has 1 to {_MOST} cells, not {len(grid)}", argument="epsilons")
    with _bar(len(grid), progress) as advance:
        looked: dict[int, Training | None] = {}
        cells, start = [], _Start()
        for first in range(0, len(grid), _AT_ONCE):
            some = grid[first : first + _AT_ONCE]
            families = [
                Family(make if settings is None else _fixed(make, choices[place]), epsilon, delta)
                for place, delta, epsilon in some
            ]
            proved = _many(families, [place for place, _, _ in some], looked)
            for family, (place, _, _), pair in zip(families, some, proved, strict=True):
                setting = choices[place]
                if pair is None:  # training is guessed better than its neighbour's answer tells
                    cells.append(_one(family, setting, start.forget(place), fresh=looked[place] is not None))
                else:
                    cells.append(_cell(family, setting, pair))
                advance()
    return Sweep(cells)


def _many(families: list[Family], places: list[int], looked: dict[int, Training | None]) -> list[Pair | None]:
    """Private training is planned in arrays; None for cells that are something else, or not proved there."""
    for family, place in zip(families, places, strict=True):
        if place not in looked:
            looked[place] = first_look(family)
    looks = [looked[place] for place in places]
    some = [
        (i, look)
        for i, (family, look) in enumerate(zip(families, looks, strict=True))
        if look is not None and family.goal > 0 and family.delta.low > 0
    ]
    found: list[Pair | None] = [None] * len(families)
    if len(some) >= _FEW:
        for (i, _), pair in zip(some, pairs([families[i] for i, _ in some], [look for _, look in some]), strict=True):
            found[i] = pair
    return found


def _cell(family: Family, setting: Any, pair: Pair) -> Cell:
    plan = Plan.proved(pair.good, family.target, pair.bad, pair.report, pair.neighbour_report)
    return Cell(family.target, family.delta, setting, plan, None)


class _Start:
    """What the last cell taught: where to look, and which theorems decide. Forgotten with each setting."""

    def __init__(self) -> None:
        self.place = -1
        self.value: float | None = None
        self.theorems: tuple[str, ...] | None = None

    def forget(self, place: int) -> _Start:
        """Start anew where the setting is another one."""
        if place != self.place:
            self.place, self.value, self.theorems = place, None, None
        return self


def _fixed(make: Callable[..., Any], setting: Any) -> Callable[[Any], Any]:
    return lambda value: make(value, setting)


def _one(family: Family, setting: Any, start: _Start, *, fresh: bool) -> Cell:
    """One cell: the first of a setting asks every theorem, the next ones those that decided it, from its answer on."""
    try:
        if fresh or family.whole() or family.delta.high == 0 or start.value is None:
            found = finished(family)
        else:
            family.theorems = start.theorems
            search = Search(family.cost, family.valid, family.goal, _resolution, start=start.value)
            found = finished(family, search)
    except PlanImpossible as refusal:
        return Cell(family.target, family.delta, setting, None, str(refusal))
    if start.theorems is None:
        start.theorems = found.report.decided_by
    start.value = float(found.value)
    return Cell(family.target, family.delta, setting, found, None)


def _resolution(_: object) -> float:
    return _CLOSE


@contextmanager
def _bar(total: int, progress: bool | None) -> Iterator[Callable[[], None]]:
    """What to call after each cell: it moves a bar on standard error, where one is wanted."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as shown:
        task = shown.add_task("planning", total=total)
        yield lambda: shown.advance(task)
