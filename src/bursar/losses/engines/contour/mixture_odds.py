"""The odds R(x) = Σ p_i·e^{(2a_i·x − a_i²)/(2s²)} of a mixture of Gaussians, in floats with bounds of their errors.

Units are such that the largest shift is 1: 0 ≤ a_i ≤ 1. All terms of R turn the same way off the real line, by at most
θ on Im x = θs², so for θ < π they lie in one sector and R does not vanish (proofs/contour.md §10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, relative_radius
from bursar.numerics.products import product
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_AT_ONCE = 1_000_000  # places times shifts
_NOTHING = 700.0  # of exponents: terms so much below others are no part of R
_NEAR = 0.5  # of R − 1: nearer to 1, ln R comes from the difference, further away from the terms themselves


@dataclass(frozen=True)
class MixtureOdds:
    """Shifts in rising order, the largest 1, and their weights, which add up to 1."""

    sigma: float
    shifts: Array
    weights: Array
    spread: float
    """Every reading of σ, of a shift and of a weight lies within this relative distance of the float."""

    @staticmethod
    def of(sigma: Ball, shifts: Sequence[Ball], weights: Sequence[Ball]) -> MixtureOdds:
        """The floats nearest to these balls."""
        known = [sigma, *weights, *(shift for shift in shifts if shift > 0)]
        spread = 4 * UNIT + max(map(relative_radius, known))
        return MixtureOdds(float(sigma), np.array([*map(float, shifts)]), np.array([*map(float, weights)]), spread)

    @property
    def none(self) -> float:
        """The weight of the shift 0, which is the least value of R."""
        return float(self.weights[0]) if self.shifts[0] == 0 else 0.0

    def exponents(self, x: Array) -> Array:
        """(2a_i·x − a_i²)/(2s²) for each shift in rows and each place in columns."""
        a, half = self.shifts[:, None], 0.5 / self.sigma**2
        found: Array = a * (2 * x - a) * half
        return found

    def _doubts(self, x: Array) -> Array:
        """How far exponents may be off, for every reading of σ and of the shifts."""
        a, half = self.shifts[:, None], 0.5 / self.sigma**2
        found: Array = 6 * (self.spread + UNIT) * (a * (2 * np.abs(x) + a) * half)
        return found

    def log(self, x: Array) -> tuple[Array, Array]:
        """A bound of the absolute error of ln R, and ln R."""
        most = max(_AT_ONCE // len(self.weights), 1)
        if len(x) > most:
            blocks = [self.log(x[start : start + most]) for start in range(0, len(x), most)]
            return np.concatenate([error for error, _ in blocks]), np.concatenate([value for _, value in blocks])
        e, p = self.exponents(x), self.weights[:, None]
        doubt = self._doubts(x)
        top = e.max(axis=0)
        terms = p * np.exp(e - top)
        total = terms.sum(axis=0)
        far = top + np.log(total)
        moved = (terms * (doubt + 2 * UNIT * np.abs(e - top))).sum(axis=0) / total
        adding = (ULPS + len(p) + 4) * (UNIT + self.spread)
        with np.errstate(over="ignore"):
            parts = p * np.expm1(np.minimum(e, 600.0))
        y = parts.sum(axis=0)
        near = np.abs(y) <= _NEAR
        value = np.where(near, np.log1p(np.where(near, y, 0.0)), far)
        # near 1 what is rounded is R − 1, elsewhere it is R
        rounded = np.where(near, 2 * adding * np.abs(parts).sum(axis=0), adding + 2 * UNIT * np.abs(top))
        return SAFETY * (moved + rounded + (ULPS + 2) * UNIT * np.abs(value)), value

    def log_shares(self, x: Array) -> Array:
        """ln of at most how much of R each term is, for each shift in rows and each place in columns."""
        terms = self.exponents(x) + np.log(self.weights)[:, None]
        above = terms - terms.max(axis=0)
        doubt = self._doubts(x) + 4 * UNIT * (np.abs(above) + np.abs(np.log(self.weights))[:, None])
        # a term's share is as uncertain as its exponent and those of all that may weigh something beside it
        beside = np.where(above + 2 * doubt > -_NOTHING, doubt, 0.0).max(axis=0)
        found: Array = above - np.log(np.exp(above).sum(axis=0)) + SAFETY * (doubt + beside) + 4 * self.spread + 1e-9
        return found

    def mean_shift(self, x: Array, power: int = 1) -> Array:
        """Σ a_i^power·w_i/Σ w_i with the terms w_i of R: s² times the slope of ln R, of which no digits are claimed but
        the first eight.
        """
        e = self.exponents(x)
        terms = self.weights[:, None] * np.exp(e - e.max(axis=0))
        found: Array = (self.shifts[:, None] ** power * terms).sum(axis=0) / terms.sum(axis=0)
        return found

    def log_mean_shift(self, x: Array) -> Array:
        """The logarithm of the same, also where it underflows."""
        e, positive = self.exponents(x), self.shifts > 0
        over = e[positive] + np.log(self.weights[positive] * self.shifts[positive])[:, None]
        top = over.max(axis=0)
        found: Array = top + np.log(np.exp(over - top).sum(axis=0)) - self.log(x)[1]
        return found

    def angles(self, x: Array, thetas: Array) -> Array:
        """arg R on each line Im x = θs² in rows, at each place in columns: between 0 and θ, rising with x."""
        e = self.exponents(x)
        terms = self.weights[:, None] * np.exp(e - e.max(axis=0))
        turned = np.multiply.outer(thetas, self.shifts)
        found: Array = np.arctan2(product(np.sin(turned), terms), product(np.cos(turned), terms))
        return found

    def place(self, loss: Array, low: float, high: float) -> Array:
        """The x at which ln R has a value, roughly; infinite outside of [low, high]: a table, then Newton's steps."""
        x = np.linspace(low, high, 4001)
        known = self.log(x)[1]
        at = np.interp(loss, known, x)
        cell = float(x[1] - x[0])
        for _ in range(3):
            slope = np.maximum(self.mean_shift(at), 1e-300) / self.sigma**2
            at = np.clip(at - np.clip((self.log(at)[1] - loss) / slope, -cell, cell), low, high)
        return np.where(loss < known[0], -math.inf, np.where(loss > known[-1], math.inf, at))
