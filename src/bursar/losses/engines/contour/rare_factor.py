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

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments, NoContour
from bursar.losses.engines.contour.rare_split import LARGE, SMALL, Split, softness
from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_law import Tilted
from bursar.numerics import normal
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball, down
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_TILTS = np.geomspace(40.0, 400.0, 8)  # times 1/ε: for Chernoff bounds of the small ones
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
        place, others = _choose(integral, count, floor, log_delta)
        self.split = Split(integral, place, 1.0)
        self._grids: dict[tuple[float, float], tuple[Grid, Grid]] = {}
        self.given_up = integral.given_up + others

    def _grid(self, tau: float, reach: float) -> tuple[Grid, Grid]:
        for (most, far), known in self._grids.items():
            if tau <= most <= 4 * tau + 2 and reach <= far:
                return known
        most = 1.5 * tau
        if most > self.split.most:
            self.split = Split(self.integral, self.split.place, 2 * most)
            self._grids.clear()  # their windows are narrower
        found = self.split.grid(most, reach)
        self._grids[most, reach] = found
        return found

    def rough_variance(self) -> float:
        """The variance at a tilt near 0, for a first guess."""
        return self.rough(0.1)[2]

    def rough(self, tau: float) -> tuple[float, float, float]:
        """From the nodes: with G = k·ln(F₀ + F₁) and H = k·ln F₀ the moment is e^G − e^H."""
        grids, k = self._grid(tau, 0.0), self.count
        small, large = ([_float_moment(grid, tau, power) for power in range(3)] for grid in grids)
        both = [a + b for a, b in zip(small, large, strict=True)]
        (g1, g2), (h1, h2) = (
            (k * m[1] / m[0], k * (m[2] / m[0] - (m[1] / m[0]) ** 2) + (k * m[1] / m[0]) ** 2) for m in (both, small)
        )
        base = k * math.log(small[0])
        w = k * math.log1p(large[0] / small[0])
        if not w > 0:
            raise NoContour("no loss is large")
        if w >= _MOST:  # e^H is nothing beside e^G
            return base + w, g1, g2 - g1 * g1
        more = math.expm1(w)
        first = (g1 * (1 + more) - h1) / more
        return base + math.log(more), first, (g2 * (1 + more) - h2) / more - first * first

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
        if not (float(doubt.max()) < 0.01 and float(gone.min()) > -0.5):
            raise ArithmeticError("the small losses' moments are not known precisely enough")
        doubt = 1.02 * doubt + 8 * ULPS * UNIT * (c + np.abs(d))  # of ln φ₀
        if not self.count * (large / small).log1p() < _MOST:
            raise NoContour("large losses are not rare")
        r, off = _ratio(large / small, far, frequencies, (far.mean - near.mean) * frequencies, first, doubt)
        w, shift = k * _log1p(r), 2 * k * (off + 16 * ULPS * UNIT * np.abs(r))
        value, size = _expm1(w), np.abs(w)
        error = np.exp(w.real) * np.expm1(np.minimum(shift, 700.0)) + 16 * ULPS * UNIT * np.exp(size) * size
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


class _Small:
    """What losses that are not large do, by closed forms: those up to x = X have A − 1 ≤ Y and a known variance."""

    def __init__(self, integral: SampledIntegral, count: int, place: float, log_delta: float) -> None:
        sigma, rate = integral.exact
        self.count = count
        self.away = math.sqrt(2 * (max(-log_delta, 0.0) + 26))
        edge = arb(place) + arb(self.away) * arb(softness(integral))
        self.least, self.most = 1 - rate, rate * ((2 * edge - 1) / (2 * sigma * sigma)).expm1()
        self.square = rate * rate * ((1 / (sigma * sigma)).exp() * normal.cdf((edge - 2) / sigma) + 1)
        beyond = (1 - rate) * normal.cdf(-edge / sigma) + rate * normal.cdf((1 - edge) / sigma)
        self.lost = count * beyond * normal.cdf(-arb(self.away))
        if not self.most > 0:
            raise NoContour("no loss is large")

    def beyond(self, epsilon: float, tilt: float) -> Ball:
        """A bound of δ(ε), by a Chernoff bound at this tilt."""
        order = 1 + arb(tilt)
        if tilt >= 1:
            bent = ((1 + self.most) ** order - 1 - order * self.most) / self.most**2
        else:
            bent = order * arb(tilt) / 2 * self.least ** (arb(tilt) - 1)
        height = self.count * (bent * self.square).log1p() - arb(tilt) * arb(epsilon) + chernoff_constant(tilt)
        return (height.exp() + self.lost).upper()


def _choose(integral: SampledIntegral, count: int, floor: float, log_delta: float) -> tuple[float, Ball]:
    """The largest place from which on losses may count as large, and a bound of δ from the others."""
    enough = math.exp(log_delta + _HIDDEN)
    # losses of ten times the floor are large without asking
    highest = math.log(10 * floor) if floor < 1 else 4.0
    for y in np.arange(highest, highest - 10, -0.25).tolist():
        place = 0.5 + integral.sigma**2 * (y - math.log(integral.rate))
        small = _Small(integral, count, place, log_delta)
        for tilt in (_TILTS / floor).tolist():
            bound = small.beyond(floor, tilt)
            if bound <= enough:
                return place, bound
    raise NoContour("small losses are not small enough")


def _float_moment(grid: Grid, tau: float, power: int) -> float:
    log_weights = grid.log_mass + tau * grid.loss
    if float(log_weights.max()) > 600:
        raise NoContour("the moments of large losses are too large")
    return float((np.exp(log_weights) * grid.loss**power).sum())


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
    if not float((size + off).max()) < 0.5:
        raise NoContour("large losses are not rare")
    return r, off


def _log1p(r: Complexes) -> Complexes:
    """ln(1 + r) for |r| < ½, without cancellation where r is small."""
    return 0.5 * np.log1p(r.real * (2 + r.real) + r.imag * r.imag) + 1j * np.arctan2(r.imag, 1 + r.real)


def _expm1(w: Complexes) -> Complexes:
    """e^w − 1 without cancellation where w is small."""
    half = np.sin(0.5 * w.imag)
    real = np.expm1(w.real) * np.cos(w.imag) - 2 * half * half
    value: Complexes = real + 1j * np.exp(w.real) * np.sin(w.imag)
    return value
