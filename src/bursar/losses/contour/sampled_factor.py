"""The Poisson-sampled Gaussian for the contour engine: its moments as short sums over x, with every error bounded.

With odds A(x) = 1 − q + q·e^{(2x−1)/(2σ²)} and loss L = ±ln A, the moment E[e^{tL}] is ∫ φ_σ(x)·A(x)^p dx, with p = 1
+ t where a record
is removed and p = −t where it is added. The derivations are in proofs/contour.md §4:

    quadrature   the integrand is analytic for |Im x| < πσ², so the trapezoid sum errs by at most 2·N_θ/(e^{2πθσ²/h} −
    1) for every 0 < θ < π,
                 N_θ the integral of its modulus on the lines Im x = ±θσ²
    cut          where a record is removed, large x are smoothly given up: the density is multiplied by Φ((c − x)/a),
    which takes away
                 the mass κ = (1−q)Φ̄(c/b) + qΦ̄((c−1)/b), b² = σ² + a², and can only lower δ, by at most count·κ
    window       normal tails, through A^a ≤ 2^a·(1 + q^a·e^{a(2x−1)/(2σ²)}) (removed), A^{−τ} ≤ (1−q)^{−τ} (added)
    rounding     sums are centred at the tilted mean m: φ − 1 = −2Σw·sin²(s(L−m)/2) + iΣw·sin(s(L−m)), so that errors
                 grow like the square root of the count; nodes x are multiples of a power of two, hence exact
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb, arb

from bursar.losses._base import Loss
from bursar.losses.contour.factors import Decay, Factor, uniform_decay
from bursar.losses.sampled_gaussian import _Add, _Remove
from bursar.numerics import normal
from bursar.numerics.balls import Ball, ComplexBall
from bursar.numerics.lattice import short

UNIT = 2.0**-53
ULPS = 8  # what numpy's exp, expm1, log1p, sin and cos are trusted with: tests sample them against balls
_THETAS = np.array([0.05, 0.12, 0.25, 0.5, 0.9, 1.4, 2.0, 2.7])
_MOST_NODES = 60_000
_PROBES = np.array([0.01, 0.3, 3.0, 60.0])
_LADDER = np.array([0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 1.5])
_SAFETY = 1.01  # the error bounds are themselves computed in floats

Array = Any


@dataclass
class _Grid:
    """Nodes for tilts up to ``tau`` and frequencies up to ``reach``, with bounds of the errors of their losses and
    log-masses.
    """

    tau: float
    reach: float
    x: Array
    loss: Array
    log_mass: Array
    loss_error: Array
    mass_error: Array
    step: float


@dataclass
class _Tilted:
    """The normalised tilted law on the grid, and the errors of its centred sums."""

    grid: _Grid
    cumulant: Ball
    weights: Array
    mean: float
    variance: float
    error_d: float
    error_c: float
    missing: float


class SampledFactor(Factor):
    """``count`` copies of a Poisson-sampled Gaussian, in one direction; exact up to a loss of ``given_up`` in δ."""

    def __init__(self, sigma: Ball, rate: Ball, count: int, log_delta: float, *, removed: bool) -> None:
        self.count, self.removed = count, removed
        self.sigma, self.rate = float(sigma), float(rate)
        # every reading of σ and q lies within this relative distance of the float
        self.spread = UNIT * 4 + max(_relative(sigma), _relative(rate))
        self.tolerance = 25.0 + math.log(count)
        self.cut = math.inf
        self.given_up = arb(0)
        self.soft = self.sigma
        if removed:
            depth = max(28.0 + math.log(count) - log_delta, 1.0)
            # a Gaussian guess of the tilt: where tilts are large the cut must be sharp, or the far branch explodes
            variance = count * self.rate**2 * math.expm1(min(1 / self.sigma**2, 50.0))
            tilt = math.sqrt(2 * max(-log_delta, 1.0) / variance)
            far = 1 + self.sigma * math.sqrt(2 * depth)
            self.soft = short(self.sigma * min(1.0, math.sqrt(far / (4 * tilt))), 5)
            self.cut = math.ceil(16 * (1 + math.sqrt(2 * depth * (self.sigma**2 + self.soft**2)))) / 16
            b = (sigma * sigma + arb(self.soft) ** 2).sqrt()
            kappa = (1 - rate) * normal.cdf(-arb(self.cut) / b) + rate * normal.cdf((1 - arb(self.cut)) / b)
            self.given_up = (count * kappa).upper()
        self._grids: list[_Grid] = []
        self._law: _Tilted | None = None
        self._tau = math.nan

    def rough(self, tau: float) -> tuple[float, float, float]:
        """From the nodes."""
        grid = self._grid(tau, 8.0)
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
        grid = self._grid(max(tilts), 0.0)
        return [self.count * self._cumulant(grid, tilt)[0] for tilt in tilts]

    def log_moments(self, tau: float, frequencies: Sequence[float]) -> list[ComplexBall]:
        """K(τ) + ims + ln(1 − C + iD), with C and D in floats and their errors in the balls."""
        law = self._tilt(self._grid(tau, max(frequencies)), tau)
        c, d, error_c, error_d = self._centred(law, np.asarray(frequencies))
        result = []
        for i, frequency in enumerate(frequencies):
            phi = acb(1 - arb(float(c[i]), float(error_c[i])), arb(float(d[i]), float(error_d[i])))
            turn = acb(0, arb(law.mean) * arb(frequency))
            result.append(self.count * (law.cumulant + turn + phi.log()))
        return result

    def _centred(self, law: _Tilted, s: Array) -> tuple[Array, Array, Array, Array]:
        """C = 2Σw·sin²(s(L−m)/2) and D = Σw·sin(s(L−m)), and bounds of their errors."""
        phase = np.multiply.outer(s, law.grid.loss - law.mean)
        d = np.sin(phase) @ law.weights
        c = 2 * (np.square(np.sin(0.5 * phase)) @ law.weights)
        rounding = (2 * ULPS + len(law.weights) + 4) * UNIT
        error_c = _SAFETY * (law.error_c * s * s + rounding * c) + law.missing
        return c, d, error_c, _SAFETY * law.error_d * s + law.missing

    def decay(self, tau: float, *, thorough: bool) -> Decay:
        """Uniform pieces of the density bound all frequencies; a few values of |φ| carried down by 1 − ψ(s) ≥ (1 −
        ψ(ns))/n² sharpen that.
        """
        law = self._tilt(self._grid(tau, 0.0), tau)
        scale = 1 / math.sqrt(max(law.variance, 1e-300))
        ways = self._uniform_pieces(law, tau)
        uniform = uniform_decay(ways if thorough else _best(ways, scale), self.count)
        # The nearest frequencies beyond which the uniform bound is already enough make the best anchors.
        ladder = scale * _LADDER
        anchors = ladder[uniform(ladder) < -120][:2].tolist() or ladder[-3:].tolist()
        law = self._tilt(self._make(tau, anchors[-1] * 2, 16.0), tau)
        rungs = np.array([anchor * (1 + part / 8) for anchor in anchors for part in range(9)])
        c, d, error_c, error_d = self._centred(law, rungs)
        # ψ = (1 − C)² + D², so 1 − ψ = 2C − C² − D²; between rungs ψ exceeds its ends by at most variance·(gap)²/4
        gone = 2 * c - c * c - d * d - 2 * error_c - 2 * np.abs(d) * error_d - error_d * error_d - 4 * UNIT
        floors = []
        for i, anchor in enumerate(anchors):
            gap = anchor / 8
            floors.append((anchor, float(gone[9 * i : 9 * i + 9].min()) - 1.01 * law.variance * gap * gap / 4))
        return _sharpened(uniform, floors, self.count)

    def _uniform_pieces(self, law: _Tilted, tau: float) -> list[list[tuple[float, float]]]:
        """Several ways to cut the density into cells: around the tilted mean, around 0, and (for losses of two
        scales) everywhere.
        """
        centre = float(law.weights @ law.grid.x)
        spread = math.sqrt(max(float(law.weights @ np.square(law.grid.x - centre)), 1e-300))
        power = (1 + tau) if self.removed else -tau
        low, high = float(law.grid.x[0]), float(law.grid.x[-1])
        ways = [(centre, 2.5 * spread, parts) for parts in (4, 12, 40)] + [
            (0.0, 3 * self.sigma, parts) for parts in (6, 24)
        ]
        ways += [((low + high) / 2, (high - low) / 2, parts) for parts in (32, 96, 288)]
        sets = [self._pieces(np.linspace(c - half, c + half, parts + 1), power, law) for c, half, parts in ways]
        return [pieces for pieces in sets if pieces] or [[(0.0, 1.0)]]

    def _pieces(self, edges: Array, power: float, law: _Tilted) -> list[tuple[float, float]]:
        """(share, width) of the uniform part of each cell."""
        square = self.sigma * self.sigma
        u = (2 * edges - 1) / (2 * square)
        log_odds = self._losses(u)[1]
        # ln of the density of L is ln φ + (p+1)·ln A − u + ln χ + const; its convex part bends by at most (p+1)/(4σ⁴)
        height = -edges * edges / (2 * square) + (power + 1) * log_odds - u + self._log_cut(edges)
        height += math.log(self.sigma / (self.rate * math.sqrt(2 * math.pi))) - float(law.cumulant)
        cell = float(edges[1] - edges[0])
        sag = max(power + 1, 0.0) * cell * cell / (32 * square * square)
        least = np.minimum(height[1:], height[:-1]) - sag - 1e-9 * (1 + np.abs(height[1:]) + np.abs(height[:-1]))
        width = np.diff(log_odds) * (1 - 1e-9)
        share = np.exp(np.minimum(least, 700.0)) * width
        return [(float(a), float(b)) for a, b in zip(share, width, strict=True) if a > 0 and b > 0 and math.isfinite(a)]

    def _log_cut(self, x: Array) -> Array:
        """A lower bound of ln Φ((c − x)/a) that is nearly the value: −0.8·e^{−z²/2} ≤ ln Φ(z) for z ≥ 1, else
        crudely.
        """
        if not self.removed:
            return np.zeros_like(x)
        z = (self.cut - x) / self.soft
        return np.where(z >= 1, -0.8 * np.exp(-0.5 * np.square(np.maximum(z, 1.0))), -1e9)

    def _grid(self, tau: float, reach: float) -> _Grid:
        """A grid that serves this tilt and these frequencies; remembered, since a search asks many times."""
        for grid in self._grids:
            if grid.tau >= tau and grid.reach >= reach and grid.tau <= 4 * tau + 4:
                return grid
        grid = self._make(1.5 * tau, 1.25 * reach, self.tolerance)
        self._grids.insert(0, grid)
        del self._grids[4:]
        return grid

    def _make(self, tau: float, reach: float, tolerance: float) -> _Grid:
        """Nodes so close that the trapezoid sum errs by less than e^{−tolerance} of the moment, at every tilt up to
        tau.
        """
        square = self.sigma * self.sigma
        low, high = self._window(tau)
        growth = self._growth(tau, reach)
        gain = 2 * math.pi * _THETAS * square
        step = short(float((gain / (np.maximum(growth, 0.0) + tolerance)).max()), 5)
        first, last = math.floor(low / step), math.ceil(high / step)
        if last - first > _MOST_NODES:
            raise ArithmeticError(f"{last - first} nodes in x are too many")
        x = np.arange(first, last + 1) * step
        loss_error, loss = self._losses((2 * x - 1) / (2 * square))
        mass_error = 4 * self.spread * x * x / (2 * square) + 8 * UNIT + self.spread
        log_mass = -x * x / (2 * square) + math.log(step / (self.sigma * math.sqrt(2 * math.pi)))
        if self.removed:
            z = (self.cut - x) / self.soft
            log_mass = log_mass + loss + _log_normal_cdf(z)
            mass_error = mass_error + loss_error + (ULPS + 8) * UNIT * (1 + np.where(z < 9, 1 + z * z, 0.0))
        return _Grid(tau, reach, x, loss if self.removed else -loss, log_mass, loss_error, mass_error, step)

    def _growth(self, tau: float, reach: float) -> Array:
        """ln of N_θ relative to the moment, for each θ: the modulus grows by e^{θ²σ²/2} (the density), e^{(θσ²/a)²/2}
        (the cut), cos(θ/2)^{−τ}
        (a power of A below 0) and e^{s·|arg A|} (the phase), which is averaged over the tilted law by an upper sum.
        """
        square = self.sigma * self.sigma
        base = _THETAS**2 * square / 2
        if self.removed:
            base = base + (_THETAS * square / self.soft) ** 2 / 2
        else:
            base = base - tau * np.log(np.cos(_THETAS / 2))
        if reach == 0:
            return base
        x = np.linspace(*self._window(tau), 161)
        cell = float(x[1] - x[0])
        u = np.minimum((2 * x - 1) / (2 * square), 600.0)
        odds = self.rate * np.exp(u)
        angle = np.arctan2(
            np.multiply.outer(np.sin(_THETAS), odds), 1 - self.rate + np.multiply.outer(np.cos(_THETAS), odds)
        )
        power = (1 + tau) if self.removed else -tau
        height = -x * x / (2 * square) + power * self._losses(u)[1]
        upper, lower = height, height
        if self.removed:
            z = np.maximum((x - self.cut) / self.soft, 0.0)
            upper, lower = height - 0.5 * z * z, height + self._log_cut(x)  # Φ(−z) ≤ e^{−z²/2}
        # on a cell the logarithm is a concave function plus a convex one: the first may rise above its ends, the
        # second sag below
        rise = cell * cell / 8 * (1 / square + (1 / self.soft**2 if self.removed else 0.0))
        sag = cell * cell / 8 * abs(power) / (4 * square * square)
        top = np.maximum(upper[1:], upper[:-1]) + rise + (sag if power < 0 else 0.0)
        bottom = np.minimum(lower[1:], lower[:-1]) - (sag if power > 0 else 0.0)
        shape = top + reach * angle[:, 1:]
        peak = shape.max(axis=1, keepdims=True)
        mass = peak[:, 0] + np.log(np.exp(shape - peak).sum(axis=1))
        lead = float(bottom.max())
        return base + np.maximum(mass - lead - math.log(float(np.exp(bottom - lead).sum())), 0.0) + 0.01

    def _window(self, tau: float) -> tuple[float, float]:
        """Wide enough for every tilt up to tau; how much it leaves out is `_missing`'s business."""
        if not self.removed:
            edge = self.sigma * math.sqrt(2 * (self.tolerance - tau * math.log1p(-self.rate)))
            return -edge, edge
        # right of the cut the exponent −x²/2σ² − (x−c)²/2a² + αx/σ² peaks at `top`, and falls within a few widths of it
        precision = 1 / self.sigma**2 + 1 / self.soft**2
        top = max((self.cut / self.soft**2 + (1 + tau) / self.sigma**2) / precision, self.cut)
        height = max(self._far_exponent(top, 1 + tau), 0.0)
        return -self.sigma * math.sqrt(2 * self.tolerance), top + math.sqrt(
            2 * (self.tolerance + height + 2) / precision
        )

    def _far_exponent(self, x: float, order: float) -> float:
        """ln of a bound of the integrand right of the cut: A^a ≤ 2^a·max(1, q^a·e^{a(2x−1)/(2σ²)}), Φ(−z) ≤
        e^{−z²/2}.
        """
        square = self.sigma * self.sigma
        grown = max(order * (math.log(self.rate) + (2 * x - 1) / (2 * square)), 0.0)
        return order * math.log(2) + grown - x * x / (2 * square) - max(x - self.cut, 0.0) ** 2 / (2 * self.soft**2)

    def _missing(self, grid: _Grid, tau: float, reach: float) -> float:
        """What quadrature and window leave out, relative to the moment: normal tails are at most ½e^{−z²/2}."""
        gain = 2 * math.pi * _THETAS * self.sigma**2 / grid.step
        quadrature = 3 * math.exp(min(float((self._growth(tau, reach) - gain).min()), 0.0))
        low, high = -float(grid.x[0]) / self.sigma, float(grid.x[-1]) / self.sigma
        if not self.removed:
            lift = -tau * math.log1p(-self.rate)
            return _SAFETY * (quadrature + math.exp(lift - low * low / 2) + math.exp(lift - high * high / 2))
        order, edge = 1 + tau, float(grid.x[-1])
        # from the edge on the far exponent falls at least this fast, so the rest is at most its value there divided
        # by that
        slope = edge / self.sigma**2 + (edge - self.cut) / self.soft**2 - order / self.sigma**2
        if edge < self.cut or slope <= 0:
            return math.inf
        far = math.exp(min(self._far_exponent(edge, order), 700.0)) / (slope * self.sigma * math.sqrt(2 * math.pi))
        return _SAFETY * 1.1 * (quadrature + math.exp(-low * low / 2) + far)

    def _losses(self, u: Array) -> tuple[Array, Array]:
        """A bound of the absolute error of ln A at the nodes, and ln A."""
        capped = np.minimum(u, 600.0)
        grown = np.expm1(capped)
        y = self.rate * grown
        loss = np.log1p(y) + np.maximum(u - 600.0, 0.0)
        slope = self.rate * (grown + 1) / (1 + y)
        error = 4 * (self.spread + UNIT) * np.abs(u) * slope + (ULPS + 4) * (UNIT + self.spread) * np.abs(y) / (1 + y)
        return _SAFETY * (error + (ULPS + 2) * UNIT * np.abs(loss)), loss

    def _cumulant(self, grid: _Grid, tau: float) -> tuple[Ball, Array, Array]:
        """K(τ) of one copy as a ball, with the log-weights and their errors."""
        n, exponent = len(grid.x), tau * grid.loss
        log_weights = grid.log_mass + exponent
        sizes = np.abs(grid.log_mass) + np.abs(exponent)
        weight_error = grid.mass_error + tau * grid.loss_error + UNIT * (ULPS + 4 + 4 * sizes)
        top = float(log_weights.max())
        missing = self._missing(grid, tau, 0.0) + float(self.given_up) / self.count
        if top < 300:
            terms = _expm1_terms(grid, tau)
            value = float(terms.sum())
            error = float(np.abs(terms) @ (2 * weight_error)) + float(np.exp(log_weights) @ grid.loss_error) * tau
            error += (n + 8) * UNIT * float(np.abs(terms).sum()) + missing * (1 + abs(value))
            return arb(value, _SAFETY * error).log1p(), log_weights, weight_error
        weights = np.exp(log_weights - top)
        total = float(weights.sum())
        slack = float(weights @ weight_error) / total + (n + ULPS) * UNIT + missing
        return arb(top + math.log(total), _SAFETY * slack + 4 * UNIT * abs(top)), log_weights, weight_error

    def _tilt(self, grid: _Grid, tau: float) -> _Tilted:
        """The tilted law with its errors."""
        if self._law is not None and self._law.grid is grid and self._tau == tau:
            return self._law
        n = len(grid.x)
        cumulant, log_weights, weight_error = self._cumulant(grid, tau)
        weights = np.exp(log_weights - float(log_weights.max()))
        weights /= float(weights.sum())
        mean = float(weights @ grid.loss)
        apart = np.abs(grid.loss - mean)
        # the normaliser's own error is shared by all weights
        weight_error = weight_error + float(weights @ weight_error) + (n + 4) * UNIT
        shift = grid.loss_error + 2 * UNIT * (apart + np.abs(grid.loss))
        error_d = float(weights @ (weight_error * apart + shift)) + (ULPS + n + 4) * UNIT * float(weights @ apart)
        error_c = float(weights @ (weight_error * apart * apart / 2 + apart * shift))
        missing = 2 * (self._missing(grid, tau, grid.reach) + float(self.given_up) / self.count)
        self._law = _Tilted(grid, cumulant, weights, mean, float(weights @ (apart * apart)), error_d, error_c, missing)
        self._tau = tau
        return self._law


def _best(ways: list[list[tuple[float, float]]], scale: float) -> list[list[tuple[float, float]]]:
    """The ways of cutting that are best at some frequency."""
    table = np.array([uniform_decay([way], 1)(scale * _PROBES) for way in ways])
    return [ways[i] for i in set(table.argmin(axis=0).tolist())]


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


def _expm1_terms(grid: _Grid, tau: float) -> Array:
    """p·(e^{τL} − 1), without overflow where p is tiny and e^{τL} huge."""
    exponent = tau * grid.loss
    mass = np.exp(grid.log_mass)
    small = np.abs(exponent) < 1
    return np.where(small, mass * np.expm1(np.where(small, exponent, 0.0)), np.exp(grid.log_mass + exponent) - mass)


def _log_normal_cdf(z: Array) -> Array:
    """ln Φ(z) at the nodes: 0 to all digits from z = 9 on, else by erfc, and in balls where that would underflow."""
    result = np.zeros_like(z)
    root = math.sqrt(0.5)
    for i in np.flatnonzero(z < 9):
        value = float(z[i])
        if value > -30:
            result[i] = math.log(0.5 * math.erfc(-value * root))
        else:
            result[i] = float(normal.cdf(arb(value)).log())
    return result


def _relative(x: Ball) -> float:
    return float((x.rad() / abs(x.mid())).upper())


def sampled_factor(loss: Loss, count: int, log_delta: float) -> Factor | None:
    """The factor for one direction of a sampled Gaussian."""
    if isinstance(loss, (_Remove, _Add)):
        return SampledFactor(loss.sigma, loss.rate, count, log_delta, removed=isinstance(loss, _Remove))
    return None
