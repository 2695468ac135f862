"""Which layers the compositions are told apart by, chosen in floats: any choice is sound.

A layer is narrow enough that the chance of a loss hardly bends within it, so that some tilt weighs all of it alike.
Layers that together have next to nothing at ε are one group, which is bounded at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bursar.losses.engines.contour.factors import Factor
from bursar.losses.engines.envelope.coarse import coarse_points
from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.largest.layer import log_expm1
from bursar.losses.places import Law
from bursar.numerics.arrays import Array
from bursar.numerics.products import product

_DEPTH = 20.0  # by how much, as a logarithm, losses above all layers stay below δ
_MOST = 60  # layers
_BENT = 12.0  # eight times how much, as a logarithm, the chance of a loss may bend within a layer
_NARROWEST, _WIDEST = 1.02, 4.0  # ratios of the ends of a layer
_RARE = math.log(0.3)  # of how many losses there are above a place: with more, they are not large
_TILTS = 240
_LOOSE = 1.0  # how much worse one bound of several layers may be than their own, as a logarithm
_NOTHING = 18.0  # in logarithms, below δ: layers that are bounded, not summed


class Group(NamedTuple):
    """Some layers together: their numbers from the lowest to the highest, whether they are summed, and a tilt."""

    first: int
    last: int
    summed: bool
    tilt: float


class Layers:
    """The bounds of all layers in rising order, and the moments of what lies in each, at many tilts, in floats."""

    def __init__(self, laws: Sequence[tuple[Law, int]], others: Sequence[Factor], log_delta: float) -> None:
        self.log_delta, self.counts = log_delta, np.array([float(count) for _, count in laws])
        points = [coarse_points(law) for law, _ in laws]
        places = np.concatenate([one.losses for one in points])
        pairs = zip(points, laws, strict=True)
        chances = np.concatenate([one.log_masses + math.log(count) for one, (_, count) in pairs])
        order = np.argsort(-places)
        self._places, self._above = places[order], np.logaddexp.accumulate(chances[order])
        self.bounds = self._bounds()
        depth = 50.0 - log_delta
        least = 1e-2 / (self.bounds[-1] * math.sqrt(float(self.counts.sum())))
        self.tilts = np.geomspace(least, 1e2 * depth / self.bounds[0], _TILTS)
        self.constants = -np.log1p(self.tilts) - self.tilts * np.log1p(1 / self.tilts)
        self._inside = np.array([self._moments(one.losses, one.log_masses) for one in points])
        self._rest = sum((factor.rough_cumulants(self.tilts) for factor in others), np.zeros(_TILTS))

    def _rate(self, place: float) -> float:
        """ln of how many losses above a place there are on the average."""
        i = int(np.searchsorted(-self._places, -place))
        return float(self._above[min(i, len(self._above) - 1)])

    def _bounds(self) -> list[float]:
        low = self._places > 0
        enough = self._above > self.log_delta - _DEPTH
        first = np.flatnonzero(enough & low)
        if not len(first):
            raise NoEnvelope("no loss is large")
        at = float(self._places[max(first[0] - 1, 0)]) * (1 + 1e-9)
        found: list[float] = []
        while len(found) < _MOST and at > 0:
            found.append(at)
            rate = self._rate(at)
            if rate > _RARE:
                break
            steep = max((self._rate(at / 1.1) - rate) / math.log(1.1), 1e-3)
            at /= min(max(math.exp(math.sqrt(_BENT / steep)), _NARROWEST), _WIDEST)
        return found[::-1]

    def _moments(self, losses: Array, log_masses: Array) -> Array:
        """ln of the moments of one copy in each layer, from what is below all of them on, at each tilt."""
        layer = np.searchsorted(self.bounds, losses)
        found = np.full((len(self.bounds), _TILTS), -np.inf)
        for n in range(len(self.bounds)):
            mine = layer == n
            if mine.any():
                heights = log_masses[mine] + np.multiply.outer(self.tilts, losses[mine])
                top = heights.max(axis=1)
                found[n] = top + np.log(np.exp(heights - top[:, None]).sum(axis=1))
        return found

    def heights(self, first: int, last: int) -> Array:
        """ln of the moment of the compositions whose largest loss is in these layers, at each tilt."""
        inside = self._inside
        if first == 0:
            whole = np.logaddexp.reduce(inside[:, : last + 1], axis=1)
            return np.asarray(product(self.counts, whole) + self._rest)
        low = np.logaddexp.reduce(inside[:, :first], axis=1)
        more = np.logaddexp.reduce(inside[:, first : last + 1], axis=1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            grown = product(self.counts, np.logaddexp(0.0, more - low))
            return np.asarray(product(self.counts, low) + self._rest + log_expm1(grown))

    def bound(self, first: int, last: int, epsilon: float) -> tuple[float, float]:
        """ln of the least Chernoff bound of their δ(ε), and the tilt."""
        values = self.heights(first, last) + self.constants - self.tilts * epsilon
        i = int(np.nanargmin(np.where(np.isnan(values), np.inf, values)))
        return float(values[i]), float(self.tilts[i])

    def guess(self) -> float:
        """About where ε lies: where the bounds of all layers together meet δ."""
        rows = np.array([self.heights(n, n) + self.constants for n in range(len(self.bounds))])
        rows = np.where(np.isnan(rows), np.inf, rows)
        low, high = 0.0, self.bounds[-1]
        while self._sum(rows, high) > self.log_delta:
            low, high = high, 2 * high
            if not high < 1e300:
                raise NoEnvelope("no bound says where ε lies")
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._sum(rows, middle) > self.log_delta else (low, middle)
        return high

    def _sum(self, rows: Array, epsilon: float) -> float:
        return float(np.logaddexp.reduce((rows - self.tilts * epsilon).min(axis=1)))

    def groups(self, epsilon: float) -> list[Group]:
        """The layers to sum at this ε, and those to bound, as few groups as may be: layers that one tilt serves about
        as well as each its own are taken together.
        """
        limit, n, found = self.log_delta - _NOTHING, 0, []
        alone = [self.bound(i, i, epsilon)[0] for i in range(len(self.bounds))]
        while n < len(self.bounds):
            last, apart, together = n, alone[n], self.bound(n, n, epsilon)
            while last + 1 < len(self.bounds):
                more, total = self.bound(n, last + 1, epsilon), float(np.logaddexp(apart, alone[last + 1]))
                if more[0] > max(limit, total + _LOOSE):
                    break
                last, apart, together = last + 1, total, more
            found.append(Group(n, last, together[0] > limit, together[1]))
            n = last + 1
        return found
