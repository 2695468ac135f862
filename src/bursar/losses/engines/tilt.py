"""Which tilt to sum at: the one whose alias length is smallest, not the saddle itself.

Any tilt is sound. A sum with period B sees the law's images at distances B; Chernoff bounds at other tilts say how
large B must be. For losses of two scales the saddle lies where far, rare losses weigh as much as near ones, and B is
long; a smaller tilt sees the near ones alone, and pays with a Chernoff bound that is e^G times δ, so with a factor e^G
in rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bursar.numerics.arrays import Array

_MOST_LOSS = 12.0  # the largest G: rounding errors of 1e-13 stay below 1e-7
_AWAY = math.log(1e9)
_TILTS = np.geomspace(1 / 48, 3.0, 36)


class Tilts:
    """A ladder of tilts around one, with the cumulants of the composition there, in floats."""

    def __init__(self, cumulant: Callable[[float], float], around: float) -> None:
        self.tilts = around * _TILTS
        values = np.array([cumulant(float(tilt)) for tilt in self.tilts])
        self.heights = np.where(np.isfinite(values), values, np.inf)

    def lengths(self, epsilon: float, log_delta: float) -> Array:
        """The period that each tilt needs."""
        gaps = np.maximum(self.heights - self.tilts * epsilon - log_delta + _AWAY, 1.0)
        apart = self.tilts[:, None] - self.tilts[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(apart < 0, gaps[None, :] / -apart, np.inf).min(axis=1)
            below = np.where(apart > 0, gaps[None, :] / apart, np.inf).min(axis=1)
        below = np.minimum(below, (_AWAY - log_delta) / self.tilts)
        periods: Array = np.maximum(np.maximum(above, below), (gaps / self.tilts).min() / 0.74)
        return periods

    def best(self, epsilon: float, log_delta: float) -> tuple[float, float]:
        """The tilt with the shortest period, a loss in rounding weighed in, and that period."""
        lengths = self.lengths(epsilon, log_delta)
        loss = np.maximum(self.heights - self.tilts * epsilon - log_delta, 0.0)
        price = np.where(loss <= max(_MOST_LOSS, float(loss.min()) + 3), lengths * np.sqrt(1 + loss / 20), np.inf)
        i = int(np.argmin(price))
        return float(self.tilts[i]), float(lengths[i])
