"""What the losses of sampled Gaussians that are not large do by themselves: a Chernoff bound by upper sums over cells.

With y = A − 1, which has mean 0 without the record, and χ₀ falling, E[y·χ₀] ≤ 0; so for a > 0

    ∫ φ_σ·A^{1+a}·χ₀ ≤ 1 + ∫ φ_σ·R·χ₀,   R = (1+y)^{1+a} − 1 − (1+a)y,

where R is at most ½a(1+a)·y²·max(1, (1+y)^{a−1}), and for y ≥ 0 also at most (1+y)^{1+a} (proofs/contour.md §6).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball

_CELLS = 3000
_LEFT = 8.0  # standard deviations below 0 that have cells
_SLACK = 0.01  # for rounding, of logarithms
_DEPTHS = (1.05, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0, 14.0)  # times ln(1/δ), over ε: the tilts that are tried
_SPARE = 26.0  # in logarithms: how far below δ those are kept that are left out


class Bulk:
    """``count`` copies of which none is large, at δ's of about this size."""

    def __init__(self, integral: SampledIntegral, count: int, soft: float, log_delta: float) -> None:
        self.integral, self.count, self.soft = integral, count, soft
        self.depth = max(-log_delta, 1.0) + _SPARE

    def beyond(self, place: float, epsilon: float) -> Ball:
        """A bound of δ of these at every ε from this one on, where losses count as large softly from a place on."""
        edge = self.edge(place)
        tilts = np.array(_DEPTHS) * (self.depth / epsilon)
        heights = self.integrals(place, edge, tilts)
        rough = self.count * np.exp(np.minimum(heights, 600.0)) - tilts * epsilon
        i = int(np.argmin(rough))
        tilt = float(tilts[i])
        bound = self.count * arb(float(heights[i])).exp().log1p() - arb(tilt) * arb(epsilon) + chernoff_constant(tilt)
        return (bound.exp() + self._lost(place, edge)).upper()

    def edge(self, place: float) -> float:
        """Beyond it so little is left, and of that so little is not large, that it may be left out."""
        sigma, enough = self.integral.sigma, self.depth + math.log(self.count)
        shown = max(enough + math.log(self.integral.rate), 0.0)

        def gone(x: float) -> bool:
            soft = max(x - place, 0.0) ** 2 / (2 * self.soft**2)
            return x * x / (2 * sigma**2) + soft >= enough and max(x - 1, 0.0) ** 2 / (2 * sigma**2) + soft >= shown

        low, high = place, place + self.soft * math.sqrt(2 * enough)
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (low, middle) if gone(middle) else (middle, high)
        return high

    def _lost(self, place: float, edge: float) -> Ball:
        """That some copy lies beyond the edge and is not large: χ₀ falls."""
        sigma, rate = self.integral.exact
        beyond = (1 - rate) * normal.cdf(-arb(edge) / sigma) + rate * normal.cdf((1 - arb(edge)) / sigma)
        return self.count * beyond * normal.cdf((arb(place) - arb(edge)) / arb(self.soft))

    def integrals(self, place: float, edge: float, tilts: Array) -> Array:
        """ln of upper bounds of ∫ φ_σ·R·χ₀ up to the edge, for each tilt."""
        integral, rate, square = self.integral, self.integral.rate, self.integral.sigma**2
        x = np.linspace(-_LEFT * integral.sigma, edge, _CELLS + 1)
        width = x[1] - x[0]
        u = (2 * x - 1) / (2 * square)
        error, log_odds = integral.losses(u)
        if not edge > 0.5 or float(error.max()) * float(1 + tilts.max()) > _SLACK / 4:
            return np.full(len(tilts), np.inf)
        away = np.maximum(x - place, 0.0) / self.soft
        normals = -x * x / (2 * square) - away * away / 2
        with np.errstate(divide="ignore"):
            sizes = math.log(rate) + np.where(u > 0, np.maximum(u, 0.0), 0.0) + np.log(-np.expm1(-np.abs(u)))
        largest = np.maximum(sizes[1:], sizes[:-1])
        rise = width * width / 8 * (1 / square + 1 / self.soft**2)
        scale = math.log(width) - math.log(integral.sigma * math.sqrt(2 * math.pi)) + rise + _SLACK
        found = []
        for tilt in tilts.tolist():
            floor = min(tilt - 1, 0.0) * math.log1p(-rate)  # (1 + y)^{a−1} below 0, where a < 1
            bent = math.log(tilt * (1 + tilt) / 2)
            whole, second = normals + (1 + tilt) * log_odds, normals + max(tilt - 1, 0.0) * np.maximum(log_odds, 0.0)
            tops = bent + 2 * largest + floor + np.maximum(second[1:], second[:-1])
            tops = np.where(u[:-1] >= 0, np.minimum(tops, np.maximum(whole[1:], whole[:-1])), tops)
            left = bent + 2 * math.log(rate) + floor - _LEFT**2 / 2
            found.append(float(np.logaddexp(np.logaddexp.reduce(tops + scale), left + _SLACK)))
        return np.array(found)
