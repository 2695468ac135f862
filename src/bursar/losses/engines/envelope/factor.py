"""Any loss whose places can be listed, as a factor: moments without a word about their decay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import DEAD, Care, Decay, Factor, Moments
from bursar.losses.engines.envelope.coarse import coarse_points
from bursar.losses.engines.envelope.living import live
from bursar.losses.engines.envelope.points import QUADRATURE, Points, TooMany, points_of
from bursar.losses.engines.envelope.spectrum import Weighed, weighed
from bursar.losses.places import Law
from bursar.numerics.arrays import Array, Complexes, Integers
from bursar.numerics.balls import Ball
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_SMALL = 1e-4  # of ε: below, the variance of a Laplace loss is ε² as far as anybody searches
_MOST_PAIRS = 30_000_000  # of a place and a frequency, one by one


class PointsFactor(Factor):
    """``count`` copies of a loss of which all places are known, and at most e^{log_lost} of its mass is not."""

    smooth = False
    exact: float = 1e-11
    """How closely the logarithms of all copies' moments are to be known."""

    def __init__(self, law: Law | Callable[[], Law], count: int, leak: Ball) -> None:
        self._given, self.count, self.leak = law, count, leak

    @cached_property
    def law(self) -> Law:
        """Where the mass of one copy lies; it may be made only when somebody looks."""
        return self._given if isinstance(self._given, Law) else self._given()

    @cached_property
    def _lost(self) -> Ball:
        return arb(self.law.log_lost).exp() if self.law.log_lost > -math.inf else arb(0)

    @cached_property
    def given_up(self) -> Ball:  # type: ignore[override]  # a value of the class elsewhere
        """What all copies may have outside their windows."""
        return self.count * self._lost.upper()

    @cached_property
    def whole(self) -> Ball:
        """The finite mass of one copy."""
        finite = 1 - self.leak
        return finite.union(finite - self._lost) if self._lost > 0 else finite

    @cached_property
    def _rough(self) -> Points:
        """Places that are good enough for floats."""
        return coarse_points(self.law)

    def rough_variance(self) -> float:
        """The variance of all copies, untilted."""
        return self.rough(0.0)[2]

    def rough_cumulants(self, tilts: Array) -> Array:
        """K of all copies at real tilts, in floats."""
        points = self._rough
        heights = points.log_masses + np.multiply.outer(tilts, points.losses)
        top = heights.max(axis=1)
        found: Array = self.count * (top + np.log(np.exp(heights - top[:, None]).sum(axis=1)))
        return found

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all copies, in floats."""
        points = self._rough
        heights = points.log_masses + tau * points.losses
        top = float(heights.max())
        weights = np.exp(heights - top)
        total = float(weights.sum())
        mean = summed(weights, points.losses) / total
        variance = summed(weights, np.square(points.losses - mean)) / total
        return self.count * (top + math.log(total)), self.count * mean, self.count * variance

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K of all copies as balls: ln(M(0) + Σp·(e^{τl} − 1)), or the logarithm of the sum where that is large."""
        try:
            points = points_of(self.law, max(tilts))
        except TooMany:  # at a steep tilt few of them weigh anything
            return [self.count * self._steep_cumulant(points_of(self.law, tilt, tilt), tilt) for tilt in tilts]
        return [self.count * self._cumulant(points, tilt) for tilt in tilts]

    def _cumulant(self, points: Points, tau: float) -> Ball:
        exponent = tau * points.losses
        heights = points.log_masses + exponent
        errors, top = self._weight_errors(points, tau), float(heights.max())
        n = len(heights)
        if top < 300 and float(exponent.max()) < 300:
            grown = np.exp(points.log_masses) * np.expm1(exponent)
            sizes = np.abs(grown) * errors + np.exp(heights) * (tau * points.loss_errors)
            slack = float(sizes.sum()) + (n + 2 * ULPS) * UNIT * float(np.abs(grown).sum())
            slack += 2 * QUADRATURE * float(np.exp(heights).sum() + 1)
            return (self.whole + arb(float(grown.sum()), SAFETY * slack)).log()
        return self._steep_cumulant(points, tau)

    def _steep_cumulant(self, points: Points, tau: float) -> Ball:
        """The logarithm of the sum, and of what was left out of it."""
        heights, errors = points.log_masses + tau * points.losses, self._weight_errors(points, tau)
        top, n = float(heights.max()), len(heights)
        weights = np.exp(heights - top)
        total = float(weights.sum())
        slack = summed(weights, errors + tau * points.loss_errors) / total + (n + ULPS + 8) * UNIT
        slack += points.left_out + QUADRATURE
        if not slack < 0.01:
            raise ArithmeticError("the moment is not known precisely enough")
        return arb(top + math.log(total), SAFETY * slack + 4 * UNIT * abs(top))

    def _weight_errors(self, points: Points, tau: float) -> Array:
        """Relative errors of the tilted masses; refused where first order would not do."""
        exponent = tau * points.losses
        sizes = np.abs(points.log_masses) + np.abs(exponent)
        errors = points.mass_errors + tau * points.loss_errors + UNIT * (ULPS + 8 + 4 * sizes)
        heights = points.log_masses + exponent
        if not float(np.max(np.where(heights > heights.max() - 60, errors, 0.0))) < 1e-3:
            raise ArithmeticError("rounding errors are too large to be bounded to first order")
        return errors

    def weighed(self, tau: float, reach: float) -> Weighed:
        """The tilted law, for frequencies up to this."""
        points = points_of(self.law, tau + reach, tau)
        heights = points.log_masses + tau * points.losses
        errors = self._weight_errors(points, tau)
        return weighed(points.losses, points.loss_errors, heights, errors, points.left_out + QUADRATURE)

    def combed(self, tau: float, teeth: Array) -> Weighed:
        """The tilted law of the teeth of a comb."""
        points = points_of(self.law, 0.0)
        heights, errors = points.log_masses + tau * points.losses, self._weight_errors(points, tau)
        return weighed(teeth, np.zeros_like(teeth), heights, errors, 0.0, whole=True)

    def live(self, tau: float, step: float, count: int) -> int:
        """Up to where all copies' moment is above e^{−80}, as far as the law's variance and a look at some frequencies
        show (proofs/envelope.md §11).
        """
        # looks may go beyond the last frequency, by less than half of it
        return live(self.weighed(tau, 1.5 * step * count), self.count, step, count)

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """The transform at all frequencies, and sums with all digits where the copies ask for them."""
        law = self.weighed(tau, float(frequencies[-1]))
        values, errors = law.transformed(float(frequencies[1]), len(frequencies))
        return all_copies(law, frequencies, values, errors, self)

    def decay(self, tau: float, care: Care) -> Decay:
        """No bound of the decay is known, and none is asked."""
        return np.zeros_like


class LaplaceFactor(PointsFactor):
    """Copies of a Laplace loss, which remember their ε: many different ones have a closed form together."""

    def __init__(self, law: Callable[[], Law], count: int, epsilon: Ball) -> None:
        super().__init__(law, count, arb(0))
        self.epsilon = epsilon

    def rough_variance(self) -> float:
        """3 − (4ε + 2)e^{−ε} − e^{−2ε} for each copy, which is about ε² where ε is small."""
        e = float(self.epsilon)
        return self.count * (3 - (4 * e + 2) * math.exp(-e) - math.exp(-2 * e) if e > _SMALL else e * e)

    def rough_cumulants(self, tilts: Array) -> Array:
        """K by its closed form, in floats: places on a plain grid would miss the top of a long range."""
        e, share = float(self.epsilon), tilts / (2 * tilts + 1)
        found: Array = self.count * (tilts * e + np.log1p(share * np.expm1(-(2 * tilts + 1) * e)))
        return found


def all_copies(law: Weighed, frequencies: Array, values: Complexes, errors: Array, factor: PointsFactor) -> Moments:
    """From one copy's moments, known up to errors, those of all copies, with bounds of their logarithms' errors."""
    scale = float(factor.count)
    sizes = np.maximum(np.abs(values), 1e-300)
    log_size, turn = np.log(sizes), np.angle(values)
    slip, most = np.minimum(errors / sizes, 1.0), sizes + errors
    off = slip / np.maximum(1 - slip, 0.5) + 4 * ULPS * UNIT * (1 + np.abs(log_size))
    # with many copies the transform's own rounding is too much where they are not all but gone
    weight = np.exp(np.maximum(scale * np.log(np.minimum(sizes + errors, 1.0)), DEAD))
    asked = np.flatnonzero(weight * scale * off > factor.exact)
    if len(asked) and len(asked) * len(law.weights) <= _MOST_PAIRS:
        _closely(law, frequencies, asked, (log_size, turn, off, slip, most))
    most = np.log(np.minimum(most, 1.0)) + 16 * ULPS * UNIT * (1 + np.abs(log_size))
    blurred = (slip > 0.5) | (scale * off > math.log(3))
    # where hardly anything is known of all copies' moment: at most so large, and off by at most twice that
    return Moments(
        scale * arb(law.mean),
        scale * np.where(blurred, most, log_size),
        np.where(blurred, 0.0, scale * turn),
        np.where(blurred, math.log(3), SAFETY * scale * off),
    )


def _closely(law: Weighed, frequencies: Array, asked: Integers, into: tuple[Array, ...]) -> None:
    """Centred sums at the frequencies asked, in place of what the transform says."""
    c, d, error = law.centred(frequencies, asked)
    gone = c * (c - 2) + d * d
    near = gone > -0.5
    size = np.where(near, 0.5 * np.log1p(np.maximum(gone, -0.5)), np.log(np.hypot(1 - c, d) + 1e-300))
    modulus = np.maximum(np.exp(size), 1e-150)
    slip = np.minimum(error / modulus, 1.0)
    rounding = 4 * ULPS * UNIT * ((c + np.abs(d)) / np.where(near, modulus * modulus, modulus) + np.abs(size))
    turn = np.arctan2(d, 1 - c)
    off = slip / np.maximum(1 - slip, 0.5) + rounding
    for target, found in zip(into, (size, turn, off, slip, modulus + error), strict=True):
        target[asked] = found
