"""Whoever chooses the utilities as answers come in: what the best strategy against η-bounded range reaches, from below.

One release can be any pair with the losses t and t − η, t in (0, η), with probabilities p(t) and 1 − p(t) under P. With
j releases to go and x = ε less the losses so far, the best that can still be reached is

    V₁(x) = the profile of one release,    V_j(x) = max over t of  p(t)·V_{j−1}(x − t) + (1 − p(t))·V_{j−1}(x − t + η).

Here t is one of the multiples of η/m, so that what is left, x, lies on a grid: whatever is computed belongs to a
strategy that is attained, and all rounding is downwards (proofs/strategies.md §2).
"""

from __future__ import annotations

import math

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.trusted import ULPS, UNIT

MOST = 24  # releases: with more, one t for all of them comes close
_WORK = 600  # of m times the number of releases
_FINEST, _COARSE = 192, 8
_ROUNDS = 60


class Game:
    """``count`` releases of range η, played on a grid of ``cells`` places of t."""

    def __init__(self, eta: Ball, count: int, cells: int | None = None) -> None:
        self.eta, self.count = eta, count
        # a multiple of the coarse grid's, so that no strategy gets lost
        self.cells = _COARSE * min(max(_WORK // (_COARSE * count), 1), _FINEST // _COARSE) if cells is None else cells
        self.short, self.long = down(eta), up(eta)
        self.step = float(eta) / self.cells
        tops = [eta * i / self.cells for i in range(1, self.cells)]
        whole = -(-eta).expm1()
        self.high = np.array([max(down(-(t - eta).expm1() / whole), 0.0) for t in tops])
        self.low = np.array([max(down(t.expm1() / eta.expm1()), 0.0) for t in tops])
        self.whole = up(whole)

    def delta(self, epsilon: float) -> float:
        """A lower bound of the δ(ε) that a strategy on the grid reaches."""
        reach = (self.count - 1) * self.cells
        values = self._last(epsilon, np.arange(-reach, reach + 1, dtype=np.float64))
        for _ in range(self.count - 1):
            reach -= self.cells
            windows = np.lib.stride_tricks.sliding_window_view(values, self.cells - 1)
            after_high, after_low = windows[self.cells + 1 :], windows[1 : 2 * reach + 2]
            values = self._best(after_high, after_low)
        # each stage rounds two products and a sum; what underflows is far below 1e-320
        return max(float(values[0]) * (1 - 8 * self.count * UNIT) - 1e-320, 0.0)

    def _best(self, after_high: Array, after_low: Array) -> Array:
        found: Array = (after_high[: len(after_low)] * self.high + after_low * self.low).max(axis=1)
        return found

    def _last(self, epsilon: float, lost: Array) -> Array:
        """Lower bounds of V₁ where ``lost`` steps of the grid have been lost: V₁ falls, so x is rounded upwards."""
        gone = lost * self.step
        x = epsilon - gone
        x = x + (8 * UNIT + 2 * (self.long / self.short - 1)) * (abs(epsilon) + np.abs(gone))
        with np.errstate(over="ignore", under="ignore"):
            inside = np.square(np.expm1(np.minimum((x - self.short) / 2, 0.0))) / self.whole
            outside = -np.expm1(np.minimum(x, 0.0))
        found: Array = np.where(x > -self.short, inside, outside) * (1 - (4 * ULPS + 16) * UNIT)
        return np.where(x < self.short, found, 0.0)


def delta_below(eta: Ball, count: int, epsilon: Ball) -> float:
    """A lower bound of what the best strategy's δ(ε) is; ε may be any number of the ball."""
    return Game(eta, count).delta(up(epsilon))


def epsilon_below(eta: Ball, count: int, delta: Ball) -> float:
    """A lower bound of the least ε at which no strategy exceeds δ: at it one of the grid does."""
    most = up(delta)
    coarse, fine = Game(eta, count, _COARSE), Game(eta, count)
    if not fine.delta(0.0) > most:
        return 0.0
    low, high = _between(coarse, most, 0.0, fine.short * count, 1e-3)
    # finer strategies reach further
    step = 4 * (high - low)
    while fine.delta(low) <= most and low > 0:
        low = max(low - step, 0.0)
    high = low + step
    while fine.delta(high) > most:
        low, step = high, 2 * step
        high = min(low + step, fine.long * count)
    return _between(fine, most, low, high, 1e-7)[0]


def _between(game: Game, most: float, low: float, high: float, near: float) -> tuple[float, float]:
    """Two ε's this close: at the first, which is 0 or has it, δ exceeds the most, at the other it does not."""
    for _ in range(_ROUNDS):
        if high - low <= near * high:
            break
        middle = (low + high) / 2
        if game.delta(middle) > most:
            low = middle
        else:
            high = middle
    return low, high


def best_top(eta: float, tilt: float) -> float:
    """The t of the pair with the largest moment E[e^{τL}], in floats: e^t = τA/((τ+1)C) where the moment is
    e^{τt}(A − C·e^t), with b = e^{−τη}, C = (1 − b)e^{−η}/(1 − e^{−η}) and A = b + (1 − b)/(1 − e^{−η}).
    """
    faded, whole = math.exp(-tilt * eta), -math.expm1(-eta)
    spread = -math.expm1(-tilt * eta) / whole
    return eta + math.log(tilt / (tilt + 1)) + math.log((faded + spread) / spread)


def largest_moment(eta: float, tilt: float) -> float:
    """ln of that moment, in floats: with the best t it is e^{τt}·A/(τ+1)."""
    grown = math.exp(-tilt * eta) + math.expm1(-tilt * eta) / math.expm1(-eta)
    return tilt * best_top(eta, tilt) + math.log(grown) - math.log1p(tilt)
