"""Losses of two scales: many near 0, and a few that are far away and rare.

At the saddle of such a composition far losses weigh as much as near ones, and the images of the law that a sum sees
must lie far apart. Any tilt is sound; a smaller one leaves the far losses light and the images close together. It pays
with a Chernoff bound that is e^G times δ, hence with a factor e^G in rounding. What decides is the shortest period,
for Chernoff bounds at other tilts, among them tilts below −1 (proofs/contour.md §2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Factor, NoContour

_LADDER = np.geomspace(1 / 16, 1.0, 24)
_BELOW = np.array([0.12, 0.25, 0.5, 1.0])
_AWAY = math.log(1e9)  # by how much aliases are to stay below δ
_MOST_LOSS = 12.0  # the largest G that is taken gladly
_TOO_MUCH = 17.0  # the largest that is taken at all
_CLOSE = 0.9


def two_scales(factors: Sequence[Factor], log_delta: float) -> float:
    """The tilt beyond which far losses outweigh near ones, where a Gaussian of this variance would be tilted about as
    much; else infinity.
    """
    heavy = min(factor.heavy for factor in factors)
    if heavy == math.inf:
        return heavy
    variance = sum(factor.rough_variance() for factor in factors)
    return heavy if 2 * max(-log_delta, 1.0) > variance * (_CLOSE * heavy) ** 2 else math.inf


def guess(factors: Sequence[Factor], log_delta: float) -> float:
    """The ε of a Gaussian with the same variance."""
    variance = sum(factor.rough_variance() for factor in factors)
    return 0.9 * math.sqrt(2 * max(-log_delta, 1.0) * variance) + variance / 2


class Scales:
    """The cumulants of a composition along a ladder of tilts up to the largest that is of use, in floats."""

    def __init__(self, factors: Sequence[Factor], highest: float) -> None:
        self.tilts = highest * _LADDER
        values = sum(factor.rough_cumulants(self.tilts) for factor in factors)
        self.heights = np.where(np.isfinite(values), values, np.inf)
        spread = math.sqrt(sum(factor.rough_variance() for factor in factors))
        self.lows, self.depths = np.empty(0), np.empty(0)
        if all(factor.mirrored for factor in factors):
            self.lows = -1 - _BELOW * 8 / spread
            depths = np.array(
                [float(sum(factor.mirror(arb(-1 - tilt)) for factor in factors)) for tilt in self.lows.tolist()]
            )
            self.depths = np.where(np.isfinite(depths), depths, np.inf)

    def choose(self, epsilon: float, log_delta: float) -> tuple[float, tuple[float, ...]]:
        """The tilt with the shortest period, a loss in rounding weighed in, and the tilts that bound the aliases."""
        gaps = np.maximum(self.heights - self.tilts * epsilon - log_delta + _AWAY, 1.0)
        apart = self.tilts[None, :] - self.tilts[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(apart > 0, gaps / apart, np.inf)
            below = np.where(apart < 0, gaps / -apart, np.inf)
        sides = [below, ((_AWAY - log_delta) / self.tilts)[:, None]]
        if len(self.lows):
            deep = np.maximum(self.depths - self.lows * epsilon - log_delta + _AWAY, 1.0)
            sides.append(deep / (self.tilts[:, None] - self.lows))
        low = np.concatenate(sides, axis=1)
        lengths = np.maximum(above.min(axis=1), low.min(axis=1))
        loss = np.maximum(self.heights - self.tilts * epsilon - log_delta, 0.0)
        if float(loss.min()) > _TOO_MUCH:
            raise NoContour("far losses are not rare enough")
        price = np.where(loss <= max(_MOST_LOSS, float(loss.min()) + 2), lengths * np.sqrt(1 + loss / 20), np.inf)
        i = int(np.argmin(price))
        others = np.concatenate([self.tilts, [math.nan], self.lows])
        chosen = (float(self.tilts[int(np.argmin(above[i]))]), float(others[int(np.argmin(low[i]))]))
        return float(self.tilts[i]), tuple(tilt for tilt in chosen if not math.isnan(tilt))
