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
_LARGE = 40.0  # of R: e^R − 1 is e^R from here on, but for 10⁻¹⁷ of itself
_MOST = 0.5  # G/F: with more, ln(1 + G/F) might have no bound


class Kind(NamedTuple):
    """One kind of release: all copies' losses below the layer, and those of one copy in it, if it has any."""

    low: PointsFactor
    inside: PointsFactor | None


class Layer(Factor):
    """All compositions with at least one loss in the layer and none above."""

    count = 1
    smooth = False
    exact: float = 1e-11
    """How closely the logarithms of the moments are to be known."""

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
                grown += low.count * np.logaddexp(0.0, inside.rough_cumulants(tilts) - small / low.count)
        total += sum(factor.rough_cumulants(tilts) for factor in self.others)
        return total + log_expm1(grown)

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
            low.exact = self.exact
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
        return _product(parts, _log_expm1(grown, doubt.real), (lost, most.real))

    def decay(self, tau: float, care: Care) -> Decay:
        """No bound of the decay is known, and none is asked."""
        return np.zeros_like


def _product(parts: list[Moments], share: tuple[Array, Array, Array], bound: tuple[Truths, Array]) -> Moments:
    """The moments of all parts times (e^R − 1), or, where one copy's are lost, bounds of their size."""
    (height, angle, unsure), (lost, most) = share, bound
    lead = float(unsure[0])
    if lost[0] or not lead < 1e-3:
        raise ArithmeticError("the moments of a layer are not known precisely enough")
    sizes, turns, errors = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in ("log_size", "turn", "error")
    )
    blurred = lost | (unsure > 0.5)
    # |Π(F + G)^k − ΠF^k| grows with every |F|
    largest = np.where(lost, log_expm1(most), height + np.log1p(unsure))
    relative = np.where(blurred, largest, height) - height[0]
    rounding = 8 * ULPS * UNIT * (1 + np.abs(relative) + np.abs(sizes) + abs(float(height[0])))
    # what is only bounded counts with all of its errors in the size
    return Moments(
        sum((part.drift for part in parts), arb(0)),
        sizes + relative + np.where(blurred, errors + 2 * lead + rounding, 0.0),
        np.where(blurred, 0.0, turns + angle),
        np.where(blurred, TWICE, SAFETY * (errors + unsure / np.maximum(1 - unsure, 0.5) + 2 * lead + rounding)),
    )


def log_expm1(x: Array) -> Array:
    """ln(e^x − 1) for x ≥ 0, in floats."""
    with np.errstate(divide="ignore"):
        found: Array = np.where(x > _LARGE, x, np.log(np.expm1(np.minimum(x, _LARGE))))
    return found


def _inside(inside: PointsFactor, tau: float) -> Ball:
    """ln G of one copy."""
    return inside._steep_cumulant(points_of(inside.law, tau, tau), tau)


def _ratio(odds: Ball, inside: Moments, below: Moments, count: int, frequencies: Array) -> tuple[Complexes, Array]:
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


def _log_expm1(w: Complexes, off: Array) -> tuple[Array, Array, Array]:
    """ln|e^w − 1| and its angle without cancellation, and a bound of its relative error, for w known up to ``off``."""
    near = np.where(w.real < _LARGE, w, 0.0)
    half, top = np.sin(0.5 * near.imag), np.exp(near.real)
    value = np.expm1(near.real) * np.cos(near.imag) - 2 * half * half + 1j * top * np.sin(near.imag)
    size = np.abs(value) + 1e-300
    rounding = 8 * ULPS * UNIT * (size + np.minimum(np.abs(near), 1.0) * (1 + top) + top * np.abs(near.imag))
    slip = np.expm1(np.minimum(off, 700.0))
    # e^w − 1 is e^w for a large w, but for a part that counts as an error
    far = w.real >= _LARGE
    beyond = slip + 2 * math.exp(-_LARGE) + 8 * ULPS * UNIT * (1 + np.abs(w))
    error = np.where(far, beyond, (top * slip + rounding) / size)
    return np.where(far, w.real, np.log(size)), np.where(far, w.imag, np.angle(value)), SAFETY * error
