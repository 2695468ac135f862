"""Pairs of which one is drawn and said, for the contour engine: moments are weighted sums of the parts' moments.

With weights wᵢ that add up to 1 and parts' moments Mᵢ, M = Σwᵢ·Mᵢ. At a tilt τ the parts have the shares
vᵢ = wᵢ·Mᵢ(τ)/M(τ), and φ = Σvᵢ·φᵢ: what the parts are off by counts with their shares (proofs/contour.md §11).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments
from bursar.losses.engines.contour.line_sums import log_of
from bursar.losses.engines.contour.sampled_factor import SampledFactor
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT


class AnnouncedFactor(Factor):
    """``count`` copies of a pair that says which of its parts it is; each part is given as ``count`` copies too."""

    def __init__(self, weights: Sequence[Ball], parts: Sequence[SampledFactor], count: int, left_out: Ball) -> None:
        """``left_out`` is the weight of parts that are not given: with the weights it adds up to 1."""
        self.weights, self.parts, self.count, self.left_out = list(weights), list(parts), count, left_out
        self.single = [part.single() for part in parts]
        cut = (weight * part.given_up for weight, part in zip(weights, parts, strict=True))
        self.given_up = sum(cut, count * left_out).upper()
        self.heavy = min(part.heavy for part in parts)
        self.mirrored = all(part.mirrored for part in parts)

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all copies: those of a mixture of the tilted parts, in floats."""
        heights, means, variances = np.array([one.rough(tau) for one in self.single]).T
        weights = np.array([float(weight) for weight in self.weights])
        shares = weights * np.exp(heights - heights.max())
        shares /= shares.sum()
        mean = summed(shares, means)
        variance = summed(shares, variances + np.square(means - mean))
        return float(self._rough_mixed(heights)), self.count * mean, self.count * variance

    def rough_variance(self) -> float:
        """The parts' own, by their weights: their means are small beside that."""
        return sum(float(weight) * part.rough_variance() for weight, part in zip(self.weights, self.parts, strict=True))

    def rough_cumulants(self, tilts: Array) -> Array:
        """K of all copies at several real tilts, in floats."""
        return self._rough_mixed(np.array([one.rough_cumulants(tilts) for one in self.single]))

    def _rough_mixed(self, heights: Array) -> Array:
        """The cumulants of all copies from those of the parts, one row for each part, in floats."""
        weights = np.array([float(weight) for weight in self.weights])
        with np.errstate(over="ignore"):  # infinite where it is of no use
            found: Array = self.count * np.log1p(product(weights, np.expm1(heights)))
        return found

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """ln Σwᵢ·Mᵢ of all copies, in balls."""
        return [self.count * self._mixed(each) for each in zip(*self._single_cumulants(tilts), strict=True)]

    def _single_cumulants(self, tilts: Sequence[float]) -> list[list[Ball]]:
        return [one.cumulants(tilts) for one in self.single]

    def _mixed(self, cumulants: Sequence[Ball]) -> Ball:
        """ln Σwᵢ·e^{Kᵢ} = ln(1 + Σwᵢ·(e^{Kᵢ} − 1) − what is left out)."""
        return sum((w * k.expm1() for w, k in zip(self.weights, cumulants, strict=True)), -self.left_out).log1p()

    def mirror(self, tilt: Ball) -> Ball:
        """A bound of K(−1 − t), from the parts' bounds."""
        return (self.count * self._mixed([one.mirror(tilt) for one in self.single])).upper()

    def _shares(self, tau: float) -> list[Ball]:
        """vᵢ = wᵢ·Mᵢ(τ)/M(τ)."""
        heights = [found[0] for found in self._single_cumulants([tau])]
        whole = self._mixed(heights)
        return [weight * (height - whole).exp() for weight, height in zip(self.weights, heights, strict=True)]

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """ln Σvᵢ·φᵢ of all copies, each φᵢ turned back by the mean of all before they are added."""
        found = [one.moments(tau, frequencies) for one in self.single]
        shares = self._shares(tau)
        mean = float(sum((share * part.drift for share, part in zip(shares, found, strict=True)), arb(0)))
        real, imag, error = (np.zeros_like(frequencies) for _ in range(3))
        for share, part in zip(shares, found, strict=True):
            x, y, doubt = _turned(part, frequencies, arb(mean))
            weight, unsure = float(share), float(share.rad().upper()) + UNIT * float(share)
            real += weight * x
            imag += weight * y
            # shares add up to 1, so that what one is off by moves φ − 1 by that much of the part's own φ − 1
            error += weight * doubt + (unsure + (len(found) + 4) * UNIT * weight) * (np.abs(x) + np.abs(y))
        size, turn, error = log_of(real, imag, SAFETY * error, float(self.count))
        return Moments(self.count * arb(mean), size, turn, error)

    def decay(self, tau: float, care: Care) -> Decay:
        """|φ| ≤ Σvᵢ·|φᵢ|, each part by its own bound."""
        shares = [max(float(share.lower()), 0.0) * (1 - 1e-9) for share in self._shares(tau)]
        bounds = [part.decay(tau, care) for part in self.parts]

        def bound(s: Array) -> Array:
            gone = sum(v * -np.expm1(each(s) / self.count) for v, each in zip(shares, bounds, strict=True))
            return self.count * np.log1p(-np.minimum(gone * (1 - 1e-9), 1 - 1e-15))

        return bound


def _turned(part: Moments, s: Array, mean: Ball) -> tuple[Array, Array, Array]:
    """Real and imaginary part of φ·e^{−ism} − 1 for one copy, and what both are off by together."""
    apart = part.drift - mean
    near = float(apart)
    moved = s * near
    angle = part.turn + moved
    gone = np.expm1(part.log_size)
    real = gone * np.cos(angle) - 2 * np.square(np.sin(0.5 * angle))
    imag = (1 + gone) * np.sin(angle)
    slip = 4 * UNIT * (np.abs(part.turn) + np.abs(moved)) + float(abs(apart - near).upper()) * s
    rounding = (3 * ULPS + 8) * UNIT * (np.abs(gone) + np.minimum(np.abs(angle), 3.0))
    doubt: Array = (1 + gone) * np.expm1(np.minimum(part.error, 700.0)) + SAFETY * (slip + rounding)
    return real, imag, doubt
