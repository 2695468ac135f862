"""A mechanism of your own with two output densities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from flint import arb

from bursar.errors import InputError
from bursar.guarantees import Claim, PureDP, RenyiCurve, Tightness
from bursar.guarantees._base import rounded_up
from bursar.losses import DensityLoss, Directions
from bursar.mechanisms._base import Mechanism
from bursar.numerics.balls import ball, working
from bursar.numerics.formula import Formula
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, real
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class Densities(Mechanism):
    """Output densities with the record (p) and without it (q), as formulas in x, proportional to these on [low, high].

    ``breaks`` lists the places where a formula has a corner or a jump, such as 0 for abs(x).
    """

    p: Formula
    q: Formula
    low: Real
    high: Real
    breaks: tuple[Real, ...] = ()
    relation: str = ADD_REMOVE
    name = "densities"

    def __init__(
        self,
        p: str | Formula,
        q: str | Formula,
        *,
        low: Number,
        high: Number,
        breaks: Iterable[Number] = (),
        relation: str = ADD_REMOVE,
    ) -> None:
        start, end = real(low=low), real(high=high)
        if not start < end:
            raise InputError(f"low must be below high, not {start.text()} and {end.text()}", argument="low")
        places = tuple(sorted(real(breaks=place) for place in listed(breaks=breaks)))
        if any(not start < place < end for place in places):
            raise InputError("breaks must lie between low and high", argument="breaks")
        self._set(
            p=_formula(p, "p"),
            q=_formula(q, "q"),
            low=start,
            high=end,
            breaks=places,
            relation=relation_field(relation),
        )
        _check(self)

    def claims(self) -> tuple[Claim, ...]:
        """The largest loss found on a fine partition, where it is bounded; and the Rényi curve."""
        losses = self.losses()
        top = losses.largest_loss()
        pure = (Claim(PureDP(rounded_up(top.max(arb(0)))), "DMNS06"),) if top.is_finite() else ()
        # at higher orders the integrals are slow, and the largest loss says as much
        removed, added = self.laws()
        curve = RenyiCurve(
            self.text(),
            lambda alpha: removed.renyi(alpha).max(added.renyi(alpha)),
            rough=losses.rough_renyi,
            largest_order=64.0,
        )
        return *pure, Claim(curve, "Mir17", Tightness.TIGHT)

    def losses(self) -> Directions:
        """Both laws by rigorous integration, so slower than a closed form."""
        removed, added = self.laws()
        return Directions(removed, added, True)

    def laws(self) -> tuple[DensityLoss, DensityLoss]:
        """The laws of the loss of a record removed and of one added, whether or not the formulas are densities."""
        with working():
            laws: tuple[DensityLoss, DensityLoss] = self._remembered("_bursar_laws", self._laws)
        return laws

    def _laws(self) -> tuple[DensityLoss, DensityLoss]:
        places = (ball(self.low), *(ball(place) for place in self.breaks), ball(self.high))
        removed = DensityLoss(self.p, self.q, places)
        return removed, DensityLoss(self.q, self.p, places, removed)


def _formula(given: str | Formula, name: str) -> Formula:
    try:
        return given if isinstance(given, Formula) else Formula(str.__str__(given) if isinstance(given, str) else given)
    except InputError as problem:
        raise InputError(f"{name}: {problem}", argument=name) from None


@lru_cache(maxsize=256)
def _problem(mechanism: Densities) -> str:
    with working():
        loss, _ = mechanism.laws()
        if not loss.positive():
            return "each density must be certainly positive on [low, high]: cut the interval where one of them vanishes"
        if not all(mass.is_finite() for mass in loss.masses()):
            return "each density must have a finite integral over [low, high]; name its corners in breaks="
    return ""


def _check(mechanism: Densities) -> None:
    """Both formulas must be densities, up to a factor."""
    if problem := _problem(mechanism):
        raise InputError(problem, argument="p")
