"""Many different losses as one factor: arrays over (loss, frequency), and only where something is left of the product.

Losses are taken in turn, those that vary most first. No characteristic function exceeds 1, so a frequency at which the
product so far is negligible needs no further ones: it counts as at most that size (proofs/envelope.md §9).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments
from bursar.numerics.arrays import Array, Complexes, Integers
from bursar.numerics.balls import Ball
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_BLOCK = 16  # losses at a time
_DEAD = -44.0  # of the logarithm of the product: nothing below matters


class Values(NamedTuple):
    """Moments of single copies relative to those at the tilt, by loss and frequency, and bounds of their errors."""

    values: Complexes
    errors: Array


def _often(found: Complexes, off: Array, counts: Array) -> tuple[Array, Array, Array, Array]:
    """ln|φ|, its angle, the error of both and what ln|φ| is at most, for all copies of all losses of a block."""
    modulus = np.maximum(np.abs(found), 1e-300)
    slip = np.minimum(off / modulus, 1.0)
    logs = np.log(modulus)
    doubt = np.where(slip < 0.5, slip / np.maximum(1 - slip, 0.5) + 4 * ULPS * UNIT, np.inf)
    error = SAFETY * (counts * (doubt + 8 * UNIT * (np.abs(logs) + 4))).sum(axis=0)
    most = (counts * _most(modulus + off)).sum(axis=0)
    return (counts * logs).sum(axis=0), (counts * np.angle(found)).sum(axis=0), error, most


def _once(found: Complexes, off: Array, counts: Array) -> tuple[Array, Array, Array, Array]:
    """The same where there is one copy of each: a product, and one logarithm."""
    modulus = np.maximum(np.sqrt(found.real**2 + found.imag**2), 1e-300)
    slip = np.minimum(off / modulus, 1.0)
    doubt = np.where(slip < 0.5, slip / np.maximum(1 - slip, 0.5), np.inf).sum(axis=0) + 8 * len(found) * UNIT
    whole = np.multiply.reduce(found, axis=0)
    size = np.maximum(np.abs(whole), 1e-300)
    logs = np.log(size)
    most = _most(np.multiply.reduce(np.minimum(modulus + off, 1.0), axis=0))
    return logs, np.angle(whole), SAFETY * (doubt + 4 * ULPS * UNIT * (2 + np.abs(logs))), most


def _most(sizes: Array) -> Array:
    """ln of what moments, or products of some, are at most: no characteristic function exceeds 1."""
    logs = np.log(np.maximum(sizes, 1e-300))
    found: Array = np.minimum(logs + 64 * ULPS * UNIT * (1 + np.abs(logs)), 0.0)
    return found


class Crowd(Factor):
    """Different losses of one shape, each with its count."""

    count = 1
    smooth = False

    def __init__(self, counts: Sequence[int]) -> None:
        self.counts = np.array(counts, dtype=np.float64)

    @abstractmethod
    def single(self, tilts: Array) -> Array:
        """K of one copy of each loss at each tilt, in floats: a row for each tilt."""

    @abstractmethod
    def doubts(self, tilt: float) -> Array:
        """Bounds of the errors of `single` at this tilt."""

    @abstractmethod
    def drifts(self, tau: float) -> tuple[Array, Ball]:
        """A shift of each loss, near its tilted mean, and the sum of all copies' shifts."""

    @abstractmethod
    def values(self, tau: float, part: slice, frequencies: Array, live: Integers) -> Values:
        """The moments of some of the losses, shifted, at those of the frequencies 0, Δ, 2Δ, … that are live."""

    def variances(self, tau: float) -> Array:
        """The variance of all copies of each loss under the tilt, in floats, by differences of K."""
        step = 1e-2 * (tau + 1e-6)
        low, middle, high = self.single(np.array([tau, tau + step, tau + 2 * step]))
        found: Array = self.counts * np.maximum(high - 2 * middle + low, 0.0) / step**2
        return found

    def rough_cumulants(self, tilts: Array) -> Array:
        """K of all copies of all losses at each tilt, in floats."""
        found: Array = product(self.single(tilts), self.counts)
        return found

    def rough_variance(self) -> float:
        """The variance of all, from differences at a small tilt."""
        return float(self.variances(0.0).sum())

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ by differences."""
        step = 1e-3 * (1 + tau) if tau > 0.01 else 0.1 * max(tau, 1e-9)
        low, middle, high = self.rough_cumulants(np.array([tau - step, tau, tau + step])).tolist()
        return middle, (high - low) / (2 * step), (high - 2 * middle + low) / (step * step)

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K of all copies as balls, with the errors of all terms."""
        found = []
        for tilt, row in zip(tilts, self.single(np.array(tilts)), strict=True):
            doubt = summed(self.counts, self.doubts(tilt)) + len(row) * UNIT * summed(self.counts, np.abs(row))
            found.append(arb(math.fsum((self.counts * row).tolist()), SAFETY * doubt))
        return found

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """The product of all characteristic functions, block by block, where it is not negligible yet."""
        order = np.argsort(-self.variances(tau))
        self.arrange(order)
        shift = self.drifts(tau)[1]
        size, turn, error, most = (np.zeros(len(frequencies)) for _ in range(4))
        live = np.arange(len(frequencies))
        for start in range(0, len(order), _BLOCK):
            part = slice(start, start + _BLOCK)
            found, off = self.values(tau, part, frequencies, live)
            add = _once if bool(np.all(self.counts[part] == 1)) else _often
            for sums, more in zip((size, turn, error, most), add(found, off, self.counts[part, None]), strict=True):
                sums[live] += more
            live = live[most[live] > _DEAD]
        dead = most <= _DEAD
        # also where one of them may be nothing, or its moment is smaller than its error
        blurred = dead | ~(error <= math.log(3))
        return Moments(
            shift, np.where(blurred, most, size), np.where(blurred, 0.0, turn), np.where(blurred, math.log(3), error)
        )

    @abstractmethod
    def arrange(self, order: Integers) -> None:
        """Put the losses into this order."""

    def decay(self, tau: float, care: Care) -> Decay:
        """No bound of the decay is known, and none is asked."""
        return np.zeros_like
