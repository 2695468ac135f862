"""Gaussian differential privacy: no easier to tell apart than N(0, 1) and N(μ, 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from bursar.guarantees._base import Counted, Guarantee, largest, rounded_up
from bursar.numerics import normal
from bursar.numerics.balls import WORKING_BITS, Ball, ball, hull, positive_part, working
from bursar.numerics.interval import Interval
from bursar.numerics.real import Number, Real
from bursar.numerics.search import crossing
from bursar.numerics.validate import MAX_PROMISE, real

_SMALL, _LARGE = -20, 10  # of the exponent of μ: beyond, the plain difference loses digits
_FAR = 2000  # standard deviations: e^{−2·10⁶} is nothing


@dataclass(frozen=True, init=False, repr=False)
class GDP(Guarantee):
    """μ-GDP. Its worst case is the Gaussian mechanism with σ = 1/μ."""

    mu: Real
    name = "gdp"

    def __init__(self, mu: Number) -> None:
        self._set(mu=real(mu=mu, at_least=0, largest=MAX_PROMISE))

    def delta_at(self, epsilon: Ball) -> Ball:
        """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), exactly."""
        return gaussian_delta(ball(self.mu), epsilon)

    def epsilon_at(self, delta: Ball) -> Ball:
        """The inverse, found by a certified search."""
        return arb(gaussian_epsilon(ball(self.mu), delta).upper)

    @classmethod
    def compose(cls, promises: Counted) -> GDP:
        """√Σμᵢ²."""
        counted = [(promise.mu, count) for promise, count in promises if count and promise.mu.high > 0]
        if len(counted) == 1 and counted[0][1] == 1:
            return cls(counted[0][0])
        squares = sum((count * mu.high**2 for mu, count in counted), Fraction(0))
        return cls(rounded_up(ball(squares).sqrt()))

    @classmethod
    def worst(cls, promises: Sequence[GDP]) -> GDP:
        """The largest μ."""
        return cls(largest([promise.mu for promise in promises]))

    def group(self, size: int) -> GDP:
        """size·μ."""
        return GDP(self.mu.times(size))


def gaussian_delta(mu: Ball, epsilon: Ball) -> Ball:
    """δ(ε) of N(0, 1) against N(μ, 1), for every real ε."""
    if not mu > 0:
        zero = (1 - epsilon.exp()).max(arb(0))
        return zero if mu <= 0 else hull(zero, gaussian_delta(mu.upper(), epsilon))
    size = math.frexp(float(mu))[1]
    if _SMALL <= size <= _LARGE:
        return _difference(mu, epsilon)
    # where μ or ε is unsure its ends decide, since δ rises with μ and falls with ε
    ends = (mu.lower(), epsilon.upper()), (mu.upper(), epsilon.lower())
    with working(WORKING_BITS + 2 * abs(size)):
        return hull(*(_far_apart(*end) if size > 0 else _difference(*end) for end in ends))


def far_gaussian_delta(mu: Ball, epsilon: Ball) -> Ball:
    """The same, also where its terms are far beyond floats (proofs/hits.md §3)."""
    a = mu / 2 - epsilon / mu
    if a < -_FAR:
        return hull(arb(0), (-(arb(_FAR) ** 2) / 2).exp())
    if not mu - a > _FAR:
        return gaussian_delta(mu, epsilon)
    # e^ε·Φ(a − μ) = φ(a)·R(μ − a), and Mills' ratio R(y) lies between y/(1 + y²) and 1/y
    y = mu - a
    ratio = hull(y / (1 + y * y), 1 / y)
    return positive_part(normal.cdf(a.min(arb(_FAR))) - (-(a * a) / 2).exp() / (2 * arb.pi()).sqrt() * ratio)


def _difference(mu: Ball, epsilon: Ball) -> Ball:
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ): two numbers that are nearly alike where μ is small."""
    shift = epsilon / mu
    return (normal.cdf(mu / 2 - shift) - epsilon.exp() * normal.cdf(-mu / 2 - shift)).max(arb(0))


def _far_apart(mu: Ball, epsilon: Ball) -> Ball:
    """The same for a large μ, in which e^ε has too many digits: with a = ε/μ − μ/2 and b = ε/μ + μ/2 > 0 the second
    part is φ(a)·Φ(−b)/φ(b), since b² − a² = 2ε; and Φ(−b)/φ(b) lies between any two successive partial sums of
    1/b − 1/b³ + 3/b⁵ − 15/b⁷ + ….
    """
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if not b > 1:
        return hull(arb(0), arb(1))
    y = 1 / (b * b)
    mills = (1 - y * (1 - 3 * y * (1 - 5 * y * (1 - 7 * y * hull(arb(0), arb(1)))))) / b
    return positive_part(normal.cdf(-a) - normal.density(a) * mills)


def gaussian_epsilon(mu: Ball, delta: Ball) -> Interval:
    """ε(δ) of the Gaussian pair, both ends proved."""
    if mu <= 0:
        return Interval(0.0, 0.0)
    if not delta > 0:
        return Interval(0.0, math.inf)
    return crossing(lambda x: gaussian_delta(mu, arb(x)), delta, guess=_guess(mu, delta))


def _guess(mu: Ball, delta: Ball) -> float:
    """μ²/2 + μ√(2 ln(1/δ)) is never far off."""
    return float((mu * mu / 2 + mu * (-2 * delta.log()).sqrt()).mid()) if delta < 1 else 1.0
