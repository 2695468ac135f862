"""What a plan searches in: a family of compositions, the target, and what each member was found to cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from bursar.composition import Composition, as_composition
from bursar.errors import InputError
from bursar.jobs.account import account
from bursar.jobs.report import Report
from bursar.mechanisms import Mechanism
from bursar.numerics.real import Real

Make = Callable[[Any], Composition | Mechanism]
_BROKEN = (0.5123456789, 1.5123456789, 0.0101234567, 100.2512345678)  # no small multiple of these is whole
_ROUGH = 1e-3  # the width of first looks
_USUAL = 1e-6
_FINE, _CLOSED = 9.9e-7, 1e-12  # how finely the unknown is given, by engines and by closed forms


class Family:
    """A family of compositions, the target, and the reports made so far."""

    def __init__(
        self,
        make: Make,
        target: Real,
        delta: Real,
        width: float | None = None,
        effort: str = "normal",
        theorems: Sequence[str] | None = None,
    ) -> None:
        self.make, self.target, self.delta, self.width, self.effort = make, target, delta, width, effort
        self.theorems = theorems
        # every reading of the target must be met, so the smallest counts, rounded down
        self.goal = _floor(target.low)
        self.reports: dict[Any, Report] = {}
        self.made: dict[Any, Composition] = {}

    def composition(self, value: Any) -> Composition:
        """What the value makes, made once."""
        if value not in self.made:
            self.made[value] = as_composition(self.make(value))
        return self.made[value]

    def valid(self, value: Any) -> bool:
        """Whether the value makes anything."""
        try:
            self.composition(value)
        except (InputError, TypeError, ValueError, OverflowError):
            return False
        return True

    def whole(self) -> bool:
        """Whether only whole numbers will do."""
        if any(self.valid(x) for x in _BROKEN):
            self.made.clear()
            return False
        if self.valid(1) or self.valid(2):
            return True
        self.composition(1)  # say what is wrong
        raise InputError("make accepts neither 1 nor 1/2 nor 3/2", argument="make")

    def report(self, value: Any, *, rough: bool = False) -> Report:
        """The account at a value, once; a rough one is as sound, but wider where an engine has to work for it."""
        first = self.reports.get((value, True))
        if not rough and first is not None and _width(first) <= (_USUAL if self.width is None else self.width):
            return first
        if (value, rough) not in self.reports:
            width, effort = (_ROUGH, "low") if rough else (self.width, self.effort)
            self.reports[value, rough] = account(
                self.composition(value), delta=self.delta, theorems=self.theorems, width=width, effort=effort
            )
        return self.reports[value, rough]

    def cost(self, value: Any, rough: bool) -> float:
        """The proved cost at a value."""
        return self.report(value, rough=rough).epsilon.upper

    def resolution(self, value: Any) -> float:
        """How much less noise must fail: what the interval around the cost allows to tell."""
        known = _width(self.report(value))
        return max(_CLOSED if known < _CLOSED else _FINE, 2.5 * known)


def _width(report: Report) -> float:
    """How closely the upper end is known, relatively: by the lower end of the theorem that proves it; 0 where that has
    none. Another theorem's lower end speaks of something else that the releases may cost.
    """
    upper = report.epsilon.upper
    own = [row.bound for row in report.rows if row.bound is not None and row.bound.upper == upper]
    return (
        min(((upper - one.lower) / upper for one in own if 0 < one.lower <= upper), default=0.0) if upper > 0 else 0.0
    )


def _floor(x: Fraction) -> float:
    near = float(x)
    return near if Fraction(near) <= x else math.nextafter(near, -math.inf)
