"""The integrals behind the moments of a mixture of Gaussians: nodes, cut, and what sums leave out.

In units of the largest shift, with s the noise and R(x) = Σ p_i·e^{(2a_i·x − a_i²)/(2s²)}, 0 ≤ a_i ≤ 1, they are those
of a sampled Gaussian with R for A (proofs/contour.md §10): R rises, ln R is convex with a slope of at most 1/s²,
on Im x = θs² all terms lie in a sector of angle θ. What differs:

    cut          takes away the mass κ = Σ p_i·Φ((a_i − c)/b), b² = s² + a²
    window       ln R(x) ≤ ln R(x₁) + (x − x₁)/s² right of x₁, and left of it where a record is added
                 −ln R(x) ≤ −ln R(x₁) + (ln R)′(x₁)·(x₁ − x): R may fall to 0 there
    quadrature   arg R need not fall to 0 on the left, so tails count on both sides
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.contour.mixture_odds import MixtureOdds
from bursar.losses.engines.contour.sampled_cut import choose_cut
from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY

_ONE_SCALE = 0.25  # of the weight of shifts above 0: with so many seen no losses are rare
_SLOWEST = 1 / 3  # of the slope at which tails fall, times s²: how far losses lie beyond an edge is bounded by that
_NEAR, _BEYOND = np.linspace(0.0, 1.0, 97), np.linspace(0.0, 1.0, 41)[1:]
_SLACK = 0.01  # of logarithms of bounds that are computed in floats


class MixtureIntegral(SampledIntegral):
    """One direction of a mixture of Gaussians, cut and windowed for ``count`` copies and a δ of this size."""

    def __init__(
        self,
        sigma: Ball,
        mixture: tuple[Sequence[Ball], Sequence[Ball]],
        count: int,
        log_delta: float,
        *,
        removed: bool,
    ) -> None:
        """``mixture`` is the shifts, in rising order, and their weights."""
        largest = mixture[0][-1]
        self.shifts, self.weights = [shift / largest for shift in mixture[0]], mixture[1]
        self.mixed = MixtureOdds.of(sigma / largest, self.shifts, self.weights)
        none = mixture[1][0] if mixture[0][0] <= 0 else arb(0)
        super().__init__(sigma / largest, 1 - none, count, log_delta, removed=removed)

    def _spread(self) -> float:
        return self.mixed.spread

    def _choose_cut(self, depth: float, tilt: float, *, seen: bool) -> tuple[float, float]:
        """As soft as for one shift, and behind all but e^{−depth} of the mass."""
        soft, _ = choose_cut(self.sigma, self.rate, depth, tilt, seen=seen)
        far = np.sqrt(2 * np.maximum(depth + np.log(self.mixed.weights), 0.0) * (self.sigma**2 + soft**2))
        return soft, math.ceil(16 * max(float((self.mixed.shifts + far).max()), 1.0)) / 16

    def _copy_variance(self) -> float:
        """About E[R²] − 1 without the record, or the variance of the loss with it, whichever is less."""
        x = np.linspace(-8 * self.sigma, 1 + 8 * self.sigma, 801)
        log = self.mixed.log(x)[1]
        mass = np.exp(-0.5 * np.square(x / self.sigma) + log)
        mass /= mass.sum()
        plain = summed(mass, np.square(log - summed(mass, log)))
        products = np.multiply.outer(self.mixed.shifts, self.mixed.shifts) / self.sigma**2
        pairs = np.expm1(np.minimum(products, 500.0)) * np.multiply.outer(self.mixed.weights, self.mixed.weights)
        return max(min(float(pairs.sum()), plain), 1e-300)

    def _beyond_cut(self) -> Ball:
        """κ = Σ p_i·Φ((a_i − c)/b)."""
        b = (self.exact[0] ** 2 + arb(self.soft) ** 2).sqrt()
        parts = (p * normal.cdf((a - arb(self.cut)) / b) for a, p in zip(self.shifts, self.weights, strict=True))
        return sum(parts, arb(0))

    def _heavy(self) -> float:
        """The tilt at which φ·R^{1+τ} is as large somewhere before the cut as at 0."""
        if not self.removed or self.rate > _ONE_SCALE:
            return math.inf
        x = np.linspace(0.0, self.cut, 400)[1:]
        loss = np.maximum(self.mixed.log(x)[1], 1e-300)
        return max(float((x * x / (2 * self.sigma**2 * loss)).min()) - 1, 1.0)

    def odds(self, x: Array) -> tuple[Array, Array]:
        """A bound of the absolute error of ln R at these places, and ln R."""
        return self.mixed.log(x)

    def log_slope(self, x: Array, odds: Array) -> Array:
        """dL/dx = Σ a_i·w_i/(s²·Σ w_i)."""
        return self.mixed.log_mean_shift(x) - 2 * math.log(self.sigma)

    def bent(self, mean: float) -> tuple[float, float]:
        """Those of a sampled Gaussian, and how far losses lie beyond the edges, where tails fall at least so fast."""
        return 72.0, 6500.0

    def growth(self, tau: float, reach: float) -> Array:
        """ln of what the modulus of the integrand grows by on each line Im x = θs², for frequencies up to ``reach``."""
        if reach == 0:
            return super().growth(tau, reach)
        if (tau, reach) not in self._growths:
            self._growths[tau, reach] = self.growth(tau, 0.0) + self._phase_growth(tau, reach)
        return self._growths[tau, reach]

    def _phase_growth(self, tau: float, reach: float) -> Array:
        """ln of the mean of e^{s·|arg R|} under the tilted law, for each θ: an upper sum over cells and its tails,
        divided by a lower sum.
        """
        x = self._line(tau, reach)
        cells, square, angle = np.diff(x), self.sigma**2, self.mixed.angles(x, self.thetas)
        unsure, log = self.odds(x)
        power = (1 + tau) if self.removed else -tau
        height = power * log - x * x / (2 * square)
        unsure = abs(power) * unsure + 1e-9 * (1 + np.abs(height))
        upper, lower, soft = height + unsure, height - unsure, 0.0
        if self.removed:
            upper = upper - 0.5 * np.square(np.maximum(-self.inside(x), 0.0))  # Φ(−z) ≤ e^{−z²/2}
            lower, soft = lower + self.log_cut(x), 1 / self.soft**2
        # the concave part may rise above the ends of a cell, the convex one sag below
        eighth = cells * cells / 8
        rise, bend = eighth * (1 / square + soft), eighth * abs(power) / (4 * square * square)
        top = np.maximum(upper[1:], upper[:-1]) + rise + (bend if power < 0 else 0.0) + np.log(cells)
        bottom = np.minimum(lower[1:], lower[:-1]) - (bend if power > 0 else 0.0) + np.log(cells)
        shape = top + reach * angle[:, 1:]
        peak = shape.max(axis=1, keepdims=True)
        mass = peak[:, 0] + np.log(np.exp(shape - peak).sum(axis=1))
        unit = math.log(self.sigma * math.sqrt(2 * math.pi))
        left, right = (math.log(max(tail, 1e-300)) + unit for tail in (self.left(-x[0], tau), self.beyond(x[-1], tau)))
        outside = np.logaddexp(left + reach * angle[:, 0], right + reach * self.thetas)
        lead = float(bottom.max())
        whole = lead + math.log(float(np.exp(bottom - lead).sum()))
        growth: Array = np.maximum(np.logaddexp(mass, outside) - whole, 0.0) + _SLACK
        return growth

    def _line(self, tau: float, reach: float) -> Array:
        """Cells for the sums: fine in the window, coarse beyond, as far as e^{s·arg R} could lift the tails."""
        low, high = self.window(tau)
        lifted = 2 * (reach * float(self.thetas[-1]) + self.tolerance + 3)
        stiff = 1 / self.sigma**2 + (1 / self.soft**2 if self.removed else 0.0)
        turned = float(self.mixed.angles(np.array([low]), self.thetas[-1:])[0, 0])
        start = low - self.sigma * math.sqrt(2 * reach * turned + 1)
        end = high + math.sqrt(lifted / stiff)
        inner = np.concatenate([low + (start - low) * _BEYOND[::-1], low + (high - low) * _NEAR])
        return np.concatenate([inner, high + (end - high) * _BEYOND])

    def window(self, tau: float) -> tuple[float, float]:
        """Wide enough for every tilt up to tau; how much it leaves out is `missing`'s business."""
        depth = math.sqrt(2 * self.tolerance)
        if self.removed:
            return min(-self.sigma * depth, -_SLOWEST), super().window(tau)[1]
        # R ≥ p₀, and by the means of arithmetic and geometry ln R ≥ (2m·x − v)/(2s²), m and v the shifts' first moments
        mean, square = (summed(self.mixed.weights, self.mixed.shifts**power) for power in (1, 2))
        edge = tau * mean + math.sqrt((tau * mean) ** 2 + tau * square + 2 * self.sigma**2 * self.tolerance)
        if self.mixed.none > 0:
            edge = min(edge, self.sigma * math.sqrt(2 * (self.tolerance - tau * math.log(self.mixed.none))))
        slope = tau * float(self.mixed.mean_shift(np.array([-edge]))[0])
        return -max(edge, 1.01 * (_SLOWEST + slope)), max(self.sigma * depth, 0.5)

    def left(self, edge: float, tau: float) -> float:
        """A bound of the integral left of −edge: R ≤ 1 there, and its powers below 0 lie under a tangent."""
        if self.removed:
            return math.exp(-0.5 * (edge / self.sigma) ** 2) if edge >= _SLOWEST else math.inf
        place = np.array([-edge])
        slope = edge - tau * float(self.mixed.mean_shift(place)[0]) * (1 + 1e-8)
        if slope < _SLOWEST:
            return math.inf
        (unsure,), (log,) = self.odds(place)
        height = math.exp(min(tau * float(unsure - log) - 0.5 * (edge / self.sigma) ** 2, 700.0))
        return 1.01 * height * self.sigma / (slope * math.sqrt(2 * math.pi))

    def _far_exponent(self, x: float, order: float) -> float:
        """ln of a bound right of the cut: Φ(−z) ≤ e^{−z²/2}."""
        (unsure,), (log,) = self.odds(np.array([x]))
        beyond = max(x - self.cut, 0.0) / self.soft
        return order * float(log + unsure) - 0.5 * (x / self.sigma) ** 2 - 0.5 * beyond**2

    def beyond(self, edge: float, tau: float) -> float:
        """A bound of the integral right of an edge: the far exponent falls at least at this slope, as ln R rises by at
        most 1/s²; where a record is added R ≥ 1 there.
        """
        if not self.removed:
            return math.exp(-0.5 * (edge / self.sigma) ** 2) if edge >= 0.5 else math.inf
        slope = edge + (edge - self.cut) * (self.sigma / self.soft) ** 2 - (1 + tau)
        return super().beyond(edge, tau) if slope >= _SLOWEST else math.inf

    def missing(self, grid: Grid, tau: float, reach: float) -> float:
        """What quadrature and window leave out, relative to the moment."""
        if self.removed:
            return super().missing(grid, tau, reach) if -grid.x[0] >= _SLOWEST else math.inf
        quadrature = self.quadrature(grid, tau, reach)
        return SAFETY * (quadrature + self.left(-float(grid.x[0]), tau) + self.beyond(float(grid.x[-1]), tau))
