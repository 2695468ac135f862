"""The trade-off function at one false-positive rate, enclosed by finitely many points of the profile.

With u(x) = 1 − δ(ln x) for one ordered pair (P, Q), x ≥ 0, the least false-negative rate of a test with false-positive
rate a is

    f(a) = sup over x ≥ 0 of  u(x) − a·x,

where for x < 1 reversal gives u(x) = x·(1 − δ′(−ln x)), δ′ the other direction's. u is concave, rises, starts at 0 and
is at most 1 minus what the pair leaks. So every point bounds f from below. From above: between two points u lies under
the two lines that come in from either side, and what the lines allow at most, cell by cell, bounds f. Where that is
attained is where a further point helps most.

Places are kept as s = ln x, and only ratios of x's within a cell are formed: nothing overflows at any ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.trusted import ULPS, UNIT

_WIDEST = 16.0  # of a cell in s, for lines to be drawn into it
_NEIGHBOURS = 24  # points on each side from which lines are drawn: the nearest is not the best where ends are apart
_ROUNDING = 128 * UNIT  # of sums and crossings of numbers that count only up to 1
_HALVES = 709.0  # e to this is a float


@dataclass(frozen=True)
class Reading:
    """Bounds of f at one rate, and the s at which a further point would help most."""

    lower: float
    upper: float
    where: float


class Sandwich:
    """u between its bounds at rising places s = ln x, for one ordered pair."""

    def __init__(self, s: Array, lower: Array, upper: Array, *, most: float, least: float) -> None:
        """``most`` bounds u for large x, ``least`` bounds the slope at 0: what is left by the leaks of either side."""
        self.s, self.lower, self.upper, self.most, self.least = s, lower, upper, most, least
        self.wide = np.diff(s) > _WIDEST
        self.grown = np.expm1(np.minimum(np.diff(s), _WIDEST))  # (x' − x)/x of each cell
        with np.errstate(over="ignore"):  # places that all but coincide make infinite slopes, which bound nothing
            self.rise, falls = self._rises(), self._falls()
        self.at_right, self.at_left = upper[:-1] + self.rise[:-1] * self.grown, upper[1:] - falls

    def _rises(self) -> Array:
        """For each point the least slope, times its x, of the lines that come in from the left: u goes on under them.

        The origin, where u is 0, is one of the points.
        """
        found = self.upper.copy()
        for back in range(1, min(_NEIGHBOURS, len(self.s) - 1) + 1):
            run = -np.expm1(self.s[:-back] - self.s[back:])
            found[back:] = np.minimum(found[back:], (self.upper[back:] - self.lower[:-back]) / run)
        return np.maximum(found, 0.0) * (1 + 64 * UNIT)

    def _falls(self) -> Array:
        """For each cell how far at least the lines from the right fall until they reach its left end."""
        found = np.zeros(len(self.s) - 1)
        for ahead in range(1, min(_NEIGHBOURS, len(self.s) - 2) + 1):
            gap = self.s[1 + ahead :] - self.s[1:-ahead]
            slope = (self.lower[1 + ahead :] - self.upper[1:-ahead]) / np.expm1(np.minimum(gap, _HALVES))
            slope = np.where(gap < _HALVES, np.minimum(slope, 1e200), 0.0)  # a flatter line is a weaker bound
            found[:-ahead] = np.maximum(found[:-ahead], slope * -np.expm1(-np.diff(self.s)[:-ahead]))
        return found * (1 - 64 * UNIT)

    def read(self, rate: float) -> Reading:
        """f at a rate, 0 or at least 1e-300."""
        weight, doubt = self._weights(rate)
        lower = float((self.lower - weight * (1 + doubt)).max()) * (1 - 4 * UNIT) - 1e-320
        weight = weight * (1 - doubt)
        upper, where = max([self._below(weight), *self._between(weight), self._beyond(weight)])
        return Reading(max(lower, 0.0), max(upper + _ROUNDING, 0.0), where)

    def _weights(self, rate: float) -> tuple[Array, float]:
        """a·x at each place, at most 1e300, and its relative error (the rate's own rounding included)."""
        half = np.exp(np.minimum(self.s / 2, _HALVES))
        with np.errstate(over="ignore"):
            return np.minimum(rate * half * half, 1e300), (2 * ULPS + 8) * UNIT

    def _between(self, weight: Array) -> list[tuple[float, float]]:
        """The cell in which u − a·x may be largest, and where in it."""
        if len(self.s) == 1:
            return []
        # the line from the left and the one from the right, less a·x, at both ends of each cell
        p0, p1 = self.upper[:-1] - weight[:-1], self.at_right - weight[1:]
        q0, q1 = self.at_left - weight[:-1], self.upper[1:] - weight[1:]
        over = np.where(self.wide, 0.0, p0 - q0), np.where(self.wide, 0.0, p1 - q1)
        crossed = over[0] * over[1] < 0
        share = np.where(crossed, over[0] / np.where(crossed, over[0] - over[1], 1.0), 0.0)
        best = np.maximum(np.minimum(p0, q0), np.minimum(p1, q1))
        best = np.where(crossed, np.maximum(best, p0 + share * (p1 - p0)), best)
        best = np.where(self.wide, self.upper[1:] - weight[:-1], best)
        i = int(best.argmax())
        gap = float(self.s[i + 1] - self.s[i])
        inside = math.log1p(float(share[i] * self.grown[i])) / gap if crossed[i] else 0.5
        return [(float(best[i]), float(self.s[i]) + gap * min(max(inside, 0.1), 0.9))]

    def _below(self, weight: Array) -> tuple[float, float]:
        """Before the first place: u ≤ least·x, and under the first line from the right, which is flat at worst."""
        first = float(self.s[0])
        step = math.exp(min(first, _HALVES)) * (1 + 2 * ULPS * UNIT) + 5e-324
        top, a = float(self.upper[0]), float(weight[0])
        slope = self.least * step
        if slope <= top:  # the first line alone decides
            return max(slope - a, 0.0), first - max(1.0, abs(first))
        share = top / slope
        return max(top - share * a, 0.0), first + max(math.log(share) if share > 0 else -50.0, -50.0) - 1e-3

    def _beyond(self, weight: Array) -> tuple[float, float]:
        """From the last place on: u is under the line from the left, and at most ``most``."""
        last, top, a, rise = float(self.s[-1]), float(self.upper[-1]), float(weight[-1]), float(self.rise[-1])
        away = max(1.0, abs(last))
        if top >= self.most or rise <= 0:
            return min(top, self.most) - a, last + away
        ahead = min((self.most - top) / rise, 1e300)  # (x − xₙ)/xₙ where the line reaches the most
        return max(top - a, self.most - a * (1 + ahead)), last + min(max(math.log1p(ahead), 0.1 * away), away)


def joined(
    epsilons: Array, one: tuple[Array, Array], other: tuple[Array, Array], leaks: tuple[float, float]
) -> Sandwich:
    """The sandwich of an ordered pair, from bounds (lower, upper) of its δ's and of the other direction's at the same
    ε's, and from lower bounds of what each leaks.
    """
    shrunk = np.exp(-epsilons)
    doubt = (ULPS + 6) * UNIT
    below = shrunk * (1 - other[1]) * (1 - doubt), shrunk * (1 - other[0]) * (1 + doubt) + 5e-324
    above = 1 - one[1] - 2 * UNIT, 1 - one[0] + 2 * UNIT
    s = np.concatenate([-epsilons[::-1], epsilons])
    lower = np.concatenate([below[0][::-1], above[0]])
    upper = np.concatenate([below[1][::-1], above[1]])
    if epsilons[0] == 0:  # both say it of x = 1, where the directions meet
        middle = len(epsilons)
        lower[middle - 1] = max(lower[middle - 1], lower[middle])
        upper[middle - 1] = min(upper[middle - 1], upper[middle])
        s, lower, upper = (np.delete(column, middle) for column in (s, lower, upper))
    lower = np.maximum(lower, 0.0)
    return Sandwich(s, lower, np.maximum(upper, lower), most=1 - leaks[0] + UNIT, least=1 - leaks[1] + UNIT)
