"""Gaussian noise on contributions of random size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import arb

from bursar.errors import InputError
from bursar.guarantees import GDP, ZCDP, Claim, RenyiCurve, Tightness
from bursar.losses import Directions, gaussian_mixture, mixture_pair
from bursar.losses.laws.mixture_place import Mixture
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms._weights import column, normalised
from bursar.numerics.balls import Ball, ball, hull
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import MAX_MAGNITUDE, choice, listed, noise, real
from bursar.relations import ADD_REMOVE, ZERO_OUT

_MOST_SHIFTS = 1000
_RELATIONS = (ADD_REMOVE, ZERO_OUT)


@dataclass(frozen=True, init=False, repr=False)
class GaussianMixture(Mechanism):
    """Normal noise on a sum to which one unit (a record, or a person with several) adds a vector of random size: its
    norm is at most ``shifts[i]`` with probability ``weights[i]``. ``sigma`` and the shifts are in one unit of length.

    Elsewhere this is a mixture of Gaussians, or random sensitivity. The law of the norm must hold whatever the data
    are, and be drawn anew for every release. Directions may be anything: contributions along one line are the worst
    case. The shift 0 stands for nothing added. Weights must sum to 1, as the columns of a `Table` must.

    A person of whom m records, each clipped to 1, take part independently with probability q has the shifts 0, 1, …, m
    with binomial weights: group(poisson(gaussian(sigma=…), rate=q), size=m) says the same.
    """

    sigma: Real
    shifts: tuple[Real, ...]
    weights: tuple[Real, ...]
    relation: str = ADD_REMOVE
    name = "gaussian_mixture"

    def __init__(
        self, sigma: Number, *, shifts: Iterable[Number], weights: Iterable[Number], relation: str = ADD_REMOVE
    ) -> None:
        places = tuple(real(shifts=shift, at_least=0) for shift in listed(shifts=shifts))
        if not 1 <= len(places) <= _MOST_SHIFTS:
            raise InputError(f"shifts must have 1 to {_MOST_SHIFTS} numbers, not {len(places)}", argument="shifts")
        chances = column(
            weights, "weights", most=_MOST_SHIFTS, kind="probabilities", missing="the weight of the shift 0"
        )
        if len(places) != len(chances):
            raise InputError(f"shifts has {len(places)} numbers but weights has {len(chances)}", argument="weights")
        if not any(shift > 0 and chance > 0 for shift, chance in zip(places, chances, strict=True)):
            raise InputError("shifts must have a number above 0 whose weight is above 0", argument="shifts")
        self._set(
            sigma=noise(sigma=sigma),
            shifts=places,
            weights=chances,
            relation=choice(relation=relation, among=_RELATIONS),
        )
        if self._largest().high > MAX_MAGNITUDE * self.sigma.low:
            least = f"1e-30 times the largest shift of {float(self._largest()):.3g}"
            raise InputError(f"sigma must be at least {least}, not {self.sigma.text()}", argument="sigma")

    def claims(self) -> tuple[Claim, ...]:
        """Its own Rényi curve; and never more than if the largest shift occurred always."""
        largest, pair = self._largest(), mixture_pair(self._mixture())
        inverse = self.sigma.reciprocal()
        mu = Real(inverse * largest, inverse.low * largest.low, inverse.high * largest.high)
        return (
            Claim(GDP(mu), "CGST24"),
            Claim(ZCDP(mu.half_square()), "CGST24"),
            Claim(RenyiCurve(self.text(), pair.renyi, rough=pair.rough_renyi), "CGST24", Tightness.TIGHT),
        )

    def _largest(self) -> Real:
        """The largest shift that occurs."""
        occur = [shift for shift, weight in zip(self.shifts, self.weights, strict=True) if weight > 0]
        return max(occur, key=lambda shift: shift.high)

    def losses(self) -> Directions:
        """Σ p_i·N(c_i, σ²) against N(0, σ²), which collinear contributions attain."""
        return gaussian_mixture(self._mixture())

    def _mixture(self) -> Mixture:
        """Different shifts in rising order, with weights above 0."""
        merged: dict[Real, tuple[Ball, Ball]] = {}
        for shift, weight in zip(self.shifts, normalised(self.weights), strict=True):
            if weight > 0:
                place, chance = merged.get(shift, (ball(shift), arb(0)))
                merged[shift] = hull(place, ball(shift)), chance + weight
        shifts, weights = zip(*(merged[shift] for shift in sorted(merged)), strict=True)
        return Mixture(ball(self.sigma), shifts, weights)
