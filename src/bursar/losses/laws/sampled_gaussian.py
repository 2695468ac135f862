"""The loss of the Poisson-sampled Gaussian, for a record added or removed, and for a record replaced.

Profiles and distribution functions are closed forms. Means, variances and cumulants are integrals against a normal
density over a finite window in balls; what lies outside is bounded through |integrand| ≤ (c + c′·e^{κ|x|})·φ and
added to the radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb, ctx

from bursar.losses._base import Directions, Loss, symmetric
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.sampled import SampledAdd, SampledRemove
from bursar.numerics import normal
from bursar.numerics.balls import Ball, ComplexBall, ball, complex_ball, infinity, positive_part, square
from bursar.numerics.quadrature import integral

if TYPE_CHECKING:
    import numpy as np

Integrand = Callable[[ComplexBall, bool], ComplexBall]


def sampled_gaussian(sigma: Ball, rate: Ball) -> Directions:
    """Both directions of the add/remove relation."""
    base = GaussianLoss(1 / sigma)
    pair = Directions(base, base, True)
    return Directions(_Remove(pair, rate, sigma), _Add(pair, rate, sigma), True)


def replaced_gaussian(sigma: Ball, rate: Ball) -> Directions:
    """The replace-one relation: the sampled record's contribution moves from −½ to ½ of the sensitivity."""
    return symmetric(ReplacedGaussian(sigma, rate))


def normal_integral(h: Integrand, sigma: Ball, *, flat: Ball, steep: Ball, growth: Ball) -> ComplexBall:
    """∫ φ_σ(x)·h(x) dx for |h(x)| ≤ flat + steep·e^{growth·|x|} on the line."""
    bits = ctx.prec + 40 + min(max(float(growth * sigma * sigma), 0.0), 1e6)
    reach = sigma * sigma * growth + sigma * arb(math.sqrt(2 * math.log(2) * bits))
    edge = arb(float(reach.upper())) if reach.is_finite() else reach
    scale = 1 / (sigma * (2 * arb.pi()).sqrt())

    def inside(x: ComplexBall, analytic: bool) -> ComplexBall:
        return h(x, analytic) * (-x * x / (2 * sigma * sigma)).exp() * scale

    lifted = (growth * growth * sigma * sigma / 2).exp() * normal.cdf(growth * sigma - edge / sigma)
    error = arb(0, (2 * (flat * normal.cdf(-edge / sigma) + steep * lifted)).upper())
    return integral(inside, (-edge, arb(0), arb(1) / 2, edge)) + acb(error, error)


def _power(x: ComplexBall, exponent: int) -> ComplexBall:
    """x^0, x^1 or x^2 without logarithms, which would spoil balls around 0."""
    return acb(1) if exponent == 0 else x if exponent == 1 else x * x


@dataclass(frozen=True)
class _Remove(SampledRemove):
    sigma: Ball

    def _odds(self, x: ComplexBall) -> ComplexBall:
        return 1 - self.rate + self.rate * ((2 * x - 1) / (2 * self.sigma * self.sigma)).exp()

    def _powers(self, order: ComplexBall, moment: int = 0, centre: Ball = 0) -> ComplexBall:
        """∫ φ·odds^order·(ln odds − centre)^moment."""

        def h(x: ComplexBall, analytic: bool) -> ComplexBall:
            log = self._odds(x).log(analytic=analytic)
            return (order * log).exp() * _power(log - centre, moment)

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
        return normal_integral(h, self.sigma, flat=flat, steep=steep, growth=(up + (1 if moment else 0)) * slope)

    def mean(self) -> Ball:
        """∫ φ·odds·ln odds."""
        return self._powers(acb(1), 1).real

    def variance(self) -> Ball:
        """∫ φ·odds·(ln odds − mean)²."""
        return self._powers(acb(1), 2, self.mean().mid()).real - square(self.mean() - self.mean().mid())

    def cumulant(self, t: object) -> ComplexBall:
        """ln ∫ φ·odds^{t+1}."""
        return self._powers(complex_ball(t) + 1).log()


@dataclass(frozen=True)
class _Add(SampledAdd):
    sigma: Ball

    def _twin(self) -> _Remove:
        return _Remove(self.base, self.rate, self.sigma)

    def mean(self) -> Ball:
        """−∫ φ·ln odds."""
        return -self._twin()._powers(acb(0), 1).real

    def variance(self) -> Ball:
        """∫ φ·(ln odds + mean)²."""
        middle = self.mean().mid()
        return self._twin()._powers(acb(0), 2, -middle).real - square(self.mean() - middle)

    def cumulant(self, t: object) -> ComplexBall:
        """ln ∫ φ·odds^{−t}."""
        return self._twin()._powers(-complex_ball(t)).log()


@dataclass(frozen=True)
class ReplacedGaussian(Loss):
    """(1−q)N(0, σ²) + qN(−½, σ²) against the mirror image; the loss falls with x."""

    sigma: Ball
    rate: Ball

    def _place(self, loss: Ball) -> Ball:
        """The x at which the loss is l: 2σ²·[asinh(−a·sinh(l/2)) − l/2], a = ((1−q)/q)·e^{1/(8σ²)}."""
        square = self.sigma * self.sigma
        a = (1 - self.rate) / self.rate * (1 / (8 * square)).exp()
        return 2 * square * ((-a * (loss / 2).sinh()).asinh() - loss / 2)

    def _left(self, c: Ball, shift: Ball) -> Ball:
        return (1 - self.rate) * normal.cdf(c / self.sigma) + self.rate * normal.cdf((c - shift) / self.sigma)

    def profile(self, epsilon: object) -> Ball:
        """P(x < c) − e^ε Q(x < c) at the place c of ε."""
        x = ball(epsilon)
        c = self._place(x)
        return positive_part(self._left(c, arb(-1) / 2) - x.exp() * self._left(c, arb(1) / 2))

    def cdf(self, x: object) -> Ball:
        """P(output ≥ the place of x)."""
        c = self._place(ball(x))
        upper = (1 - self.rate) * normal.cdf(-c / self.sigma)
        return upper + self.rate * normal.cdf(-(c + arb(1) / 2) / self.sigma)

    def support(self) -> tuple[Ball, Ball]:
        """The whole line."""
        return -infinity(), infinity()

    def _odds(self, x: ComplexBall, sign: int) -> ComplexBall:
        square = self.sigma * self.sigma
        return 1 - self.rate + self.rate * ((sign * x - arb(1) / 4) / (2 * square)).exp()

    def _powers(self, t: ComplexBall, moment: int = 0, centre: Ball = 0) -> ComplexBall:
        """∫ φ·A^{1+t}·B^{−t}·(ln(A/B) − centre)^moment, A and B the odds of the two mixtures."""

        def h(x: ComplexBall, analytic: bool) -> ComplexBall:
            a = self._odds(x, -1).log(analytic=analytic)
            b = self._odds(x, 1).log(analytic=analytic)
            return ((1 + t) * a - t * b).exp() * _power(a - b - centre, moment)

        slope = 1 / (2 * self.sigma * self.sigma)
        floor = -(-self.rate).log1p()
        up, down = positive_part(1 + t.real), positive_part(-t.real)
        flat = ((up + down) * arb(2).log() + (positive_part(-1 - t.real) + positive_part(t.real)) * floor).exp()
        steep = flat * (up * (self.rate.log() - slope / 4)).exp() if t.real >= 0 else 3 * flat
        growth = (up + down) * slope
        if moment:
            spread = math.factorial(moment) * (2 * floor + abs(ball(centre)) + slope).exp()
            flat, steep, growth = arb(0), (flat + steep) * spread, growth + 2 * slope
        return normal_integral(h, self.sigma, flat=flat, steep=steep, growth=growth)

    def mean(self) -> Ball:
        """∫ P·ln(P/Q)."""
        return self._powers(acb(0), 1).real

    def variance(self) -> Ball:
        """∫ P·(ln(P/Q) − mean)²."""
        middle = self.mean().mid()
        return self._powers(acb(0), 2, middle).real - square(self.mean() - middle)

    def cumulant(self, t: object) -> ComplexBall:
        """ln ∫ P^{1+t}Q^{−t}."""
        return self._powers(complex_ball(t)).log()

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Losses of outputs drawn from P."""
        import numpy as np

        sigma, q = float(self.sigma), float(self.rate)
        x = rng.normal(0.0, sigma, size) - 0.5 * (rng.random(size) < q)
        a = np.log1p(q * np.expm1((-x - 0.25) / (2 * sigma * sigma)))
        return a - np.log1p(q * np.expm1((x - 0.25) / (2 * sigma * sigma)))
