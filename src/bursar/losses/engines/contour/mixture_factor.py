"""A mixture of Gaussians for the contour engine: the sums of a sampled Gaussian with more than one shift."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from bursar.losses.engines.contour.mixture_integral import MixtureIntegral
from bursar.losses.engines.contour.sampled_factor import SampledFactor
from bursar.numerics.balls import Ball, infinity, minimum


class MixtureFactor(SampledFactor):
    """``count`` copies of a mixture of Gaussians, in one direction; exact up to a loss of ``given_up`` in δ."""

    def __init__(self, integral: MixtureIntegral, count: int) -> None:
        super().__init__(integral, count)
        self.mixture, self.splits = integral, False

    def mirror(self, tilt: Ball) -> Ball:
        """A bound of K(−1 − t), which is that of the law without the record tilted by −t."""
        return self.count * without_shift(self.mixture.exact[0], self.mixture.shifts, self.mixture.weights, tilt)

    def _shifted(self, tau: float, reach: float) -> None:
        """None: the lines of a sampled Gaussian are those of another law."""


def without_shift(sigma: Ball, shifts: Sequence[Ball], weights: Sequence[Ball], tilt: float | Ball) -> Ball:
    """An upper bound of ln E[R^{−t}], x ~ N(0, σ²): by the variance of R where R is bounded from below, or by
    ln R ≥ (2mx − v)/(2σ²), m and v the mean shift and the mean square (proofs/contour.md §10).
    """
    t, square = arb(tilt), sigma * sigma
    pairs = list(zip(shifts, weights, strict=True))
    mean, second = (sum((p * c**k for c, p in pairs), arb(0)) for k in (1, 2))
    by_means = (t * second + t * t * mean * mean) / (2 * square)
    if not shifts[0] <= 0:
        return by_means.upper()
    seen = 1 - weights[0]
    grown = ((-t * (-seen).log1p()).expm1() - seen * t) / (seen * seen)
    spread = sum((p * r * (c * d / square).expm1() for c, p in pairs for d, r in pairs), arb(0))
    by_spread = (grown * spread).log1p()
    return minimum(by_means, by_spread if by_spread.is_finite() else infinity()).upper()
