"""The tilted law of one sampled Gaussian on a grid, and its characteristic function with bounds of all errors.

Sums over the nodes are centred at the tilted mean m: φ − 1 = −2Σw·sin²(s(L−m)/2) + iΣw·sin(s(L−m)), so that rounding
errors grow like the square root of the count, not like the count (proofs/contour.md §4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_COLUMNS = 128


@dataclass
class Tilted:
    """The normalised tilted law on the grid, and the errors of its centred sums."""

    grid: Grid
    cumulant: Ball
    weights: Array
    mean: float
    variance: float
    error_d: float
    error_c: float
    missing: float

    def centred(self, s: Array) -> tuple[Array, Array, Array, Array]:
        """C = 2Σw·sin²(s(L−m)/2) and D = Σw·sin(s(L−m)), and bounds of their errors."""
        phase = np.multiply.outer(s, self.grid.loss - self.mean)
        d = product(np.sin(phase), self.weights)
        c = 2 * product(np.square(np.sin(0.5 * phase)), self.weights)
        rounding, apart = (
            (2 * ULPS + len(self.weights) + 4) * UNIT,
            summed(self.weights, np.abs(self.grid.loss - self.mean)),
        )
        error_c = SAFETY * (self.error_c * s * s + rounding * c) + self.missing
        return c, d, error_c, SAFETY * (self.error_d + rounding * apart) * s + self.missing

    def equispaced(self, s: Array) -> tuple[Array, Array, Array, Array]:
        """The same at multiples of one frequency. With j = pR + r, a = e^{iry} − 1 and b = e^{ipRy} − 1,

            e^{ijy} − 1 = a + b(1 + a),

        so that one table of a and one of b give all of them as products of matrices.
        """
        apart = self.grid.loss - self.mean
        turn = (s[1] if len(s) > 1 else 0.0) * apart
        first = np.empty(len(turn), dtype=complex)
        first.real, first.imag = -2 * np.square(np.sin(0.5 * turn)), np.sin(turn)
        size = math.isqrt(len(s) - 1) + 1
        near = _powers(first, size + 1)
        far = _powers(near[size], -(-len(s) // size))
        c, d = (sums.ravel()[: len(s)] for sums in self._products(near[:size], far))
        tables, adding = size + len(far), (_COLUMNS + len(turn) // _COLUMNS + 8) * UNIT
        square = self.variance * s * s
        error_c = (
            self.error_c * s * s + UNIT * (3 * ULPS + 72 + 32 * tables) * square + adding * np.minimum(square, 4.0)
        )
        error_d = self.error_d + (UNIT * (ULPS + 40 + 16 * tables) + adding) * summed(self.weights, np.abs(apart))
        return -c, d, SAFETY * error_c + self.missing, SAFETY * error_d * s + self.missing

    def _products(self, near: Complexes, far: Complexes) -> tuple[Array, Array]:
        """Real and imaginary parts of Σ w(a + b(1 + a)) for every b in the rows and a in the columns, summed over a few
        nodes at a time: short sums round less.
        """
        weighted = far * self.weights
        real, imag, left, up = weighted.real.copy(), weighted.imag.copy(), near.real.copy(), near.imag.copy()
        c, d = np.zeros((len(far), len(near))), np.zeros((len(far), len(near)))
        for start in range(0, len(self.weights), _COLUMNS):
            part = slice(start, start + _COLUMNS)
            weights, re, im, sine = self.weights[part], real[:, part], imag[:, part], up[:, part]
            cosine = 1 + left[:, part]
            c += product(re, cosine.T) - product(im, sine.T) + product(left[:, part], weights)
            d += product(re, sine.T) + product(im, cosine.T) + product(sine, weights)
        return c, d


def _powers(first: Complexes, rows: int) -> Complexes:
    """e^{ijy} − 1 for j below ``rows``, from e^{iy} − 1: each is a + b + ab of the one before and the first."""
    table = np.zeros((rows, len(first)), dtype=complex)
    for i in range(1, rows):
        np.multiply(table[i - 1], first, out=table[i])
        table[i] += table[i - 1]
        table[i] += first
    return table


def tilted(integral: SampledIntegral, grid: Grid, tau: float, reach: float) -> Tilted:
    """The tilted law with its errors, for frequencies up to ``reach``."""
    cumulant, log_weights, weight_error = log_moment(integral, grid, tau)
    return centred_law(grid, cumulant, log_weights, weight_error, _left_out(integral, grid, tau, reach))


def centred_law(grid: Grid, cumulant: Ball, log_weights: Array, weight_error: Array, missing: float) -> Tilted:
    """Normalised and centred; ``missing`` is what quadrature and window leave out of the law, relative to its mass."""
    weights = np.exp(log_weights - float(log_weights.max()))
    weights /= math.fsum(weights.tolist())
    mean = summed(weights, grid.loss)
    apart = np.abs(grid.loss - mean)
    # the normaliser's own error is shared by all weights
    weight_error = weight_error + summed(weights, weight_error) + 4 * UNIT
    shift = grid.loss_error + 2 * UNIT * (apart + np.abs(grid.loss))
    error_d = summed(weights, weight_error * apart + shift)
    error_c = summed(weights, weight_error * apart * apart / 2 + apart * shift + shift * shift / 2)
    variance = summed(weights, apart * apart)
    return Tilted(grid, cumulant, weights, mean, variance, error_d, error_c, missing)


def at_reach(law: Tilted, integral: SampledIntegral, tau: float, reach: float) -> Tilted:
    """The same law for other frequencies: only what the quadrature leaves out changes."""
    return replace(law, missing=_left_out(integral, law.grid, tau, reach))


def _left_out(integral: SampledIntegral, grid: Grid, tau: float, reach: float) -> float:
    return 2 * (integral.missing(grid, tau, reach) + integral.lost)


def log_moment(integral: SampledIntegral, grid: Grid, tau: float) -> tuple[Ball, Array, Array]:
    """K(τ) of one copy as a ball, with the log-weights and their errors."""
    n, exponent = len(grid.x), tau * grid.loss
    log_weights = grid.log_mass + exponent
    top, weight_error = float(log_weights.max()), weight_errors(grid, tau, exponent, log_weights)
    missing = integral.missing(grid, tau, 0.0) + integral.lost
    if top < 300:
        terms = expm1_terms(grid, tau)
        value = float(terms.sum())
        error = summed(np.abs(terms), 2.2 * weight_error) + summed(np.exp(log_weights), grid.loss_error) * tau
        error += (n + 8) * UNIT * float(np.abs(terms).sum()) + missing * (2 + abs(value))
        return arb(value, SAFETY * error).log1p(), log_weights, weight_error
    weights = np.exp(log_weights - top)
    total = float(weights.sum())
    slack = summed(weights, weight_error) / total + (n + ULPS) * UNIT + missing
    if not slack < 0.01:
        raise ArithmeticError("the moment is not known precisely enough")
    return arb(top + math.log(total), SAFETY * slack + 4 * UNIT * abs(top)), log_weights, weight_error


def weight_errors(grid: Grid, tau: Array | float, exponent: Array, log_weights: Array) -> Array:
    """Relative errors of the tilted masses; refused where first order would not do."""
    sizes = np.abs(grid.log_mass) + np.abs(exponent)
    errors = grid.mass_error + tau * grid.loss_error + UNIT * (ULPS + 4 + 4 * sizes)
    heavy = log_weights > log_weights.max(axis=-1, keepdims=True) - 60
    if not float(np.max(np.where(heavy, errors + grid.loss_error, 0.0))) < 1e-3:
        raise ArithmeticError("rounding errors are too large to be bounded to first order")
    return errors


def expm1_terms(grid: Grid, tau: float) -> Array:
    """p·(e^{τL} − 1), without overflow where p is tiny and e^{τL} huge."""
    exponent = tau * grid.loss
    small = np.abs(exponent) < 1
    near = grid.mass * np.expm1(np.where(small, exponent, 0.0))
    return np.where(small, near, np.exp(grid.log_mass + exponent) - grid.mass)
