"""The loss of the Poisson-sampled Gaussian, for a record added or removed.

Profiles and distribution functions are closed forms. Means, variances and cumulants are integrals against a normal
density in balls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import acb, arb

from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.losses.engines.chernoff import CumulantBound
from bursar.losses.engines.contour.added import by_four_moments
from bursar.losses.engines.contour.sampled_cut import rough_variance
from bursar.losses.engines.contour.sampled_factor import SampledFactor
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.envelope.guided import GuidedFactor, guided
from bursar.losses.laws.normal_integral import normal_integral, power
from bursar.losses.laws.sampled import SampledAdd, SampledRemove
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, ball, complex_ball, positive_part, square


def sampled_normal(base: Directions, sigma: Ball, rate: Ball) -> Directions:
    """Both directions, from those of Gaussian noise of this σ."""
    return Directions(SampledNormal(base, rate, sigma), _Add(base, rate, sigma), True)


@dataclass(frozen=True)
class SampledNormal(SampledRemove):
    """The direction in which the record is removed."""

    sigma: Ball

    def _odds(self, x: ComplexBall) -> ComplexBall:
        return 1 - self.rate + self.rate * ((2 * x - 1) / (2 * self.sigma * self.sigma)).exp()

    def _powers(
        self, order: ComplexBall, moment: int = 0, centre: Ball | int = 0, *, above: bool = False
    ) -> ComplexBall:
        """∫ φ·odds^order·(ln odds − centre)^moment; ``above``: over losses above 0 only, which are those of x > ½."""

        def h(x: ComplexBall, analytic: bool) -> ComplexBall:
            log = self._odds(x).log(analytic=analytic)
            return (order * log).exp() * power(log - centre, moment)

        slope = 1 / (self.sigma * self.sigma)
        floor = -(-self.rate).log1p()
        up = positive_part(order.real)
        # odds^a ≤ 2^a·(1 + q^a·e^{a(2x−1)/(2σ²)}) for a ≥ 0, and ≤ (1−q)^a for a < 0
        flat = (up * arb(2).log() + positive_part(-order.real) * floor).exp()
        steep = flat * (up * (self.rate.log() - slope / 2)).exp()
        if moment:
            # |ln odds − centre| ≤ c + |x|/σ², whose m-th power is at most m!·e^{c + |x|/σ²}
            spread = math.factorial(moment) * (floor + abs(ball(centre)) + slope).exp()
            flat, steep = arb(0), (flat + steep) * spread
        growth = (up + (1 if moment else 0)) * slope
        return normal_integral(h, self.sigma, flat=flat, steep=steep, growth=growth, above_half=above)

    def mirrored(self, t: ComplexBall, moment: int = 0, centre: Ball | int = 0) -> ComplexBall:
        """E[e^{tL}·(L − centre)^moment] over the losses above 0 and over the mirror image of these."""
        other = self._powers(-t, moment, -centre, above=True)
        return self._powers(1 + t, moment, centre, above=True) + (-other if moment % 2 else other)

    def mean(self) -> Ball:
        """∫ φ·odds·ln odds."""
        return self._powers(acb(1), 1).real

    def variance(self) -> Ball:
        """∫ φ·odds·(ln odds − mean)²."""
        return self._powers(acb(1), 2, self.mean().mid()).real - square(self.mean() - self.mean().mid())

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln ∫ φ·odds^{t+1}."""
        return self._powers(complex_ball(t) + 1).log()

    def gaussian_noise(self) -> bool:
        """True: the noise is Gaussian, sampled once."""
        return True

    def envelope_factor(self, count: int, depth: float) -> GuidedFactor | None:
        """The factor that sums over nodes, searched by places."""
        return guided(self, count, depth)

    def contour_factor(self, count: int, log_delta: float) -> SampledFactor:
        """The factor that sums over nodes, with a cut that this δ allows."""
        return SampledFactor(SampledIntegral(self.sigma, self.rate, count, log_delta, removed=True), count)

    def sampled_noise(self) -> tuple[Ball, Ball, bool]:
        """σ and q, a record removed."""
        return self.sigma, self.rate, True


@dataclass(frozen=True)
class _Add(SampledAdd):
    sigma: Ball

    def _twin(self) -> SampledNormal:
        return SampledNormal(self.base, self.rate, self.sigma)

    def mean(self) -> Ball:
        """−∫ φ·ln odds."""
        return -self._twin()._powers(acb(0), 1).real

    def variance(self) -> Ball:
        """∫ φ·(ln odds + mean)²."""
        middle = self.mean().mid()
        return self._twin()._powers(acb(0), 2, -middle).real - square(self.mean() - middle)

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln ∫ φ·odds^{−t}."""
        return self._twin()._powers(-complex_ball(t)).log()

    def gaussian_noise(self) -> bool:
        """True: the noise is Gaussian, sampled once."""
        return True

    def envelope_factor(self, count: int, depth: float) -> GuidedFactor | None:
        """The factor that sums over nodes, searched by places."""
        return guided(self, count, depth)

    def contour_factor(self, count: int, log_delta: float) -> SampledFactor:
        """The factor that sums over nodes."""
        return SampledFactor(SampledIntegral(self.sigma, self.rate, count, log_delta, removed=False), count)

    def sampled_noise(self) -> tuple[Ball, Ball, bool]:
        """σ and q, a record added."""
        return self.sigma, self.rate, False

    def cumulant_bound(self) -> CumulantBound:
        """By the moments of the odds: see `by_four_moments`; from t = 1/q on (1−q)^{−t} explodes."""
        sigma, rate = float(self.sigma), float(self.rate)
        return CumulantBound(
            rough_variance(sigma, rate, 1), 1 / rate, lambda tilt: by_four_moments(self.sigma, self.rate, tilt)
        )

    def reverses(self, other: Loss) -> bool:
        """Whether the other is the removal of the same record: of the very same σ and q, not only of equal ones."""
        return isinstance(other, SampledNormal) and other.sigma is self.sigma and other.rate is self.rate
