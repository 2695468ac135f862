"""The Poisson-sampled Gaussian for the contour engine: certified moments off the real line, and how fast they decay.

Sums over the nodes are centred at the tilted mean m: φ − 1 = −2Σw·sin²(s(L−m)/2) + iΣw·sin(s(L−m)), so that rounding
errors grow like the square root of the count, not like the count. Bounds of all errors become radii of balls
(proofs/contour.md §4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb

from bursar.losses._base import Loss
from bursar.losses.contour.factors import Care, Decay, Factor, Moments, uniform_decay
from bursar.losses.contour.sampled_integral import Grid, SampledIntegral
from bursar.losses.sampled_gaussian import _Add, _Remove
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_LADDER = np.array([0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 1.5])
_LONG_LADDER = np.append(_LADDER, [3.0, 6.0, 12.0])

_ENOUGH = -200.0  # of ln|φ|: no sum asks for more
_ROWS = 64  # of a table that fits a cache
_RULERS = {parts: np.linspace(-1.0, 1.0, parts + 1) for parts in (4, 6, 12, 24, 40, 288)}

Array = Any


@dataclass
class _Tilted:
    """The normalised tilted law on the grid, and the errors of its centred sums."""

    grid: Grid
    cumulant: Ball
    weights: Array
    mean: float
    variance: float
    error_d: float
    error_c: float
    missing: float


class SampledFactor(Factor):
    """``count`` copies of a Poisson-sampled Gaussian, in one direction; exact up to a loss of ``given_up`` in δ."""

    def __init__(self, integral: SampledIntegral, count: int) -> None:
        self.integral, self.count = integral, count
        self.given_up = integral.given_up
        self._law: _Tilted | None = None
        self._key = (math.nan, math.nan)
        self._decays: dict[tuple[float, Care], Decay] = {}

    def rough_variance(self) -> float:
        """q²(e^{1/σ²} − 1) a copy."""
        return self.integral.variance

    def rough(self, tau: float) -> tuple[float, float, float]:
        """From the nodes."""
        grid = self.integral.grid(tau, 8.0)
        log_weights = grid.log_mass + tau * grid.loss
        top = float(log_weights.max())
        weights = np.exp(log_weights - top)
        total = float(weights.sum())
        k = math.log1p(float(_expm1_terms(grid, tau).sum())) if top < 1 else top + math.log(total)
        mean = float(weights @ grid.loss) / total
        variance = float(weights @ np.square(grid.loss - mean)) / total
        return self.count * k, self.count * mean, self.count * variance

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """Certified, with all errors of the nodes."""
        grid = self.integral.grid(max(tilts), 0.0)
        taus = np.array(tilts)[:, None]
        exponents = taus * grid.loss
        log_weights = grid.log_mass + exponents
        if float(log_weights.max()) >= 300:
            return [self.count * self._cumulant(grid, tilt)[0] for tilt in tilts]
        errors = self._weight_errors(grid, taus, exponents, log_weights)
        mass, small = np.exp(grid.log_mass), np.abs(exponents) < 1
        grown = np.exp(log_weights)
        terms = np.where(small, mass * np.expm1(np.where(small, exponents, 0.0)), grown - mass)
        values, sizes = terms.sum(axis=1), np.abs(terms)
        slack = (sizes * (2.2 * errors)).sum(axis=1) + (grown @ grid.loss_error) * taus[:, 0]
        slack += (len(grid.x) + 8) * UNIT * sizes.sum(axis=1)
        # what the grid leaves out grows with the tilt (proofs/contour.md §4), so the largest one bounds all; the first
        # tilt is the one that is summed at, whose cumulant must be close
        missing = np.full(len(tilts), self.integral.missing(grid, max(tilts), 0.0))
        missing[0] = self.integral.missing(grid, tilts[0], 0.0)
        missing += float(self.given_up) / self.count
        doubts = SAFETY * (slack + missing * (2 + np.abs(values)))
        return [
            self.count * arb(value, doubt).log1p()
            for value, doubt in zip(values.tolist(), doubts.tolist(), strict=True)
        ]

    @staticmethod
    def _weight_errors(grid: Grid, tau: Array, exponent: Array, log_weights: Array) -> Array:
        """Relative errors of the tilted masses; refused where first order would not do."""
        sizes = np.abs(grid.log_mass) + np.abs(exponent)
        errors = grid.mass_error + tau * grid.loss_error + UNIT * (ULPS + 4 + 4 * sizes)
        heavy = log_weights > log_weights.max(axis=-1, keepdims=True) - 60
        if not float(np.max(np.where(heavy, errors + grid.loss_error, 0.0))) < 1e-3:
            raise ArithmeticError("rounding errors are too large to be bounded to first order")
        return errors

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """K(τ) + ims + ln(1 − C + iD), with bounds of the errors of C and D."""
        reach = float(frequencies[-1])
        law = self._tilt(self.integral.grid(tau, reach), tau, reach)
        c, d, error_c, error_d = self._equispaced(law, frequencies)
        # |φ|² = 1 − 2C + C² + D² without cancellation where C and D are small
        gone = c * (c - 2) + d * d
        size = np.where(gone > -0.5, 0.5 * np.log1p(np.maximum(gone, -0.5)), np.log(np.hypot(1 - c, d) + 1e-300))
        turn = np.arctan2(d, 1 - c)
        modulus = np.exp(size)
        modulus = np.maximum(modulus, 1e-150)
        slip = (error_c + error_d) / modulus
        # ln(φ + e) moves by at most |e/φ|/(1 − |e/φ|); of what is left only rounding remains, in units of 1 − φ
        error = slip / np.maximum(1 - slip, 0.5) + 4 * ULPS * UNIT * (c + np.abs(d)) / (modulus * modulus)
        error = error + 4 * ULPS * UNIT * (np.abs(size) + np.abs(turn))
        scale = float(self.count)
        # where hardly anything is known of φ: at most so large, and off by at most twice that
        blurred = slip > 0.5
        size = np.where(blurred, np.log(np.minimum(modulus + error_c + error_d, 1.0)), size)
        error = np.where(blurred, math.log(3) / scale, error)
        return Moments(self.count * arb(law.mean), scale * size, scale * turn, SAFETY * scale * error)

    def _centred(self, law: _Tilted, s: Array) -> tuple[Array, Array, Array, Array]:
        """C = 2Σw·sin²(s(L−m)/2) and D = Σw·sin(s(L−m)), and bounds of their errors."""
        phase = np.multiply.outer(s, law.grid.loss - law.mean)
        d = np.sin(phase) @ law.weights
        c = 2 * (np.square(np.sin(0.5 * phase)) @ law.weights)
        rounding = (2 * ULPS + len(law.weights) + 4) * UNIT
        error_c = SAFETY * (law.error_c * s * s + rounding * c) + law.missing
        return c, d, error_c, SAFETY * law.error_d * s + law.missing

    def _equispaced(self, law: _Tilted, s: Array) -> tuple[Array, Array, Array, Array]:
        """The same at multiples of one frequency: e^{i(j+1)y} − 1 = a + b + ab for a = e^{ijy} − 1, b = e^{iy} − 1."""
        turn = (s[1] if len(s) > 1 else 0.0) * (law.grid.loss - law.mean)
        b = np.empty(len(turn), dtype=complex)
        b.real, b.imag = -2 * np.square(np.sin(0.5 * turn)), np.sin(turn)
        c, d = np.zeros(len(s)), np.zeros(len(s))
        rows = np.zeros((min(len(s), _ROWS), len(turn)), dtype=complex)
        a = np.zeros_like(b)
        for start in range(0, len(s), _ROWS):
            block = rows[: min(_ROWS, len(s) - start)]
            for row in block:
                row[:] = a
                a = a * b
                a += row
                a += b
            c[start : start + len(block)] = -(np.ascontiguousarray(block.real) @ law.weights)
            d[start : start + len(block)] = np.ascontiguousarray(block.imag) @ law.weights
        j = np.arange(len(s))
        apart, square = float(law.weights @ np.abs(law.grid.loss - law.mean)), law.variance * s * s
        adding = (len(law.weights) + 4) * UNIT * np.minimum(square, 2.0)
        error_c = law.error_c * s * s + UNIT * (2 * ULPS + 40 + 16 * j) * square + adding
        error_d = law.error_d * s + UNIT * (ULPS + 20 + 16 * j + len(law.weights)) * apart * s
        return c, d, SAFETY * error_c + law.missing, SAFETY * error_d + law.missing

    def decay(self, tau: float, care: Care) -> Decay:
        """Remembered: one tilt serves several ε."""
        if (tau, care) not in self._decays:
            self._decays[tau, care] = self._decay(tau, care)
        return self._decays[tau, care]

    def _decay(self, tau: float, care: Care) -> Decay:
        """Of the law itself or of its bulk alone: far, rare losses stretch the variance and spoil the fourth moment."""
        if not (self.integral.removed and self.integral.whole and care is Care.MOST):
            return self._own_decay(tau, care)
        ways = [self._own_decay(tau, care)]
        for reach in (1.5, 3.0):
            try:
                ways.append(self._bulk_decay(tau, reach, care))
            except ArithmeticError:
                continue
        return lambda s: np.minimum.reduce([way(s) for way in ways])

    def _bulk_decay(self, tau: float, reach: float, care: Care) -> Decay:
        """From the part of the law below an earlier cut."""
        part = SampledFactor(self.integral.bulk(1 + reach * self.integral.sigma), 1)
        weight = down((part.log_moment(tau) - self.log_moment(tau)).exp())
        return _of_part(part._own_decay(tau, care), min(weight, 1.0), self.count)

    def log_moment(self, tau: float) -> Ball:
        """K(τ) of one copy."""
        return self._cumulant(self.integral.grid(tau, 0.0), tau)[0]

    def _own_decay(self, tau: float, care: Care) -> Decay:
        """Uniform pieces of the density bound all frequencies; a few values of |φ| carried down by 1 − ψ(s) ≥ (1 −
        ψ(ns))/n² sharpen that.
        """
        law = self._tilt(self.integral.grid(tau, 0.0), tau, 0.0)
        scale = 1 / math.sqrt(max(law.variance, 1e-300))
        edge = float(np.abs(law.grid.loss[[0, -1]] - law.mean).max())
        # the variance of the law itself: what the grid says, and what quadrature and window may leave out of it
        variance = 1.01 * law.variance + law.missing * (2 * law.variance + 36 + 4 * edge * edge)
        thorough = care is Care.MOST
        uniform = uniform_decay(self._uniform_pieces(law, tau, care), self.count)
        if care is Care.LEAST:
            return self._by_moments(law, uniform, edge)
        # The nearest frequencies beyond which the uniform bound is already enough make the best anchors.
        ladder = scale * (_LONG_LADDER if thorough else _LADDER)
        anchors = ladder[uniform(ladder) < -120][: 2 if thorough else 1].tolist() or ladder[-3:].tolist()
        law = self._tilt(self.integral.make(tau, anchors[-1] * 1.5, 16.0), tau, anchors[-1] * 1.5)
        parts = 32 if thorough else 8
        rungs = np.concatenate([anchor * (1 + np.arange(parts // 2 + 1) / parts) for anchor in anchors])
        c, d, error_c, error_d = self._centred(law, rungs)
        # ψ = (1 − C)² + D², so 1 − ψ = 2C − C² − D²; between rungs ψ exceeds its ends by at most variance·(gap)²/4
        gone = 2 * c - c * c - d * d - 2 * error_c - 2 * np.abs(d) * error_d - error_d * error_d - 4 * UNIT
        lowest = gone.reshape(len(anchors), parts // 2 + 1).min(axis=1)
        floors = [
            (anchor, float(low) - variance * (anchor / parts) ** 2 / 4)
            for anchor, low in zip(anchors, lowest, strict=True)
        ]
        return _sharpened(uniform, floors, self.count)

    def _by_moments(self, law: _Tilted, uniform: Decay, edge: float) -> Decay:
        """1 − ψ(s) = E[1 − cos(sY)] ≥ s²E[Y²]/2 − s⁴E[Y⁴]/24 for small s, uniform pieces beyond."""
        apart = np.square(law.grid.loss - law.mean)
        second, fourth = law.variance, float(law.weights @ np.square(apart))
        least = 0.99 * second - law.missing * (2 * second + 36 + 4 * edge**2)
        most = 1.01 * (fourth + 3 * second**2) + 4 * law.missing * (8 * fourth + 2600 + 16 * edge**4)
        if not least > 0:
            return uniform
        turn = math.sqrt(6 * least / most)
        beyond = float(uniform(np.array([turn]))[0])

        def bound(s: Array) -> Array:
            square = np.square(np.minimum(s, turn))
            gone = square * (least - square * most / 12) * (1 - 1e-9)
            here = np.maximum(0.5 * self.count * np.log1p(-gone), beyond)
            # beyond the turn the uniform bound falls further, where that is of use
            return here if beyond < _ENOUGH else np.where(s <= turn, here, uniform(s))

        return bound

    def _uniform_pieces(self, law: _Tilted, tau: float, care: Care) -> list[Array]:
        """Several ways to cut the density into cells: around the tilted mean, around 0, and (for losses of two scales)
        everywhere.
        """
        centre = float(law.weights @ law.grid.x)
        spread = math.sqrt(max(float(law.weights @ np.square(law.grid.x - centre)), 1e-300))
        power = (1 + tau) if self.integral.removed else -tau
        low, high = float(law.grid.x[0]), float(law.grid.x[-1])
        middle, half = (low + high) / 2, (high - low) / 2
        ways = [(centre, 2.5 * spread, 4)]
        if care is not Care.LEAST:
            ways += [(centre, 2.5 * spread, 12), (0.0, 3 * self.integral.sigma, 24), (middle, half, 40)]
        if care is Care.MOST:
            ways += [(centre, 2.5 * spread, 40), (0.0, 3 * self.integral.sigma, 6), (middle, half, 288)]
        sets = [self._pieces(c + wide * _RULERS[parts], power, law) for c, wide, parts in ways]
        return [pieces for pieces in sets if len(pieces)] or [np.array([[0.0, 1.0]])]

    def _pieces(self, edges: Array, power: float, law: _Tilted) -> Array:
        """(share, width) of the uniform part of each cell."""
        square = self.integral.sigma * self.integral.sigma
        u = (2 * edges - 1) / (2 * square)
        log_odds = self.integral.losses(u)[1]
        # ln of the density of L is ln φ + (p+1)·ln A − u + ln χ + const; its convex part bends by at most (p+1)/(4σ⁴)
        height = -edges * edges / (2 * square) + (power + 1) * log_odds - u + self.integral.log_cut(edges)
        height += math.log(self.integral.sigma / (self.integral.rate * math.sqrt(2 * math.pi))) - up(law.cumulant)
        cell = float(edges[1] - edges[0])
        sag = max(power + 1, 0.0) * cell * cell / (32 * square * square)
        least = np.minimum(height[1:], height[:-1]) - sag - 1e-9 * (1 + np.abs(height[1:]) + np.abs(height[:-1]))
        width = np.diff(log_odds) * (1 - 1e-9)
        share = np.exp(np.minimum(least, 700.0)) * width
        kept = (share > 0) & (width > 0) & np.isfinite(share)
        return np.column_stack([share[kept], width[kept]])

    def _cumulant(self, grid: Grid, tau: float) -> tuple[Ball, Array, Array]:
        """K(τ) of one copy as a ball, with the log-weights and their errors."""
        n, exponent = len(grid.x), tau * grid.loss
        log_weights = grid.log_mass + exponent
        top, weight_error = float(log_weights.max()), self._weight_errors(grid, tau, exponent, log_weights)
        missing = self.integral.missing(grid, tau, 0.0) + float(self.given_up) / self.count
        if top < 300 and self.integral.whole:
            terms = _expm1_terms(grid, tau)
            value = float(terms.sum())
            error = float(np.abs(terms) @ (2.2 * weight_error)) + float(np.exp(log_weights) @ grid.loss_error) * tau
            error += (n + 8) * UNIT * float(np.abs(terms).sum()) + missing * (2 + abs(value))
            return arb(value, SAFETY * error).log1p(), log_weights, weight_error
        weights = np.exp(log_weights - top)
        total = float(weights.sum())
        slack = float(weights @ weight_error) / total + (n + ULPS) * UNIT + missing
        if not slack < 0.01:
            raise ArithmeticError("the moment is not known precisely enough")
        return arb(top + math.log(total), SAFETY * slack + 4 * UNIT * abs(top)), log_weights, weight_error

    def _tilt(self, grid: Grid, tau: float, reach: float) -> _Tilted:
        """The tilted law with its errors."""
        if self._law is not None and self._law.grid is grid and self._key == (tau, reach):
            return self._law
        n = len(grid.x)
        if self._law is not None and self._law.grid is grid and self._key[0] == tau:
            missing = 2 * (self.integral.missing(grid, tau, reach) + float(self.given_up) / self.count)
            self._law, self._key = replace(self._law, missing=missing), (tau, reach)
            return self._law
        cumulant, log_weights, weight_error = self._cumulant(grid, tau)
        weights = np.exp(log_weights - float(log_weights.max()))
        weights /= float(weights.sum())
        mean = float(weights @ grid.loss)
        apart = np.abs(grid.loss - mean)
        # the normaliser's own error is shared by all weights
        weight_error = weight_error + float(weights @ weight_error) + (n + 4) * UNIT
        shift = grid.loss_error + 2 * UNIT * (apart + np.abs(grid.loss))
        error_d = float(weights @ (weight_error * apart + shift)) + (ULPS + n + 4) * UNIT * float(weights @ apart)
        error_c = float(weights @ (weight_error * apart * apart / 2 + apart * shift + shift * shift / 2))
        missing = 2 * (self.integral.missing(grid, tau, reach) + float(self.given_up) / self.count)
        self._law = _Tilted(grid, cumulant, weights, mean, float(weights @ (apart * apart)), error_d, error_c, missing)
        self._key = (tau, reach)
        return self._law


def _of_part(part: Decay, weight: float, count: int) -> Decay:
    """The law contains ``weight`` of a part with characteristic function φ_b: |φ| ≤ 1 − weight·(1 − |φ_b|)."""
    return lambda s: count * np.log1p(weight * np.expm1(part(s)) * (1 - 1e-9))


def _sharpened(uniform: Decay, floors: Sequence[tuple[float, float]], count: int) -> Decay:
    """For s ≤ a/2 some multiple ns lies in [a, 1.5a], where 1 − ψ ≥ f: so 1 − ψ(s) ≥ f/n² with n ≤ a/s + 1; beyond a
    the uniform bound holds.
    """
    known = [(anchor, floor, float(uniform(np.array([anchor]))[0])) for anchor, floor in floors if floor > 0]

    def bound(s: Array) -> Array:
        best = uniform(s)
        for anchor, floor, beyond in known:
            n = anchor / s + 1
            here = 0.5 * count * np.log1p(-np.minimum(floor / (n * n), 0.5)) * (1 - 1e-9)
            best = np.where(s <= anchor / 2, np.minimum(best, np.maximum(here, beyond)), best)
        return best

    return bound


def _expm1_terms(grid: Grid, tau: float) -> Array:
    """p·(e^{τL} − 1), without overflow where p is tiny and e^{τL} huge."""
    exponent = tau * grid.loss
    mass = np.exp(grid.log_mass)
    small = np.abs(exponent) < 1
    return np.where(small, mass * np.expm1(np.where(small, exponent, 0.0)), np.exp(grid.log_mass + exponent) - mass)


def sampled_factor(loss: Loss, count: int, log_delta: float) -> Factor | None:
    """The factor for one direction of a sampled Gaussian."""
    if isinstance(loss, (_Remove, _Add)):
        integral = SampledIntegral(loss.sigma, loss.rate, count, log_delta, removed=isinstance(loss, _Remove))
        return SampledFactor(integral, count)
    return None
