"""The loss of the Poisson-sampled Gaussian for a record replaced, which moves from −½ to ½ of the sensitivity.

Profiles and distribution functions are closed forms. Means, variances and cumulants are integrals against a normal
density in balls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import acb, arb

from bursar.losses._base import Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses.engines.contour.replaced_factor import ReplacedFactor
from bursar.losses.engines.contour.replaced_integral import ReplacedIntegral
from bursar.losses.engines.envelope.guided import GuidedFactor, guided
from bursar.losses.engines.hit_parts import Hits
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.normal_integral import normal_integral, power
from bursar.losses.places import SLACK, WIDEST, Density, Law, log_odds, spread
from bursar.numerics import normal
from bursar.numerics.arrays import Array, Known
from bursar.numerics.balls import (
    Ball,
    ComplexBall,
    ComplexLike,
    RealLike,
    ball,
    complex_ball,
    infinity,
    positive_part,
    square,
)
from bursar.numerics.trusted import SAFETY, UNIT


def replaced_gaussian(sigma: Ball, rate: Ball) -> Directions:
    """The replace-one relation: the sampled record's contribution moves from −½ to ½ of the sensitivity."""
    return symmetric(ReplacedGaussian(sigma, rate))


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

    def profile(self, epsilon: RealLike) -> Ball:
        """P(x < c) − e^ε Q(x < c) at the place c of ε."""
        x = ball(epsilon)
        c = self._place(x)
        return positive_part(self._left(c, arb(-1) / 2) - x.exp() * self._left(c, arb(1) / 2))

    def cdf(self, x: RealLike) -> Ball:
        """P(output ≥ the place of x)."""
        c = self._place(ball(x))
        upper = (1 - self.rate) * normal.cdf(-c / self.sigma)
        return upper + self.rate * normal.cdf(-(c + arb(1) / 2) / self.sigma)

    def tail(self, x: RealLike) -> Ball:
        """P(output < the place of x), with all digits where it is small."""
        return self._left(self._place(ball(x)), arb(-1) / 2)

    def support(self) -> tuple[Ball, Ball]:
        """The whole line."""
        return -infinity(), infinity()

    def _odds(self, x: ComplexBall, sign: int) -> ComplexBall:
        square = self.sigma * self.sigma
        return 1 - self.rate + self.rate * ((sign * x - arb(1) / 4) / (2 * square)).exp()

    def _powers(self, t: ComplexBall, moment: int = 0, centre: Ball | int = 0) -> ComplexBall:
        """∫ φ·A^{1+t}·B^{−t}·(ln(A/B) − centre)^moment, A and B the odds of the two mixtures."""

        def h(x: ComplexBall, analytic: bool) -> ComplexBall:
            a = self._odds(x, -1).log(analytic=analytic)
            b = self._odds(x, 1).log(analytic=analytic)
            return ((1 + t) * a - t * b).exp() * power(a - b - centre, moment)

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

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln ∫ P^{1+t}Q^{−t}."""
        return self._powers(complex_ball(t)).log()

    def hits(self, clear: float) -> Hits | None:
        """Half a sensitivity's Gaussian and ln(q/(1−q)) where the record took part, nothing where not."""
        base = GaussianLoss(1 / (2 * self.sigma))
        even, far = ((1 - self.rate) / self.rate).log(), arb(clear)
        short_hit = base.below((even + far).upper())
        # on either side
        short_miss = 2 * base.below(-(even - far).lower())
        if not (0 < self.rate < 1 and short_hit < 0.5 and short_miss < 0.5 and 2 * even + base.mu**2 >= 0):
            return None
        slack = (-far).exp().log1p()
        return Hits(self.rate, base, -even, arb(0), slack.upper(), short_hit.upper(), short_miss.upper(), False)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses of outputs drawn from P."""
        sigma, q = float(self.sigma), float(self.rate)
        x = rng.normal(0.0, sigma, size) - 0.5 * (rng.random(size) < q)
        a = np.log1p(q * np.expm1((-x - 0.25) / (2 * sigma * sigma)))
        return a - np.log1p(q * np.expm1((x - 0.25) / (2 * sigma * sigma)))

    def gaussian_noise(self) -> bool:
        """True: the noise is Gaussian, sampled once."""
        return True

    def envelope_factor(self, count: int, depth: float) -> GuidedFactor | None:
        """The factor that sums over nodes, searched by places."""
        return guided(self, count, depth)

    def contour_factor(self, count: int, log_delta: float) -> ReplacedFactor:
        """The factor that sums over nodes, with a cut that this δ allows."""
        return ReplacedFactor(ReplacedIntegral(self.sigma, self.rate, count, log_delta), count)

    def lattice_law(self, depth: float) -> Law:
        """In v = −x/σ²: N(0, 1/σ²) times the odds of the first mixture."""
        from bursar.losses.engines.lattice.graded import replaced_bounds  # for those who sample

        sigma, q = float(self.sigma), float(self.rate)
        doubt = spread(self.sigma) + spread(self.rate)
        eighth, reach = 1 / (8 * sigma * sigma), math.sqrt(2 * depth)

        def odds(v: Array) -> Known:
            return log_odds(v / 2 - eighth, (2 * doubt + 4 * UNIT) * (np.abs(v) + eighth), q, doubt)

        def log_density(v: Array) -> Known:
            z = sigma * v
            value, error = odds(v)
            flat = -0.5 * np.square(z) + math.log(sigma / math.sqrt(2 * math.pi))
            return flat + value, error + (3 * doubt + 8 * UNIT) * (np.square(z) + 1 + abs(math.log(sigma)))

        def both(v: Array) -> Known:
            first, second = odds(v), odds(-v)
            return first[0] - second[0], SAFETY * (first[1] + second[1] + UNIT * np.abs(first[0] - second[0]))

        def place(g: Array) -> Array:
            half, log_a = np.abs(g) / 2, math.log1p(-q) - math.log(q) + eighth if q < 1 else -math.inf
            near = np.arcsinh(math.exp(min(log_a, 300.0)) * np.sinh(np.minimum(half, 300.0)))
            # asinh(y) is ln(2y) for large y, and 2·sinh(h) is e^h·(1 − e^{−2h})
            far = log_a + half + np.log1p(-np.exp(-2 * np.maximum(half, 1e-12)))
            grown = np.where((half > 300) | (log_a > 300), np.maximum(far, 0.0), near)
            at: Array = g + 2 * np.sign(g) * grown
            return at

        edge = 1 / (2 * sigma * sigma) + reach / sigma
        width = min(1 / (2.1 * sigma * (reach + 1 + 1 / sigma)), WIDEST)
        even = (math.log1p(-q) - math.log(q) if q < 1 else -math.inf) + eighth
        density = Density(-edge, edge, width, log_density, both, place, bounds=replaced_bounds(sigma, even))
        return Law(densities=(density,), log_lost=SLACK - depth)
