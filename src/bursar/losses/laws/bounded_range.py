"""A pair that dominates every η-bounded-range mechanism: the continuous part of a Laplace loss, renormalised.

Its profile is the largest that η-bounded range allows at each ε, which is convex in e^ε; so the pair dominates each
release whatever came before, and products of it dominate adaptive compositions. No single mechanism attains it, so in
compositions it bounds from above only. From below there are the pairs with two outcomes of which it is the envelope:
losses t and t − η, for t in (0, η), each of them attained (proofs/strategies.md §1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.contour.factors import ClosedFactor, Exponential
from bursar.losses.laws.table import TableLoss
from bursar.losses.laws.table_rows import Row
from bursar.losses.places import Law, exponential
from bursar.numerics.arrays import Array
from bursar.numerics.balls import (
    Ball,
    ComplexBall,
    ComplexLike,
    RealLike,
    ball,
    complex_ball,
    hull,
    positive_part,
    square,
)
from bursar.numerics.quadrature import integral

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


@dataclass(frozen=True)
class BoundedRangeLoss(Loss):
    """cdf (e^{(l−η)/2} − e^{−η})/(1 − e^{−η}) on [−η, η]."""

    eta: Ball

    def _mass(self) -> Ball:
        return -(-self.eta).expm1()

    def profile(self, epsilon: RealLike) -> Ball:
        """(1 − e^{(x−η)/2})²/(1 − e^{−η}) on [−η, η]."""
        x = ball(epsilon)
        if x >= self.eta:
            return arb(0)
        outside = -x.expm1()
        if x <= -self.eta:
            return outside
        inside = square(((x - self.eta) / 2).expm1()) / self._mass()
        return inside if -self.eta <= x else hull(inside, positive_part(outside))

    def cdf(self, x: RealLike) -> Ball:
        """The cdf, clipped to the range."""
        point = ball(x)
        if point >= self.eta:
            return arb(1)
        if point <= -self.eta:
            return arb(0)
        inside = (((point - self.eta) / 2).exp() - (-self.eta).exp()) / self._mass()
        return positive_part(inside.min(arb(1)))

    def support(self) -> tuple[Ball, Ball]:
        """[−η, η]."""
        return -self.eta, self.eta

    def mean(self) -> Ball:
        """((η − 2) + (η + 2)e^{−η})/(1 − e^{−η})."""
        return ((self.eta - 2) + (self.eta + 2) * (-self.eta).exp()) / self._mass()

    def variance(self) -> Ball:
        """E[L²] − E[L]², with E[L²] = ((η² − 4η + 8) − (η² + 4η + 8)e^{−η})/(1 − e^{−η})."""
        e = self.eta
        second = ((e * e - 4 * e + 8) - (e * e + 4 * e + 8) * (-e).exp()) / self._mass()
        return second - square(self.mean())

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln[(e^{tη} − e^{−(t+1)η})/((2t+1)(1 − e^{−η}))]."""
        z = complex_ball(t)
        if (2 * z + 1).contains(0):
            return self.expect(lambda x, _: (z * x).exp()).log()
        return z * self.eta + (-(-(2 * z + 1) * self.eta).expm1() / ((2 * z + 1) * self._mass())).log()

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E[f(L)] for a function that is analytic near the range."""
        return integral(
            lambda x, analytic: f(x, analytic) * ((x - self.eta) / 2).exp() / (2 * self._mass()), (-self.eta, self.eta)
        )

    def bounded_range(self) -> Ball:
        """Its η."""
        return self.eta

    def strategy(self, share: float) -> TableLoss | None:
        """The pair with the losses t = share·η and t − η; none where balls cannot tell t from the ends of its range."""
        top = arb(share) * self.eta
        if not 0 < top < self.eta:
            return None
        rest = top - self.eta
        high, low = -rest.expm1() / self._mass(), top.expm1() / self.eta.expm1()
        rows = (Row(high, high * (-top).exp(), top), Row(low, low * (-rest).exp(), rest))
        return TableLoss(rows)

    def contour_factor(self, count: int, log_delta: float) -> ClosedFactor:
        """The closed form, with its density."""
        return ClosedFactor(self, count, Exponential(self.eta, 1 / (2 * self._mass())))

    def lattice_law(self, depth: float) -> Law:
        """The density, which is all there is."""
        return Law(densities=(exponential(self.eta, -math.log(-2 * math.expm1(-float(self.eta)))),))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses by inverting the cdf."""
        import numpy as np

        e = float(self.eta)
        u = rng.random(size)
        losses: Array = e + 2 * np.log(np.exp(-e) + u * -np.expm1(-e))
        return losses
