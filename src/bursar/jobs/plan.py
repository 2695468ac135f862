"""The second job: which noise, which rate, how many releases fit a target? A monotone search over `account`, and
nothing else, that lands on the safe side.

The unknown may be anything that a family of compositions depends on. Whether it is a whole number, which way the cost
runs and where to look are found out by trying. The answer's upper end is within the target; a little less noise (or one
release more), which is tried too, is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from bursar.errors import ConversionRefused, InputError, LossUnknown, PlanImpossible, understood
from bursar.guarantees import PureDP
from bursar.jobs import plan_training
from bursar.jobs.plan_family import Family, Make
from bursar.jobs.plan_search import Search
from bursar.jobs.plan_whole import WholeSearch
from bursar.jobs.report import Report
from bursar.jobs.spec import template
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown
from bursar.numerics.validate import MAX_COUNT, probability, real
from bursar.presented import Bare, Presented

if TYPE_CHECKING:
    from rich.console import RenderableType


_LATER = "_bursar_later"


@dataclass(frozen=True, repr=False)
class Plan(Presented):
    """A value that meets the target, its report, and the neighbouring value that does not."""

    value: int | float | Fraction
    report: Report
    target: Real
    neighbour: int | float | Fraction | None
    """The next value on the dear side: it fails. None where no dearer value exists."""
    neighbour_report: Report | None

    @classmethod
    def proved(
        cls,
        value: float,
        target: Real,
        neighbour: float,
        report: Callable[[], Report],
        neighbour_report: Callable[[], Report],
    ) -> Plan:
        """A plan that is proved already; each of its reports is written when somebody reads it."""
        made = object.__new__(cls)
        later = (report, neighbour_report)  # there may be very many plans, so that each holds little
        made.__dict__.update({"value": value, "target": target, "neighbour": neighbour, _LATER: later})
        return made

    def __getattr__(self, name: str) -> Any:
        """A report, the first time that it is read."""
        later = self.__dict__.get(_LATER)
        if later is None or name not in ("report", "neighbour_report"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = later[name == "neighbour_report"]()
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _facts(self) -> list[tuple[str, object]]:
        """Without its reports, which may still have to be written."""
        return [("value", self.value), ("target", Bare(self.target.text())), ("neighbour", self.neighbour)]

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


@understood
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
    if search is None and whole:
        search = WholeSearch(family.cost, family.valid, family.goal, MAX_COUNT)
    if search is None:
        near = plan_training.guess(family)
        if near is not None and near.found:
            value, other = near.place * (1 + plan_training.APART), near.place * (1 - plan_training.APART)
            if family.cost(value, False) <= family.goal and plan_training.misses_goal(family, other, near.where):
                return Plan.proved(
                    value, family.target, other, partial(family.report, value), partial(family.report, other)
                )
        start = None if near is None else near.place
        search = Search(family.cost, family.valid, family.goal, family.resolution, start)
    good, bad = search.run()
    if good is None:
        raise PlanImpossible(_refusal(family, search.best), closest=search.best[1])
    return Plan(good, family.report(good), family.target, bad, None if bad is None else family.report(bad))


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


def _written(value: int | float | Fraction) -> int | float | str:
    return (
        str(value)
        if isinstance(value, Fraction) and value.denominator != 1
        else (int(value) if isinstance(value, Fraction) else value)
    )


def _spoken(value: int | float | Fraction) -> str:
    return str(value) if isinstance(value, (int, Fraction)) else repr(value)
