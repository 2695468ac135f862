"""The integrals behind the moments of a replaced record's sampled Gaussian: nodes, cut, and what sums leave out.

In units in which one record moves the output by 1 the noise is s = 2σ: with A(x) = 1 − q + q·e^{(2x−1)/(2s²)} the pair
is A(x)·N(0, s²) against A(−x)·N(0, s²), the loss L = ln A(x) − ln A(−x) rises with x, and

    M(t) = E[e^{tL}] = ∫ φ_s(x)·A(x)^{1+t}·A(−x)^{−t}·χ(x) dx.

It is the integral of a removed record with a second power, cut on both sides (proofs/contour.md §7):

    cut          χ(x) = P(|x + aZ| ≤ c), even, so that M(−1 − t) = M(t); both sides together give up κ
    quadrature   |A(−x)^{−t}| may grow off the real line, by at most (1 − 4p(1−p)sin²(θ/2))^{−τ/2}, p = q·e^u/A at −x
    window       A(−x)^{−τ} is at most (1−q)^{−τ} on the right, and at most 1 left of −½
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import NoContour
from bursar.losses.engines.contour.replaced_growth import replaced_growth
from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_odds import share
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, UNIT

_FEWEST = 10.0  # softnesses between 0 and the cut: one side of the cut is nothing on the other
_FAR = 20.0  # softnesses right of the cut: a window that ends further away is looked at more closely
_CELLS = np.concatenate([np.linspace(0.0, 0.2, 60), np.linspace(0.2, 1.0, 60)[1:-1]])
_SHARES = np.array([0.03, 0.1, 0.22, 0.4, 0.65, 1.0])
_ONE_SCALE = 0.25  # of q: with so many records seen no losses are rare


class ReplacedIntegral(SampledIntegral):
    """A replaced record, cut and windowed for ``count`` copies and a δ of this size."""

    def __init__(self, sigma: Ball, rate: Ball, count: int, log_delta: float) -> None:
        if not rate < 1 or float(rate) < 1e-100:
            raise NoContour("the rate may be 1, or is next to 0")
        self._beyond: dict[tuple[float, float], float] = {}
        super().__init__(2 * sigma, rate, count, log_delta, removed=True)
        if self.cut < _FEWEST * self.soft:
            raise NoContour("the cut is too soft for both its sides to be told apart")

    def _lines(self) -> Array:
        """Up to twice the θ at which the growth at frequency 0 is half of what the step must make up for."""
        best = math.sqrt(self.tolerance / float(self.base(np.ones(1))[0]))
        return min(2 * best, 2.5) * _SHARES

    def _copy_variance(self) -> float:
        """About q²·2(e^{1/s²} − e^{−1/s²}), or the square of the loss where a record shows plainly."""
        bend = 1 / self.sigma**2
        seen = self.losses(np.array([bend / 2, -1.5 * bend]))[1]
        plain = self.rate * (max(float(seen[0] - seen[1]), 0.0) ** 2 + 4 * bend)
        return min(4 * self.rate**2 * math.sinh(min(bend, 500.0)), plain)

    def _beyond_cut(self) -> Ball:
        """κ = 2(1−q)Φ̄(c/b) + qΦ̄((c−1)/b) + qΦ̄((c+1)/b)."""
        (sigma, rate), cut = self.exact, arb(self.cut)
        b = (sigma * sigma + arb(self.soft) ** 2).sqrt()
        sides = normal.cdf((1 - cut) / b) + normal.cdf((-1 - cut) / b)
        return 2 * (1 - rate) * normal.cdf(-cut / b) + rate * sides

    def _heavy(self) -> float:
        """The tilt at which φ·A^{1+τ}·A(−x)^{−τ} is as large far away, at the cut or before, as at 0."""
        if self.rate > _ONE_SCALE:
            return math.inf
        square = self.sigma**2
        far = min(self.cut, 1 + 2 * square * math.log(1 / self.rate))
        odds, other = self.losses(np.array([2 * far - 1, -2 * far - 1]) / (2 * square))[1].tolist()
        return max((far * far / (2 * square) - odds) / (odds - other), 1.0) if odds > other else math.inf

    def inside(self, x: Array) -> Array:
        """How far x lies before the nearer side of the cut, in units of its softness."""
        return (self.cut - np.abs(x)) / self.soft

    def signed(self, x: Array, error: Array, odds: Array) -> tuple[Array, Array]:
        """L = ln A(x) − ln A(−x)."""
        other_error, other = self.losses((-2 * x - 1) / (2 * self.sigma**2))
        loss = odds - other
        return error + other_error + UNIT * np.abs(loss), loss

    def log_slope(self, x: Array, odds: Array) -> Array:
        """dL/dx = (p(x) + p(−x))/s²."""
        return np.log(self.seen(x) + self.seen(-x)) - 2 * math.log(self.sigma)

    def seen(self, x: Array) -> Array:
        """p(x) = q·e^u/A, the share of the record in the odds; it rises with x."""
        return share((2 * x - 1) / (2 * self.sigma**2), self.rate)

    def bent(self, mean: float) -> tuple[float, float]:
        """Two logarithms turn twice as far, and left of 0 the integrand is compared with the law itself."""
        return 290.0 + 4 * mean**2, 82_400.0 + 64 * mean**4

    def growth(self, tau: float, reach: float) -> Array:
        """ln of what the modulus of the integrand grows by on each line Im x = θs², for frequencies up to ``reach``."""
        if reach == 0:
            return self._base + self.power_growth(tau, self.thetas)
        if (tau, reach) not in self._growths:
            self._growths[tau, reach] = self._base + replaced_growth(self, tau, np.array([reach]))[:, 0]
        return self._growths[tau, reach]

    def power_growth(self, tau: float, thetas: Array) -> Array:
        """ln of what A(−x)^{−τ} makes of the integral of the modulus, for each θ: at most cos(θ/2)^{−τ}; up to θ = π/2
        the place x = 0 decides. Both grow with the tilt.
        """
        middle = 4 * float(self.seen(np.zeros(1))[0])
        middle = min(middle * (1 - middle / 4), 1.0) if middle < 2 else 1.0
        near = -0.5 * tau * np.log1p(-middle * np.square(np.sin(thetas / 2))) + math.log(1.6)
        anywhere = -tau * np.log(np.cos(thetas / 2))
        least: Array = np.where(thetas <= math.pi / 2, np.minimum(near, anywhere), anywhere)
        return least * (1 + 1e-9) + 1e-9

    def _known_growth(self, tau: float, reach: float) -> Array | None:
        """A bound from before at the same tilt: it grows with the frequency."""
        for (tilt, far), known in self._growths.items():
            if reach <= far and tilt == tau:
                return known
        return None

    def window(self, tau: float) -> tuple[float, float]:
        """Wide enough for every tilt up to tau, and from −½ at the latest. Where the bound 2^{1+τ} of the odds right of
        the cut asks for much, the window ends where the integrand itself is small.
        """
        low, high = super().window(tau)
        if high > self.cut + _FAR * self.soft:
            x = np.linspace(self.cut, high, 256)
            large = np.flatnonzero(self.highest(x, tau)[0] > -self.tolerance - 8)
            high = float(x[min(large[-1] + 2, 255)]) if len(large) else min(high, self.cut + _FAR * self.soft)
        return min(low, -0.5), high

    def height(self, x: Array, tau: float) -> tuple[Array, Array, Array]:
        """ln of φ·A^{1+τ}·A(−x)^{−τ}, apart from φ(0), a bound of its error, and the loss."""
        doubt, odds = self.losses((2 * x - 1) / (2 * self.sigma**2))
        apart, loss = self.signed(x, doubt, odds)
        flat = x * x / (2 * self.sigma**2)
        unsure = 1e-9 + (8 * UNIT + 4 * self.spread) * (flat + np.abs(odds) + tau * np.abs(loss))
        return odds + tau * loss - flat, unsure + doubt + tau * apart, loss

    def highest(self, x: Array, tau: float) -> tuple[Array, Array]:
        """The same with the cut, from above: Φ(−z) ≤ e^{−z²/2}; and the loss."""
        height, unsure, loss = self.height(x, tau)
        return height + unsure - 0.5 * np.square(np.maximum(-self.inside(x), 0.0)), loss

    def _far_exponent(self, x: float, order: float) -> float:
        """The same right of the cut, with A(−x)^{−τ} ≤ (1−q)^{−τ}."""
        return super()._far_exponent(x, order) - (order - 1) * math.log1p(-self.rate)

    def beyond(self, edge: float, tau: float) -> float:
        """The same, and where that is too much an upper sum over cells. Far losses count more, so that the fourth power
        of what a loss exceeds that of the edge by is bounded too, by 4·10⁴ times this (proofs/contour.md §7).
        """
        key = (edge, tau)
        if key not in self._beyond:
            found = self._by_slope(edge, tau)
            if self.cut <= edge and not found < math.exp(-self.tolerance - 2):
                found = min(found, self._by_cells(edge, tau))
            self._beyond = {key: found, **dict(list(self._beyond.items())[:8])}
        return self._beyond[key]

    def _by_slope(self, edge: float, tau: float) -> float:
        slope = edge + (edge - self.cut) * (self.sigma / self.soft) ** 2 - (1 + tau)
        return super().beyond(edge, tau) if slope >= 1 / 3 else math.inf

    def _by_cells(self, edge: float, tau: float) -> float:
        """An upper sum over cells right of the edge: ln of the integrand is convex in (1+τ)·ln A, else concave. A cell
        of width w has at most w/h + 1 nodes, with a step h ≤ 2a: so 2a more counts for sums as for integrals.
        """
        end = super().window(tau)[1]
        if not edge < end:
            return math.inf
        x = np.append(edge + (end - edge) * _CELLS, end)
        cells, (height, loss) = np.diff(x), self.highest(x, tau)
        bend = 1 / self.sigma**2 + 1 / self.soft**2 + tau * float(self.seen(-x[:1])[0]) / self.sigma**4
        logs = np.maximum(height[1:], height[:-1]) + cells * cells / 8 * bend + np.log(cells + 2 * self.soft)
        apart = np.maximum((loss - loss[0]) / 9.9, 1.0) ** 4
        total = summed(np.exp(np.minimum(logs, 700.0)), apart[1:]) / (self.sigma * math.sqrt(2 * math.pi))
        return SAFETY * total + 40 * float(apart[-1]) * self._by_slope(end, tau)

    def missing(self, grid: Grid, tau: float, reach: float) -> float:
        """What quadrature and window leave out, relative to the moment."""
        return super().missing(grid, tau, reach) if grid.x[0] <= -0.5 else math.inf

    def tails(self, low: float, high: float, tau: float) -> float:
        """ln of a bound of the integral on the real line outside [low, high]."""
        total = self.beyond(high, tau) + math.exp(-low * low / (2 * self.sigma**2))
        return math.log(max(total, 1e-300)) + 1e-9 if low <= -0.5 and total < math.inf else math.inf
