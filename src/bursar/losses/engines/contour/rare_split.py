"""The losses of one sampled Gaussian with a record removed, split into small and large ones.

With χ₁(x) = Φ((x − c)/a) and χ₀ = 1 − χ₁ the moment M(t) = ∫ φ_σ·A^{1+t}·χ is F₀ + F₁,

    F_j(t) = ∫ φ_σ·A^{1+t}·χ·χ_j.

Upper sums over cells of ∫ φ_σ·A^{1+τ}·χ·χ_j·e^{±s·arg A} on the line Im x = θσ² bound two things (proofs/contour.md
§6): with the plus sign what the trapezoid sum of F_j errs by, with the minus sign |F_j(τ + is)| itself.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from flint import arb

from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_growth import THETAS
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_law import Tilted, centred_law, expm1_terms, weight_errors
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, down
from bursar.numerics.lattice import short
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, log_normal_cdf

SMALL, LARGE = 0, 1
_CELLS = 3000
_DEEP = 30.0  # by how much the windows go further than for the whole law: large losses are rare
_CLOSER = 12.0  # in logarithms: the quadrature is so much closer than for the whole law, whose tilt loses fewer digits
_MOST_NODES = 40_000
_UNITS = 3.0  # of ε: from here on losses are told apart over half a unit
_SLACK = 0.01  # for rounding in the upper sums


def softness(integral: SampledIntegral, floor: float) -> float:
    """How softly small and large losses are told apart: over a share of a unit of u, smaller where ε itself is below a
    unit, unless the record's own losses are plainly large.
    """
    plain = 1 / (2 * integral.sigma**2) + math.log(integral.rate) > 10
    share = 0.5 if floor > _UNITS else 0.25 if plain else 0.12
    return share * min(integral.sigma**2, integral.sigma)


class Split:
    """Both parts, for tilts up to ``most``."""

    def __init__(self, integral: SampledIntegral, place: float, most: float, soft: float) -> None:
        self.integral, self.place, self.most, self.soft = integral, place, most, soft
        wide = math.sqrt(2 * (integral.tolerance + _DEEP))
        low, high = integral.window(most)
        self.low, self.high = min(low, -integral.sigma * wide), high + integral.sigma * wide
        if not self.low < place < self.high:
            raise ArithmeticError("the split lies outside the window")
        sigma, rate = integral.exact
        b = (sigma * sigma + arb(self.soft) ** 2).sqrt()
        large = (1 - rate) * normal.cdf(-arb(place) / b) + rate * normal.cdf((1 - arb(place)) / b)
        # both cuts together take between this and κ more from the whole
        self.taken = large.union(large + SAFETY * arb(integral.lost))
        self.edges = np.linspace(self.low, self.high, _CELLS + 1)
        square = integral.sigma**2
        u = np.minimum((2 * self.edges - 1) / (2 * square), 600.0)
        odds = integral.rate * np.exp(u)
        self.angles = np.arctan2(
            np.multiply.outer(np.sin(THETAS), odds), 1 - integral.rate + np.multiply.outer(np.cos(THETAS), odds)
        )
        self.base = (THETAS * square) ** 2 / 2 * (1 / square + 1 / integral.soft**2 + 1 / self.soft**2)
        self._shapes: dict[tuple[int, float], tuple[Array, float, float]] = {}

    def lifts(self, part: int, tau: float, s: float, sign: int) -> Array:
        """ln of a bound of the integral of the modulus on the line Im x = θσ², for each θ."""
        if (part, tau) not in self._shapes:
            self._shapes[part, tau] = self._shape(part, tau)
        top, left, right = self._shapes[part, tau]
        angles, ends = (
            (self.angles[:, 1:], (self.angles[:, 0], THETAS))
            if sign > 0
            else (self.angles[:, :-1], (np.zeros(len(THETAS)), self.angles[:, -1]))
        )
        shape = top + sign * s * angles
        peak = shape.max(axis=1)
        inside = peak + np.log(np.exp(shape - peak[:, None]).sum(axis=1))
        outside = np.logaddexp(left + sign * s * ends[0], right + sign * s * ends[1])
        bounds: Array = self.base + np.logaddexp(inside, outside) + _SLACK
        return bounds

    def _shape(self, part: int, tau: float) -> tuple[Array, float, float]:
        """ln of upper bounds of the integral over each cell, left and right of all cells, on the real line."""
        integral, x = self.integral, self.edges
        square, order, cells = integral.sigma**2, 1 + tau, np.diff(x)
        error, log_odds = integral.losses((2 * x - 1) / (2 * square))
        away = np.maximum((x - self.place if part == SMALL else self.place - x) / self.soft, 0.0)
        beyond = np.maximum((x - integral.cut) / integral.soft, 0.0)
        # Φ(−z) ≤ e^{−z²/2} for z ≥ 0; what is concave may rise above the ends of a cell
        height = -x * x / (2 * square) - (away * away + beyond * beyond) / 2 + order * (log_odds + error)
        rise = cells * cells / 8 * (1 / square + 1 / integral.soft**2 + 1 / self.soft**2)
        scale = math.log(integral.sigma * math.sqrt(2 * math.pi))
        top = np.maximum(height[1:], height[:-1]) + rise + np.log(cells) - scale
        left = math.log(0.5) - self.low**2 / (2 * square) - float(away[0]) ** 2 / 2
        fall = self.high / square + float(beyond[-1]) / integral.soft - order / square
        fall += float(away[-1]) / self.soft
        if self.high < integral.cut or self.high < self.place or fall <= 0:
            return top, left, math.inf
        grown = order * math.log(2) + max(order * (math.log(integral.rate) + (2 * self.high - 1) / (2 * square)), 0.0)
        edge = -(self.high**2) / (2 * square) - (float(away[-1]) ** 2 + float(beyond[-1]) ** 2) / 2
        return top, left, grown + edge + math.log(2 / fall) - scale

    def missing(self, part: int, grid: Grid, tau: float, s: float) -> float:
        """What quadrature and window leave out of F_j, absolutely."""
        gain = 2 * math.pi * THETAS * self.integral.sigma**2 / grid.step
        lifts = self.lifts(part, tau, s, 1)
        # 2/(e^g − 1) ≤ 3e^{−g} from e^g = 3 on
        depth = float(np.where(gain > 1.1, lifts - gain, np.inf).min())
        _, left, right = self._shapes[part, tau]
        return SAFETY * (3 * math.exp(min(depth, 700.0)) + math.exp(left) + math.exp(min(right, 700.0)))

    def grid(self, tau: float, reach: float) -> tuple[Grid, Grid]:
        """The nodes with the masses of both parts, for this tilt and frequencies up to this."""
        gain, tolerance = 2 * math.pi * THETAS * self.integral.sigma**2, self.integral.tolerance
        deep = (tolerance + _CLOSER, 25.0 + _CLOSER - float(self.lifts(LARGE, tau, 0.0, 1)[0] - self.base[0]))
        steps = [
            float((gain / (np.maximum(self.lifts(part, tau, reach, 1), 0.0) + deep[part])).max())
            for part in (SMALL, LARGE)
        ]
        step = short(0.97 * min(steps), 5)
        if not self.high - self.low < _MOST_NODES * step:
            raise ArithmeticError("too many nodes in x for a split")
        whole = self.integral.nodes(tau, reach, (self.low, self.high), step)
        return self.part(whole, SMALL), self.part(whole, LARGE)

    def part(self, whole: Grid, part: int) -> Grid:
        """The masses times χ_j."""
        z = (whole.x - self.place) / self.soft
        side = -z if part == SMALL else z
        # far out Φ(−z) is between 0 and e^{−z²/2}
        far = side < -28
        logs = np.where(far, -0.5 * side * side, 0.0)
        logs[~far] = log_normal_cdf(side[~far])
        doubt = (ULPS + 8) * UNIT * (1 + np.where(side < 9, 1 + z * z, 0.0)) + np.where(far, 1.0, 0.0)
        log_mass = whole.log_mass + logs
        return replace(whole, log_mass=log_mass, mass=np.exp(log_mass), mass_error=whole.mass_error + doubt)

    def moment(self, part: int, grid: Grid, tau: float) -> tuple[Ball, Array, Array]:
        """F_j(τ) as a ball, with the log-weights and their errors."""
        exponent = tau * grid.loss
        log_weights = grid.log_mass + exponent
        errors = weight_errors(grid, tau, exponent, log_weights)
        missing, n = self.missing(part, grid, tau, 0.0), len(grid.x)
        if part == SMALL:
            # F₀(0) is known, so the sum is of F₀(τ) − F₀(0): k copies ask for its error, not for that of 1
            terms = expm1_terms(grid, tau)
            slack = summed(np.abs(terms), 2.2 * errors) + summed(np.exp(log_weights), grid.loss_error) * tau
            slack += (n + 8) * UNIT * float(np.abs(terms).sum()) + missing + self.missing(part, grid, 0.0, 0.0)
            return 1 - self.taken + arb(float(terms.sum()), SAFETY * slack), log_weights, errors
        if float(log_weights.max()) > 600:
            raise ArithmeticError("the moments of large losses are too large")
        weights = np.exp(log_weights)
        total = float(weights.sum())
        slack = summed(weights, errors) + (n + ULPS) * UNIT * total + missing
        return arb(total, SAFETY * slack), log_weights, errors

    def law(self, part: int, grid: Grid, tau: float, reach: float) -> tuple[Ball, Tilted]:
        """F_j(τ), and the tilted law of the part for frequencies up to this."""
        total, log_weights, errors = self.moment(part, grid, tau)
        least = down(total)
        if not least > 0:
            raise ArithmeticError("a part is too light to be told from nothing")
        missing = 2 * (self.missing(part, grid, tau, reach) + self.missing(part, grid, tau, 0.0)) / least
        return total, centred_law(grid, total.log(), log_weights, errors, missing)
