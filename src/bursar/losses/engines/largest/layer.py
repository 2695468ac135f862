"""The compositions whose largest loss lies in one layer, as a factor of the envelope engine.

With F the moment of one copy's losses below the layer and G that of those in it, the measure of all compositions with
at least one loss in the layer and none above has the moments

    N(t) = Π(F_i + G_i)^{k_i} − ΠF_i^{k_i} = ΠF_i^{k_i}·(e^R − 1),   R = Σ k_i·ln(1 + G_i/F_i)

(proofs/largest.md). G is far smaller than F, and known as closely relative to itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.points import points_of
from bursar.numerics.arrays import Array, Complexes, Truths
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

TWICE = math.log(3)  # what is known to be small counts as at most so large, and off by at most twice that
_MOST = 0.5  # G/F: with more, ln(1 + G/F) might have no bound


class Kind(NamedTuple):
    """One kind of release: all copies' losses below the layer, and those of one copy in it, if it has any."""

    low: PointsFactor
    inside: PointsFactor | None


class Layer(Factor):
    """All compositions with at least one loss in the layer and none above."""

    count = 1
    smooth = False

    def __init__(self, kinds: Sequence[Kind], others: Sequence[Factor], size: float) -> None:
        self.kinds, self.others, self.size = kinds, others, size

    def rough_variance(self) -> float:
        """Of the order of the layer's losses, squared: for a first tilt."""
        return self.size * self.size

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K and its derivatives, by differences."""
        step = 1e-3 * tau
        before, at, after = self.rough_cumulants(np.array([tau - step, tau, tau + step])).tolist()
        return at, (after - before) / (2 * step), (after - 2 * at + before) / step**2

    def rough_cumulants(self, tilts: Array) -> Array:
        """ln N in floats."""
        total, grown = np.zeros_like(tilts), np.zeros_like(tilts)
        for low, inside in self.kinds:
            small = low.rough_cumulants(tilts)
            total += small
            if inside is not None:
                odds = np.exp(np.minimum(inside.rough_cumulants(tilts) - small / low.count, 600.0))
                grown += low.count * np.log1p(odds)
        total += sum(factor.rough_cumulants(tilts) for factor in self.others)
        return np.where(grown > 30, total + grown, total + np.log(np.expm1(np.minimum(grown, 30.0))))

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """ln N as balls."""
        lows = [low.cumulants(tilts) for low, _ in self.kinds]
        others = [factor.cumulants(tilts) for factor in self.others]
        found = []
        for i, tilt in enumerate(tilts):
            grown = arb(0)
            for (low, inside), known in zip(self.kinds, lows, strict=True):
                if inside is not None:
                    grown += low.count * (_inside(inside, tilt) - known[i] / low.count).exp().log1p()
            total = sum((known[i] for known in (*lows, *others)), arb(0))
            found.append(total + grown.expm1().log())
        return found

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """N at all frequencies: that of the losses below, times (e^R − 1) over its value at the tilt itself."""
        parts = [factor.moments(tau, frequencies) for factor in self.others]
        grown, doubt, most = np.zeros((3, len(frequencies)), dtype=complex)
        lost = np.zeros(len(frequencies), dtype=bool)
        for low, inside in self.kinds:
            below = low.moments(tau, frequencies)
            parts.append(below)
            if inside is not None:
                odds = (_inside(inside, tau) - low.cumulants([tau])[0] / low.count).exp()
                ratio, off = _ratio(odds, inside.moments(tau, frequencies), below, low.count, frequencies)
                # where hardly anything is known of all copies' moment, nothing is known of one copy's, but how large
                blurred = below.error >= TWICE
                lost |= blurred
                most += low.count * np.log1p(np.abs(ratio) + off)
                value, error = _log1p(np.where(blurred, 0.0, ratio), np.where(blurred, 0.0, off))
                grown += low.count * value
                doubt += low.count * error
        return _product(parts, _expm1(grown, doubt.real), (lost, most.real))

    def decay(self, tau: float, care: Care) -> Decay:
        """No bound of the decay is known, and none is asked."""
        return np.zeros_like


def _product(parts: list[Moments], share: tuple[Complexes, Array], bound: tuple[Truths, Array]) -> Moments:
    """The moments of all parts times (e^R − 1), or, where one copy's are lost, bounds of their size."""
    (value, unsure), (lost, most) = share, bound
    size = np.abs(value)
    first, lead = float(size[0]), float(unsure[0] / size[0])
    if lost[0] or not lead < 1e-3:
        raise ArithmeticError("the moments of a layer are not known precisely enough")
    sizes, turns, errors = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in ("log_size", "turn", "error")
    )
    blurred = lost | (unsure > 0.5 * size)
    with np.errstate(divide="ignore", over="ignore"):
        # |Π(F + G)^k − ΠF^k| grows with every |F|
        largest = np.where(lost, np.expm1(np.minimum(most, 700.0)), size + unsure)
        height = np.log(np.where(blurred, largest, size) / first + 1e-300)
        slip = np.where(blurred, TWICE, unsure / np.maximum(size - unsure, 1e-300)) + 2 * lead
    rounding = 8 * ULPS * UNIT * (1 + np.abs(height))
    # what is only bounded counts with all of its errors in the size
    return Moments(
        sum((part.drift for part in parts), arb(0)),
        sizes + height + np.where(blurred, errors + 2 * lead + rounding, 0.0),
        np.where(blurred, 0.0, turns + np.angle(value)),
        np.where(blurred, TWICE, SAFETY * (errors + slip + rounding)),
    )


def _inside(inside: PointsFactor, tau: float) -> Ball:
    """ln G of one copy."""
    return inside._steep_cumulant(points_of(inside.law, tau, tau), tau)


def _ratio(
    odds: Ball, inside: Moments, below: Moments, count: int, frequencies: Array
) -> tuple[Complexes, Array]:
    """G/F at the frequencies, and bounds of its errors."""
    share = float(odds)
    if not (0 < share < _MOST and float(odds.rad()) < 0.01 * share):
        raise ArithmeticError("a layer is not rare")
    apart = inside.drift - below.drift / count
    near = float(apart)
    slip = float(abs(apart - arb(near)).upper())
    turn = frequencies * near + inside.turn - below.turn / count
    size = share * np.exp(inside.log_size - below.log_size / count)
    off = inside.error + below.error / count + float(odds.rad()) / share + frequencies * slip
    off += UNIT * (3 * ULPS + 16 + 4 * (np.abs(frequencies * near) + np.abs(inside.turn) + np.abs(below.turn) / count))
    off += 4 * UNIT * (np.abs(inside.log_size) + np.abs(below.log_size) / count)
    return size * np.exp(1j * turn), SAFETY * size * np.expm1(np.minimum(off, 700.0))


def _log1p(r: Complexes, off: Array) -> tuple[Complexes, Array]:
    """ln(1 + r) without cancellation where r is small, and a bound of its error."""
    size = np.abs(r)
    left = 1 - size - off
    if not float(left.min()) > 0.1:
        raise ArithmeticError("a layer is not rare at all frequencies")
    value = 0.5 * np.log1p(r.real * (2 + r.real) + r.imag * r.imag) + 1j * np.arctan2(r.imag, 1 + r.real)
    return value, SAFETY * (off / left + 16 * ULPS * UNIT * size / left)


def _expm1(w: Complexes, off: Array) -> tuple[Complexes, Array]:
    """e^w − 1 without cancellation where w is small, and a bound of its error."""
    half = np.sin(0.5 * w.imag)
    top = np.exp(np.minimum(w.real, 600.0))
    value = np.expm1(np.minimum(w.real, 600.0)) * np.cos(w.imag) - 2 * half * half + 1j * top * np.sin(w.imag)
    rounding = 8 * ULPS * UNIT * (np.abs(value) + np.minimum(np.abs(w), 1.0) * (1 + top) + top * np.abs(w.imag))
    return value, SAFETY * (top * np.expm1(np.minimum(off, 700.0)) + rounding)
