"""Sampled Gaussians whose record is rarely seen, and then plainly: few large losses among many tiny ones.

The composed law has almost an atom, where no copy has a large loss, and its moments do not decay. But that part ends
far below ε: it adds at most a Chernoff bound to δ, and the rest, the measure μ^{*k} − μ₀^{*k} with at least one large
loss, has moments (F₀ + F₁)^k − F₀^k, which decay as F₁ does (proofs/contour.md §6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments, NoContour
from bursar.losses.engines.contour.rare_bulk import Bulk
from bursar.losses.engines.contour.rare_split import LARGE, SMALL, Split, softness
from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_law import Tilted
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball, down
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_HALVES, _RANGE = 7, 16.0  # of the search for a place: steps, and how many e-folds of losses are looked at
_MOST = 600.0  # of w: beyond it e^w leaves the range of floats, and large losses are common
_HIDDEN = math.log(1e-9)  # of δ: what small losses alone may have


class RareFactor(Factor):
    """The compositions of ``count`` copies with at least one large loss; ``given_up`` bounds the others' δ for every ε
    from ``floor`` on.
    """

    def __init__(self, integral: SampledIntegral, count: int, floor: float, log_delta: float) -> None:
        if not integral.removed or integral.rate < 1e-200:
            raise NoContour("only where a record is removed large losses are rare")
        self.count, self.floor, self.integral = count, floor, integral
        soft = softness(integral, floor)
        place, others = _choose(Bulk(integral, count, soft, log_delta), floor, log_delta)
        self.split = Split(integral, place, 1.0, soft)
        self._grids: dict[tuple[float, float], tuple[Grid, Grid]] = {}
        self.given_up = integral.given_up + others

    def _grid(self, tau: float, reach: float) -> tuple[Grid, Grid]:
        for (most, far), known in self._grids.items():
            if tau <= most <= 4 * tau + 2 and reach <= far:
                return known
        most = 1.5 * tau
        if most > self.split.most:
            self.split = Split(self.integral, self.split.place, 2 * most, self.split.soft)
            self._grids.clear()  # their windows are narrower
        found = self.split.grid(most, reach)
        self._grids[most, reach] = found
        return found

    def rough_variance(self) -> float:
        """The variance at a tilt near 0, for a first guess."""
        return self.rough(0.1)[2]

    def rough(self, tau: float) -> tuple[float, float, float]:
        """From the nodes: with H = k·ln F₀ and w = k·ln(1 + F₁/F₀), ln(e^w − 1) + H and its derivatives, by those of
        the two parts' own logarithms, so that nothing cancels where large losses are ever so rare.
        """
        grids, k = self._grid(tau, 0.0), self.count
        (base, near, narrow), (far_base, far, wide) = (_float_moments(grid, tau) for grid in grids)
        ratio = math.exp(min(far_base - base, _MOST))
        first = ratio * (far - near)
        second = ratio * ((far - near) ** 2 + wide - narrow)
        w = k * math.log1p(ratio)
        if not w > 0:
            raise NoContour("no loss is large")
        turn, bend = k * first / (1 + ratio), k * (second / (1 + ratio) - (first / (1 + ratio)) ** 2)
        c = -1 / math.expm1(-w)  # d ln(e^w − 1)/dw
        log = w + math.log(-math.expm1(-w))
        return k * base + log, k * near + turn * c, k * narrow + bend * c - turn * turn * c * (c - 1)

    def _moments_at(self, tau: float) -> tuple[Ball, Ball]:
        grids = self._grid(tau, 0.0)
        small, large = (self.split.moment(part, grids[part], tau)[0] for part in (SMALL, LARGE))
        return small, large

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K in balls, with all errors of the nodes."""
        self._grid(max(tilts), 0.0)
        return [self._cumulant(*self._moments_at(tilt)) for tilt in tilts]

    def _cumulant(self, small: Ball, large: Ball) -> Ball:
        return self.count * small.log() + (self.count * (large / small).log1p()).expm1().log()

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """F₀^k·(e^w − 1), w = k·ln(1 + F₁/F₀), relative to its value at frequency 0."""
        k, reach = float(self.count), float(frequencies[-1])
        grids = self._grid(tau, reach)
        (small, near), (large, far) = (self.split.law(part, grids[part], tau, reach) for part in (SMALL, LARGE))
        c, d, error_c, error_d = near.equispaced(frequencies)
        first, gone = 1 - c + 1j * d, c * (c - 2) + d * d
        doubt = (error_c + error_d) / np.abs(first)
        if not (float(doubt.max()) < 0.01 and float(gone.min()) > -0.99):
            raise ArithmeticError("the small losses' moments are not known precisely enough")
        doubt = 1.02 * doubt + 8 * ULPS * UNIT * (c + np.abs(d)) / (1 + gone)  # of ln φ₀
        if not self.count * (large / small).log1p() < _MOST:
            raise NoContour("large losses are not rare")
        r, off = _ratio(large / small, far, frequencies, (far.mean - near.mean) * frequencies, first, doubt)
        log, off = _log1p(r, off)
        w = k * log
        value, size = _expm1(w), np.abs(w)
        # |a^k − b^k| ≤ (|a| + |b − a|)^k − |a|^k, and what w itself is rounded by
        shift = k * np.log1p(off / (np.abs(1 + r) + 1e-300)) + 4 * UNIT * size
        error = np.exp(w.real) * np.expm1(np.minimum(shift, 700.0))
        error = error + 16 * ULPS * UNIT * np.minimum(size, 1.0) * np.exp(np.maximum(w.real, 0.0))
        lead = (self.count * (large / small).log1p()).expm1().log()
        log_value = np.log(np.abs(value) + 1e-300)
        wrong = k * doubt + error / (np.abs(value) + 1e-300)
        # where hardly anything is known: at most so large, and off by at most twice that, φ₀'s own error included
        blurred = wrong > math.log(3)
        log_value = np.where(blurred, np.log(np.abs(value) + error), log_value)
        wrong = np.where(blurred, math.log(3) + k * doubt, wrong)
        wrong = wrong + float(lead.rad()) + 4 * UNIT * (np.abs(log_value) + abs(float(lead)))
        log_size = 0.5 * k * np.log1p(gone) + log_value - float(lead)
        turn = k * np.arctan2(d, 1 - c) + np.angle(value)
        return Moments(self.count * arb(near.mean), log_size, turn, SAFETY * wrong)

    def decay(self, tau: float, care: Care) -> Decay:
        """|F₁| on a shifted line, with |F₀| at most its value at frequency 0."""
        small, large = self._moments_at(tau)
        least, k = down(small), self.count
        if not self.count * (large / small).log1p() < _MOST:
            raise NoContour("large losses are not rare")
        whole = down((self.count * (large / small).log1p()).expm1().log())

        def bound(s: Array) -> Array:
            logs = [float(self.split.lifts(LARGE, tau, float(x), -1).min()) for x in s.tolist()]
            more = k * np.log1p(np.exp(np.minimum(logs, 600.0)) / least)
            # ln(e^m − 1) ≤ m, and no frequency has more than frequency 0
            small = np.log(np.maximum(np.expm1(np.minimum(more, _MOST)), 1e-300))
            return np.minimum(np.where(more < _MOST, small, more) - whole + 1e-6, 0.0)

        return bound


def _choose(bulk: Bulk, floor: float, log_delta: float) -> tuple[float, Ball]:
    """The largest place from which on losses may count as large, or nearly, and a bound of δ from the others."""
    integral = bulk.integral

    def bound_at(y: float) -> tuple[float, Ball]:
        place = 0.5 + integral.sigma**2 * (y - math.log(integral.rate))
        return place, bulk.beyond(place, floor)

    enough = arb(log_delta + _HIDDEN).exp()
    # losses of ten times the floor are large without asking, and small ones have a negligible loss
    high, best = math.log(10 * floor) if floor < 1 else 4.0, None
    low = max(high - _RANGE, math.log(integral.rate) + 0.5)  # where u > 0
    found = bound_at(high)
    if found[1] <= enough:
        return found
    for _ in range(_HALVES):
        middle = (low + high) / 2
        found = bound_at(middle)
        if found[1] <= enough:
            low, best = middle, found
        else:
            high = middle
    if best is None:
        raise NoContour("small losses are not small enough")
    return best


def _float_moments(grid: Grid, tau: float) -> tuple[float, float, float]:
    """ln of the moment of a part, and the mean and the variance of its tilted law."""
    log_weights = grid.log_mass + tau * grid.loss
    top = float(log_weights.max())
    if not math.isfinite(top):
        raise NoContour("a part has no mass")
    weights = np.exp(log_weights - top)
    total = float(weights.sum())
    mean = summed(weights, grid.loss) / total
    return top + math.log(total), mean, summed(weights, np.square(grid.loss - mean)) / total


def _ratio(
    ratio: Ball, law: Tilted, frequencies: Array, turned: Array, first: Complexes, doubt: Array
) -> tuple[Complexes, Array]:
    """F₁/F₀ at the frequencies, and bounds of its errors: F₁'s own, F₀'s, and those of the ratio at frequency 0."""
    c, d, error_c, error_d = law.equispaced(frequencies)
    share, base = float(ratio), np.abs(first)
    if not float(ratio.rad()) < 0.01 * share:
        raise ArithmeticError("the large losses' moments are not known precisely enough")
    second = (1 - c + 1j * d) * np.exp(1j * turned)
    unsure = share * (error_c + error_d + UNIT * (2 * ULPS + 16 + 4 * np.abs(turned)))
    r = share * second / first
    size = np.abs(r) + 1e-300
    off = 1.02 * (unsure + float(ratio.rad()) * np.abs(second)) / base + size * (1.02 * doubt + 40 * UNIT)
    return r, off


def _log1p(r: Complexes, off: Array) -> tuple[Complexes, Array]:
    """ln(1 + r) without cancellation where r is small, and how far e to this power may be from the true 1 + r."""
    size, small = np.abs(r), np.abs(r) < 0.5
    gone = np.where(small, r.real * (2 + r.real) + r.imag * r.imag, 0.0)
    whole = np.hypot(1 + r.real, r.imag) + 1e-300
    log = np.where(small, 0.5 * np.log1p(gone), np.log(whole)) + 1j * np.arctan2(r.imag, 1 + r.real)
    rounded = 16 * ULPS * UNIT * np.where(small, size, 1 + size + whole * np.abs(log))
    return log, off + rounded


def _expm1(w: Complexes) -> Complexes:
    """e^w − 1 without cancellation where w is small."""
    half = np.sin(0.5 * w.imag)
    real = np.expm1(w.real) * np.cos(w.imag) - 2 * half * half
    value: Complexes = real + 1j * np.exp(w.real) * np.sin(w.imag)
    return value
