"""Many plans at once: a grid of targets and settings, each started from its neighbour's answer, with a progress bar in
a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from bursar.errors import InputError, PlanImpossible
from bursar.jobs.plan import Plan, finished
from bursar.jobs.plan_family import Family
from bursar.jobs.plan_search import Search
from bursar.numerics.real import Number
from bursar.numerics.validate import listed, probability, real

_MOST = 1_000_000
_CLOSE = 1e-6  # how finely the value is given


@dataclass(frozen=True)
class Cell:
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


def sweep(
    make: Callable[..., Any],
    *,
    epsilons: Sequence[Number],
    deltas: Sequence[Number],
    settings: Iterable[Any] | None = None,
    progress: bool | None = None,
) -> list[Cell]:
    """A plan for every combination of target and setting; ``make(value, setting)`` where settings are given.

    ``progress`` shows a bar; by default in a terminal only.
    """
    if not callable(make):
        raise InputError("make must be a function of the unknown (and of the setting)", argument="make")
    risks = [probability(deltas=delta) for delta in listed(deltas=deltas)]
    targets = sorted(real(epsilons=epsilon, at_least=0) for epsilon in listed(epsilons=epsilons))
    choices = [None] if settings is None else listed(settings=settings)
    grid = list(product(choices, risks, targets))
    if not 0 < len(grid) <= _MOST:
        raise InputError(f"a sweep has 1 to {_MOST} cells, not {len(grid)}", argument="epsilons")
    cells: list[Cell] = []
    start = _Start()
    for setting, delta, epsilon in _shown(grid, progress):
        family = Family(make if settings is None else _fixed(make, setting), epsilon, delta)
        cells.append(_one(family, setting, start.forget(setting)))
    return cells


class _Start:
    """What the last cell taught: where to look, and which theorems decide. Forgotten with each setting."""

    def __init__(self) -> None:
        self.setting: Any = object()
        self.value: float | None = None
        self.theorems: tuple[str, ...] | None = None

    def forget(self, setting: Any) -> _Start:
        """Start anew where the setting is another one."""
        if setting is not self.setting:
            self.setting, self.value, self.theorems = setting, None, None
        return self


def _fixed(make: Callable[..., Any], setting: Any) -> Callable[[Any], Any]:
    return lambda value: make(value, setting)


def _one(family: Family, setting: Any, start: _Start) -> Cell:
    """One cell: the first of a setting asks every theorem, the next ones those that decided it, from its answer on."""
    try:
        if family.whole() or family.delta.high == 0 or start.value is None:
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


def _shown(grid: list[Any], progress: bool | None) -> Iterator[Any]:
    if not (sys.stderr.isatty() if progress is None else progress):
        yield from grid
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(grid, description="planning", console=Console(stderr=True), total=len(grid))
