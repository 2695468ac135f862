"""The loss of a mixture of Gaussians: Σ p_i·N(c_i, σ²) against N(0, σ²), c_i ≥ 0, in both directions.

The likelihood ratio R(x) = Σ p_i·e^{(2c_i·x − c_i²)/(2σ²)} rises with x, and ln R is convex. With R(x_l) = e^l

    remove:  δ(ε) = Σ p_i·Φ((c_i − x)/σ) − e^ε·Φ(−x/σ),   x = x_ε
    add:     δ(ε) = Φ(x/σ) − e^ε·Σ p_i·Φ((x − c_i)/σ),    x = x_{−ε}

and where e^l is at most p₀, the weight of the shift 0, there is no such x: δ is 1 − e^ε or 0. These differences are
largest at x, so any other place gives a lower bound, and one at a distance r errs by at most r times the height of the
integrand there (proofs/mixtures.md §2). Means, variances and cumulants are integrals against a normal density in balls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import acb, arb

from bursar.losses._base import Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses.engines.chernoff import CumulantBound
from bursar.losses.engines.contour.mixture_factor import MixtureFactor, without_shift
from bursar.losses.engines.contour.mixture_integral import MixtureIntegral
from bursar.losses.engines.envelope.guided import GuidedFactor, guided
from bursar.losses.laws.gaussian import GaussianLoss, sampled_gaussian
from bursar.losses.laws.mixture_lattice import mixture_law
from bursar.losses.laws.mixture_moments import power_integral, power_sum, rough_cumulant
from bursar.losses.laws.mixture_place import Mixture
from bursar.losses.places import Law
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import (
    Ball,
    ComplexBall,
    ComplexLike,
    RealLike,
    ball,
    complex_ball,
    hull,
    infinity,
    positive_part,
    square,
)
from bursar.numerics.products import product


@dataclass(frozen=True, eq=False)
class _Mixed(Loss):
    mixture: Mixture

    def gaussian_noise(self) -> bool:
        """True: the noise is Gaussian."""
        return True

    def takes_integrals(self) -> bool:
        """True but at small whole orders; floats are quick at all of them."""
        return True

    def envelope_factor(self, count: int, depth: float) -> GuidedFactor | None:
        """The factor that sums over nodes, searched by places."""
        return guided(self, count, depth)

    def sampled_pair(self, pair: Directions, rate: Ball) -> Directions:
        """A sample of a mixture is a mixture in which nothing happens more often."""
        return mixture_pair(self.mixture.sampled(rate))

    def _factor(self, count: int, log_delta: float, *, removed: bool) -> MixtureFactor:
        given = self.mixture.shifts, self.mixture.weights
        return MixtureFactor(MixtureIntegral(self.mixture.sigma, given, count, log_delta, removed=removed), count)


class MixtureRemove(_Mixed):
    """The direction in which the record is removed: ln R under the mixture."""

    def profile(self, epsilon: RealLike) -> Ball:
        """See the module's first formula."""
        mixture, x = self.mixture, ball(epsilon)
        level, outside = x.exp(), positive_part(-x.expm1())
        if level <= mixture.none:
            return outside
        place = mixture.place(x) if level > mixture.none else None
        if place is None:
            # at least 1 − e^ε, and at most that at the largest ε with this value
            return hull(outside, (1 - mixture.none).upper())
        middle = place.mid()
        at = mixture.beyond(middle) - level * normal.cdf(-middle / mixture.sigma)
        return positive_part(hull(at, at + mixture.slip(place, mixture.odds(place) - level)))

    def cdf(self, x: RealLike) -> Ball:
        """Σ p_i·Φ((x_l − c_i)/σ)."""
        loss = ball(x)
        if loss.exp() <= self.mixture.none:
            return arb(0)
        place = self.mixture.place(loss) if loss.exp() > self.mixture.none else None
        return hull(arb(0), arb(1)) if place is None else self.mixture.before(place)

    def tail(self, x: RealLike) -> Ball:
        """Σ p_i·Φ((c_i − x_l)/σ)."""
        loss = ball(x)
        if loss.exp() <= self.mixture.none:
            return arb(1)
        place = self.mixture.place(loss) if loss.exp() > self.mixture.none else None
        return hull(arb(0), arb(1)) if place is None else self.mixture.beyond(place)

    def support(self) -> tuple[Ball, Ball]:
        """All losses from ln p₀ on."""
        none = self.mixture.none
        return (none.log() if none > 0 else -infinity()), infinity()

    def mean(self) -> Ball:
        """∫ φ·R·ln R."""
        return power_integral(self.mixture, acb(1), 1).real

    def variance(self) -> Ball:
        """∫ φ·R·(ln R − mean)²."""
        middle = self.mean().mid()
        return power_integral(self.mixture, acb(1), 2, middle).real - square(self.mean() - middle)

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln ∫ φ·R^{t+1}: a finite sum at whole orders, if they are small."""
        order = complex_ball(t) + 1
        closed = power_sum(self.mixture, order)
        return power_integral(self.mixture, order).log() if closed is None else acb(closed.log())

    def rough_cumulant(self, t: float) -> float:
        """The same in floats, for searching."""
        return rough_cumulant(self.mixture.floats(), 1 + t)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """ln R of outputs drawn from the mixture."""
        odds = self.mixture.floats()
        drawn = rng.choice(odds.shifts, size=size, p=odds.weights / odds.weights.sum())
        return odds.log(drawn + rng.normal(0.0, odds.sigma, size))[1]

    def contour_factor(self, count: int, log_delta: float) -> MixtureFactor:
        """The factor that sums over nodes, with a cut that this δ allows."""
        return self._factor(count, log_delta, removed=True)

    def lattice_law(self, depth: float) -> Law:
        """In v = x/σ²: N(0, 1/σ²) times R."""
        return mixture_law(self.mixture.floats(), depth, removed=True)


class MixtureAdd(_Mixed):
    """The direction in which the record is added: −ln R under N(0, σ²)."""

    def profile(self, epsilon: RealLike) -> Ball:
        """See the module's second formula."""
        mixture, x = self.mixture, ball(epsilon)
        level = x.exp()
        if mixture.none * level >= 1:
            return arb(0)
        place = mixture.place(-x) if mixture.none * level < 1 else None
        if place is None:
            return positive_part(hull(arb(0), 1 - mixture.none * level))
        middle = place.mid()
        at = normal.cdf(middle / mixture.sigma) - level * mixture.before(middle)
        return positive_part(hull(at, at + mixture.slip(place, 1 - level * mixture.odds(place))))

    def cdf(self, x: RealLike) -> Ball:
        """Φ(−x_{−l}/σ); 1 from −ln p₀ on."""
        loss = -ball(x)
        if loss.exp() <= self.mixture.none:
            return arb(1)
        place = self.mixture.place(loss) if loss.exp() > self.mixture.none else None
        return hull(arb(0), arb(1)) if place is None else normal.cdf(-place / self.mixture.sigma)

    def tail(self, x: RealLike) -> Ball:
        """Φ(x_{−l}/σ)."""
        loss = -ball(x)
        if loss.exp() <= self.mixture.none:
            return arb(0)
        place = self.mixture.place(loss) if loss.exp() > self.mixture.none else None
        return hull(arb(0), arb(1)) if place is None else normal.cdf(place / self.mixture.sigma)

    def support(self) -> tuple[Ball, Ball]:
        """All losses up to −ln p₀."""
        none = self.mixture.none
        return -infinity(), (-none.log() if none > 0 else infinity())

    def mean(self) -> Ball:
        """−∫ φ·ln R."""
        return -power_integral(self.mixture, acb(0), 1).real

    def variance(self) -> Ball:
        """∫ φ·(ln R + mean)²."""
        middle = self.mean().mid()
        return power_integral(self.mixture, acb(0), 2, -middle).real - square(self.mean() - middle)

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln ∫ φ·R^{−t}."""
        return power_integral(self.mixture, -complex_ball(t)).log()

    def rough_cumulant(self, t: float) -> float:
        """The same in floats, for searching."""
        return rough_cumulant(self.mixture.floats(), -t)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """−ln R of outputs drawn from N(0, σ²)."""
        odds = self.mixture.floats()
        return -odds.log(rng.normal(0.0, odds.sigma, size))[1]

    def contour_factor(self, count: int, log_delta: float) -> MixtureFactor:
        """The factor that sums over nodes."""
        return self._factor(count, log_delta, removed=False)

    def lattice_law(self, depth: float) -> Law:
        """In v = −x/σ²: N(0, 1/σ²)."""
        return mixture_law(self.mixture.floats(), depth, removed=False)

    def cumulant_bound(self) -> CumulantBound:
        """By the variance of R, or by its mean shift: see `without_shift`."""
        mixture = self.mixture
        floats = mixture.floats()
        products = np.multiply.outer(floats.shifts, floats.shifts) / floats.sigma**2
        variance = product(product(floats.weights, np.expm1(np.minimum(products, 500.0))), floats.weights)
        return CumulantBound(
            float(variance), math.inf, lambda t: without_shift(mixture.sigma, mixture.shifts, mixture.weights, t)
        )

    def reverses(self, other: Loss) -> bool:
        """Whether the other is the removal of the same record: of the very same mixture, not only of an equal one."""
        return isinstance(other, MixtureRemove) and other.mixture is self.mixture


def mixture_pair(mixture: Mixture) -> Directions:
    """The losses of this mixture, a record removed and one added."""
    return Directions(MixtureRemove(mixture), MixtureAdd(mixture), True)


def gaussian_mixture(mixture: Mixture) -> Directions:
    """Both directions, in the form of a Gaussian or of a sampled one where the mixture is no more than that."""
    sigma, shifts = mixture.sigma, mixture.shifts
    if len(shifts) == 1:
        return symmetric(GaussianLoss(shifts[0] / sigma))
    if len(shifts) == 2 and shifts[0] <= 0:
        return sampled_gaussian(sigma / shifts[1], mixture.weights[1])
    return mixture_pair(mixture)
