"""The search behind `plan`: the dearest value whose proved cost is within the goal, and the next one, which is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

_FAR = 80.0  # of ln x: how far from 1 to look
_MOST_LOOKS = 120
_COARSE = 1e-3  # how closely rough costs are followed

Place = tuple[float, float]
"""A place on the scale and its height."""


class Search:
    """Over positive reals, on a logarithmic scale."""

    def __init__(
        self,
        cost: Callable[[Any, bool], float],
        valid: Callable[[Any], bool],
        goal: float,
        resolution: Callable[[Any], float],
        start: float | None = None,
    ) -> None:
        self.cost, self.valid, self.goal, self.resolution = cost, valid, goal, resolution
        self.best: tuple[Any, float] = (None, math.inf)
        self.looks = 0
        self.rough = True
        self.start = start

    def value(self, u: float) -> Any:
        """The unknown at a place of the scale."""
        return math.exp(u)

    def height(self, u: float) -> float:
        """ln(cost/goal): at most 0 where the goal is met."""
        self.looks += 1
        x = self.value(u)
        cost = self.cost(x, self.rough)
        if self.best[0] is None or cost < self.best[1]:
            self.best = (x, cost)
        if cost <= self.goal:
            return min(math.log(cost / self.goal), -1e-300) if cost > 0 < self.goal else -math.inf
        return math.log(cost / self.goal) if self.goal > 0 and math.isfinite(cost) else math.inf

    def run(self) -> tuple[Any, Any]:
        """(the dearest value that is met, the next that is not); None for either where there is none."""
        start = self._start()
        self.rough = self.start is None  # near the answer rough looks do not pay
        first = self.height(start)
        step = 0.7 if self.start is None else 0.05
        away = step if self.valid(self.value(start + step)) else -step
        second = self.height(start + away)
        if self._cost_at(start) == self._cost_at(start + away) == math.inf:
            start, first, away, second = self._look_around(start)
            if first == second == math.inf:
                return None, None
        # the side on which the cost rises
        rises = self._cost_at(start + away) >= self._cost_at(start)
        up = math.copysign(1.0, away) if rises else -math.copysign(1.0, away)
        good, bad = self._bracket(start, first, start + away, second, up)
        if self.rough and good is not None and bad is not None:
            good, bad = self._narrow(good, bad, _COARSE)
        return self._exactly(good, bad, up)

    def _exactly(self, good: Place | None, bad: Place | None, up: float) -> tuple[Any, Any]:
        """The same with precise costs, from where rough ones led."""
        seen = [place for place in (good, bad) if place is not None]
        if self.rough:
            self.rough, self.looks = False, 0
            seen = [self.again(place) for place in seen]
        if not seen:
            return None, None
        step = 4 * _COARSE
        good = max((p for p in seen if p[1] <= 0), key=lambda p: up * p[0], default=None)
        bad = min((p for p in seen if p[1] > 0), key=lambda p: up * p[0], default=None)
        good, bad = self._walk(good, bad, up, step)
        if good is None:
            return None, None
        if bad is None:
            return self.value(good[0]), None
        good, bad = self._narrow(good, bad, self.resolution(self.value(good[0])))
        return self.value(good[0]), self.value(bad[0])

    def again(self, place: Place) -> Place:
        """A place with its precise height."""
        return place[0], self.height(place[0])

    def _cost_at(self, u: float) -> float:
        return self.cost(self.value(u), self.rough)

    def _start(self) -> float:
        if self.start is not None and self.start > 0 and self.valid(self.start):
            return math.log(self.start)
        for u in (0.0, -0.7, -4.6, 0.7, 4.6, -11.5, 11.5):
            if self.valid(self.value(u)):
                return u
        return 0.0

    def _look_around(self, start: float) -> tuple[float, float, float, float]:
        """Where even the first values have no finite cost: wider and wider, on both sides."""
        for distance in (2.3, 4.6, 9.2, 18.4, 36.8):
            for side in (1, -1):
                u = start + side * distance
                if self.valid(self.value(u)) and (height := self.height(u)) < math.inf:
                    # a little further out is dearer or cheaper: the search finds out
                    return u, height, -side * 0.7, self.height(u - side * 0.7)
        return start, math.inf, 0.7, math.inf

    def _bracket(self, a: float, at_a: float, b: float, at_b: float, up: float) -> tuple[Place | None, Place | None]:
        """A met and an unmet place, walking along the slope; the edge of what is valid ends the walk."""
        good: Place | None = None
        bad: Place | None = None
        for u, height in ((a, at_a), (b, at_b)):
            if height <= 0 and (good is None or up * u > up * good[0]):
                good = (u, height)
            if height > 0 and (bad is None or up * u < up * bad[0]):
                bad = (u, height)
        return self._walk(good, bad, up, 0.7 if self.start is None else 0.1)

    def _walk(self, good: Place | None, bad: Place | None, up: float, step: float) -> tuple[Place | None, Place | None]:
        """From one end on until there are both."""
        while (good is None or bad is None) and self.looks < _MOST_LOOKS:
            known = good if good is not None else bad
            assert known is not None
            side = up if bad is None else -up
            u = known[0] + side * step
            if abs(u) > _FAR:
                break
            if not self.valid(self.value(u)):
                edge = self._edge(known[0], u)
                if edge == known[0]:
                    break
                u, step = edge, 0.0
            height = self.height(u)
            if height <= 0:
                good = (u, height)
            else:
                bad = (u, height)
            if step == 0.0:
                break
            step = min(max(3 * step, 1.2 * abs(height) if math.isfinite(height) and step > 0.1 else 0.0), 12.0)
        return good, bad

    def _edge(self, inside: float, outside: float) -> float:
        """The last valid place."""
        while abs(outside - inside) > 1e-15 * max(abs(inside), 1e-3):
            middle = (inside + outside) / 2
            if middle in (inside, outside):
                break
            inside, outside = (middle, outside) if self.valid(self.value(middle)) else (inside, middle)
        return inside

    def _narrow(self, good: Place, bad: Place, resolution: float) -> tuple[Place, Place]:
        """False position with bisection as its guard, then a step to either side of the root, until the two ends are
        closer than the resolution.
        """
        near = 0.8 * resolution
        while abs(good[0] - bad[0]) > near and self.looks < _MOST_LOOKS:
            gap = bad[0] - good[0]
            rise = bad[1] - good[1]
            share = -good[1] / rise if math.isfinite(rise) and rise > 0 else 0.5
            # aim a third of the resolution to the side that is farther away, so that both ends close in
            aim = good[0] + gap * share
            aim += math.copysign(near / 3, gap) * (1 if share < 0.5 else -1)
            low, high = good[0] + 0.01 * gap, bad[0] - 0.01 * gap
            u = min(max(aim, min(low, high)), max(low, high))
            if self.looks % 6 == 5:
                u = good[0] + gap / 2
            height = self.height(u)
            if height <= 0:
                good = (u, height)
            else:
                bad = (u, height)
        return good, bad


class WholeSearch(Search):
    """Over whole numbers from 1 to a largest one."""

    def __init__(
        self, cost: Callable[[Any, bool], float], valid: Callable[[Any], bool], goal: float, largest: int
    ) -> None:
        super().__init__(cost, valid, goal, lambda _: 0.0)
        self.largest = largest
        self.heights: dict[tuple[int, bool], float] = {}

    def value(self, u: float) -> Any:
        """The number itself."""
        return int(u)

    def at(self, n: int) -> float:
        """The height at a number; infinite where it makes nothing."""
        if not self.valid(n):
            return math.inf
        if (n, self.rough) not in self.heights:
            self.heights[n, self.rough] = self.height(n)
        return self.heights[n, self.rough]

    def run(self) -> tuple[Any, Any]:
        """(the dearest whole number that is met, its neighbour that is not)."""
        far = next((x for x in (128, 16, 8, 4, 2) if self.valid(x)), 2)
        falling = self.at(far) < self.at(1)
        good, bad = self._bracket_whole(falling)
        if good is not None and bad is not None:
            good, bad = self._close_in(good, bad)
        self.rough = False
        return self._settled(good, bad, falling)

    def _bracket_whole(self, falling: bool) -> tuple[int | None, int | None]:
        n, last = 1, None
        while (self.at(n) > 0) == falling:
            last, n = n, self._grown(n)
            if n == last:
                return (None, n) if falling else (n, None)
        return (n, last) if falling else (last, n)

    def _settled(self, good: int | None, bad: int | None, falling: bool) -> tuple[int | None, int | None]:
        """Precise costs around what rough ones found; they are only ever lower."""
        dearer = -1 if falling else 1
        n = good if good is not None else bad
        step = 1
        assert n is not None
        if self.at(n) > 0:
            # not even precisely: nothing on the cheap side was left to try
            return None, n
        while True:
            ahead = n + dearer * step
            if ahead < 1 or ahead > self.largest or not self.valid(ahead):
                if step == 1:
                    return n, None
                step //= 2
                continue
            if self.at(ahead) <= 0:
                n, step = ahead, 2 * step
                continue
            return self._close_in(n, ahead)

    def _grown(self, n: int) -> int:
        """Further out, by the height where that says how far."""
        height = self.at(n)
        factor = math.exp(min(max(1.5 * abs(height), 0.7), 7.0)) if math.isfinite(height) else 8.0
        larger = min(max(math.ceil(n * factor), n + 1), self.largest)
        while larger > n and not self.valid(larger):
            larger = (n + larger) // 2
        return larger

    def _close_in(self, good: int, bad: int) -> tuple[int, int]:
        while abs(good - bad) > 1:
            rise = self.at(bad) - self.at(good)
            share = -self.at(good) / rise if math.isfinite(rise) and rise > 0 else 0.5
            if self.looks % 5 == 4:
                share = 0.5
            middle = good + round((bad - good) * min(max(share, 0.0), 1.0))
            if middle in (good, bad):
                middle += (1 if bad > good else -1) * (1 if middle == good else -1)
            if self.at(middle) <= 0:
                good = middle
            else:
                bad = middle
        return good, bad
