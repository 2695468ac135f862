"""Monotone search that returns both ends, and a plain one-dimensional minimiser.

`crossing` looks for the place where a falling function meets a target. It searches on midpoints and keeps only what
the balls prove: left of the returned interval the function is certainly above the target, right of it certainly not.
`minimiser` only suggests a point: whoever uses it certifies that point.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bursar.numerics.balls import Ball
from bursar.numerics.interval import Interval

_FAR = 1e300
_TINY = 1e-300
_VAGUE = 1000  # how far below the target a ball without a positive lower end is thought to reach


def crossing(falling: Callable[[float], Ball], target: Ball, *, guess: float = 1.0, close: float = 0.0) -> Interval:
    """[a, b] with falling(x) > target for 0 ≤ x < a and falling(x) ≤ target for x ≥ b, for a non-increasing function on
    x ≥ 0; as narrow as the balls allow, or as ``close`` asks, relatively.
    """
    if falling(0.0) <= target:
        return Interval(0.0, 0.0)
    bracket = _Bracket(falling, target, close)
    x = min(max(guess, 8 * _TINY), _FAR / 8)
    if not bracket.open_from(x):
        return Interval(bracket.low, math.inf)
    bracket.narrow()
    bracket.polish()
    return Interval(bracket.low, bracket.high)


class _Bracket:
    """A certified bracket: the function is above the target at ``low``, and at most the target at ``high``."""

    def __init__(self, falling: Callable[[float], Ball], target: Ball, close: float) -> None:
        self.falling, self.target, self.close = falling, target, close
        self.low, self.high = 0.0, math.inf
        self.aim = float(target.log().mid()) if target > 0 else -math.inf
        self.height_low = self.height_high = math.nan
        self.unsure: float | None = None
        self.doubt = 0.0

    def look(self, x: float) -> float:
        """Evaluate at x, keep what is certain, and return how far above the target it is, in logarithms."""
        value = self.falling(x)
        mid = value.mid()
        height = (float(mid.log()) if mid > 0 else -math.inf) - self.aim
        if value <= self.target:
            if x < self.high:
                self.high, self.height_high = x, height
        elif value > self.target:
            if x > self.low:
                self.low, self.height_low = x, height
        else:
            self.unsure = x
            if self.close:
                low = value.lower() if value.lower() > 0 else self.target / _VAGUE
                self.doubt = float((value.upper() / low).log())
        return height

    def open_from(self, x: float) -> bool:
        """Bracket the crossing within a factor of a few, starting at x; False where it lies beyond every float."""
        self.look(x)
        while self.high == math.inf and x < _FAR:
            x *= 4
            self.look(x)
        x = min(x, self.high)
        while self.low == 0.0 and x > _TINY:
            x /= 8
            self.look(x)
        return self.high < math.inf

    def narrow(self) -> None:
        """The secant method inside the bracket, with bisection as its guard, until it stands still or a ball can no
        longer tell.
        """
        self.unsure = None
        old, new = (self.low, self.height_low), (self.high, self.height_high)
        for step in range(200):
            before = self.high - self.low
            if before <= max(4 * math.ulp(self.high), self.close * self.high):
                return
            # the secant crawls where heights are of different orders: then halves must do it
            x = self._suggest(old, new, bisect=step % 8 == 7 or (step > 24 and step % 2 == 1))
            height = self.look(x)
            if self.unsure is not None or abs(height) < 1e-15:
                self.unsure = x
                return
            old, new = new, (x, height)

    def _suggest(self, old: tuple[float, float], new: tuple[float, float], *, bisect: bool) -> float:
        """Where the line through the last two points meets the target, or the middle of the bracket."""
        low, high = self.low, self.high
        middle = math.sqrt(low) * math.sqrt(high) if low > 0 and high > 4 * low else (low + high) / 2
        fall = old[1] - new[1]
        if bisect or not math.isfinite(fall) or fall == 0:
            return middle
        x = new[0] + (new[0] - old[0]) * (new[1] / fall)
        return x if low < x < high else middle

    def polish(self) -> None:
        """Close in on an undecided point (or on the last end found) from both sides, in growing steps of an ulp."""
        centre = self.unsure if self.unsure is not None else self.high
        for side in (1, -1):
            step = max(math.ulp(centre), self._first(centre))
            for _ in range(60):
                x = centre + side * step
                if not self.low < x < self.high:
                    break
                self.look(x)
                if self.high <= x if side > 0 else self.low >= x:
                    break
                step *= 2

    def _first(self, centre: float) -> float:
        """Where a width is asked, how far from an undecided point a first look is worth it: a quarter of that width, or
        of what the doubt about the point is over the slope.
        """
        fall = self.height_low - self.height_high
        wide = self.doubt * (self.high - self.low) / fall if fall > 0 and math.isfinite(fall) else 0.0
        return 0.25 * max(self.close * centre, wide) if self.close else 0.0


def minimiser(f: Callable[[float], float], low: float, high: float, *, points: int = 12, steps: int = 24) -> float:
    """A point near the minimum of f on [low, high]: a coarse grid, then golden section around its best point."""
    grid = [low + (high - low) * i / points for i in range(points + 1)]
    values = [f(x) for x in grid]
    best = min(range(points + 1), key=lambda i: values[i] if values[i] == values[i] else math.inf)
    a, b = grid[max(best - 1, 0)], grid[min(best + 1, points)]
    ratio = (math.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = f(c), f(d)
    for _ in range(steps):
        if at_c <= at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = f(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = f(d)
    return min(((values[best], grid[best]), (at_c, c), (at_d, d)))[1]
