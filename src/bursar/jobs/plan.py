"""The second job: which noise, which rate, how many releases fit a target? A monotone search over `account`, and
nothing else, that lands on the safe side.

The unknown may be anything that a family of compositions depends on. Whether it is a whole number, which way the cost
runs and where to look are found out by trying. The answer's upper end is within the target; a little less noise (or one
release more), which is tried too, is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bursar.composition import Composition, as_composition
from bursar.errors import ConversionRefused, InputError, LossUnknown, PlanImpossible
from bursar.guarantees import PureDP
from bursar.jobs.account import account
from bursar.jobs.plan_search import Search, WholeSearch
from bursar.jobs.report import Report
from bursar.mechanisms import Mechanism
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown
from bursar.numerics.validate import MAX_COUNT, probability, real

if TYPE_CHECKING:
    from rich.console import RenderableType

Make = Callable[[Any], Composition | Mechanism]
_BROKEN = (0.5, 1.5, 0.01, 100.25)
_ROUGH = 1e-3  # the width of first looks
_USUAL = 1e-6
_FINE, _CLOSED = 9.9e-7, 1e-12  # how finely the unknown is given, by engines and by closed forms


@dataclass(frozen=True)
class Plan:
    """A value that meets the target, its report, and the neighbouring value that does not."""

    value: int | float | Fraction
    report: Report
    target: Real
    neighbour: int | float | Fraction | None
    """The next value on the dear side: it fails. None where no dearer value exists."""
    neighbour_report: Report | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: the value, the target, the neighbour and the whole report."""
        return {
            "value": _written(self.value),
            "target": {"epsilon": self.target.text(), "delta": self.report.asked[1]},
            "neighbour": None if self.neighbour is None else _written(self.neighbour),
            "report": self.report.to_dict(),
        }

    def explain(self) -> str:
        """The answer in sentences."""
        got = self.report.epsilon
        lines = [
            f"The value is {_spoken(self.value)}: {self.report.composition.text()} "
            f"costs at most ε = {shown(got.upper, up=True, digits=10)} at δ = {self.report.asked[1]}, "
            f"within the target ε = {self.target.text()}.",
        ]
        if self.neighbour is not None and self.neighbour_report is not None:
            dearer = self.neighbour_report.epsilon.upper
            lines.append(
                f"{_spoken(self.neighbour)} would not do: its proved cost is ε = {shown(dearer, up=True, digits=10)}."
            )
        else:
            lines.append("No dearer value exists.")
        lines.append(f"Why: {got.because}.")
        return "\n".join(lines)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        return Group(Text(f"value = {_spoken(self.value)}", style="bold green"), "", self.report.__rich__())

    def _repr_html_(self) -> str:
        """The answer in sentences, and its report, in a notebook."""
        from html import escape

        return f"<p>{escape(self.explain())}</p>{self.report._repr_html_()}"

    def __str__(self) -> str:
        return f"value = {_spoken(self.value)}\n\n{self.report}"


def plan(
    make: Make | str,
    *,
    epsilon: Number,
    delta: Number,
    width: float | None = None,
    effort: str = "normal",
) -> Plan:
    """The best value of one unknown for which ``make(value)`` costs at most (epsilon, delta).

    ``make`` is a function of the unknown (``lambda sigma: Gaussian(sigma=sigma) * 1000``) or a text form with one
    ``?`` (``"gaussian(sigma=?)*1000"``, ``"gaussian(sigma=20)*?"``). Best means least noise, or most releases.
    `PlanImpossible` says what the closest target is that can be met.
    """
    if isinstance(make, str):
        from bursar.jobs.spec import template

        make = template(make)
    if not callable(make):
        raise InputError("make must be a function of the unknown, or a text form with one ?", argument="make")
    target, risk = real(epsilon=epsilon, at_least=0), probability(delta=delta)
    return finished(Family(make, target, risk, width, effort))


def finished(family: Family, search: Search | None = None) -> Plan:
    """The plan for a family, by the search given or by the one that suits it."""
    whole = search is None and family.whole()
    if search is None and family.delta.high == 0 and not whole:
        exact = _exactly(family)
        if exact is not None:
            return exact
    if search is None:
        search = (
            WholeSearch(family.cost, family.valid, family.goal, MAX_COUNT)
            if whole
            else Search(family.cost, family.valid, family.goal, family.resolution)
        )
    good, bad = search.run()
    if good is None:
        raise PlanImpossible(_refusal(family, search.best), closest=search.best[1])
    return Plan(good, family.report(good), family.target, bad, None if bad is None else family.report(bad))


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
    """The relative width of the interval, 0 where it has no lower end."""
    bound = report.epsilon
    return (bound.upper - bound.lower) / bound.upper if bound.upper > 0 and bound.lower > 0 else 0.0


def _exactly(family: Family) -> Plan | None:
    """At δ = 0 costs add up exactly; where they are proportional to the unknown or to its inverse, so is the answer."""
    target = family.target
    if not target.exact or target == 0 or not family.valid(Fraction(1)):
        return None
    try:
        one = _pure(family, Fraction(1))
        if one is None:
            return None
        for value, sign in ((Fraction(target) / one, 1), (one / Fraction(target), -1)):
            if family.valid(value) and _pure(family, value) == target and _pure(family, 2 * value) != target:
                step = 1 + Fraction(1, 10**6) if sign > 0 else 1 - Fraction(1, 10**6)
                worse = value * step
                bad = worse if family.valid(worse) else None
                return Plan(value, family.report(value), target, bad, None if bad is None else family.report(bad))
    except (InputError, ConversionRefused, LossUnknown):
        return None
    return None


def _pure(family: Family, value: Fraction) -> Fraction | None:
    """The exact sum of the pure promises, where all are exact."""
    promise = family.composition(value).promise(PureDP).epsilon
    return Fraction(promise) if promise.exact else None


def _refusal(family: Family, best: tuple[Any, float]) -> str:
    value, cost = best
    asked = f"ε = {family.target.text()} at δ = {family.delta.text()}"
    if value is None or math.isinf(cost):
        return f"no value meets {asked}: every one that was tried has no finite proved cost at this δ"
    near = shown(cost, up=True, digits=8)
    return f"no value meets {asked}; the closest is ε = {near}, at {_spoken(value)}"


def _floor(x: Fraction) -> float:
    near = float(x)
    return near if Fraction(near) <= x else math.nextafter(near, -math.inf)


def _written(value: int | float | Fraction) -> int | float | str:
    return (
        str(value)
        if isinstance(value, Fraction) and value.denominator != 1
        else (int(value) if isinstance(value, Fraction) else value)
    )


def _spoken(value: int | float | Fraction) -> str:
    return str(value) if isinstance(value, (int, Fraction)) else repr(value)
