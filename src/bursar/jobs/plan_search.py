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
        # most unknowns are noises, whose cost falls about as they grow
        away = math.copysign(min(max(abs(first), 0.05 if self.start else 0.3), 3.0), first) if abs(first) < 50 else 0.7
        away = away if self.valid(self.value(start + away)) else -away
        if not self.valid(self.value(start + away)):
            away = 0.05 if self.valid(self.value(start + 0.05)) else -0.05
        seen = [(start, first), (start + away, self.height(start + away))]
        if self._cost_at(start) == self._cost_at(start + away) == math.inf:
            seen = self._look_around(start)
            if not seen:
                return None, None
        one, other = seen
        # the side on which the cost rises
        rises = (self._cost_at(other[0]) >= self._cost_at(one[0])) == (other[0] > one[0])
        self.up = 1.0 if rises else -1.0
        # rough looks are followed only so far, unless they turn out to be as precise as any
        blurred = self.rough and self.cost(self.value(start), True) != self.cost(self.value(start), False)
        good, bad = self._closed(seen, _COARSE if blurred else None)
        if self.rough:
            self.rough, self.looks = False, 0
            seen = [self.again(place) for place in (good, bad) if place is not None]
            good, bad = self._closed(seen, None)
        if good is None:
            return None, None
        return self.value(good[0]), None if bad is None else self.value(bad[0])

    def again(self, place: Place) -> Place:
        """A place with its precise height."""
        return place[0], self.height(place[0])

    def _closed(self, seen: list[Place], resolution: float | None) -> tuple[Place | None, Place | None]:
        """A met and an unmet place no farther apart than the resolution; one is None where the walk ends at an edge."""
        while self.looks < _MOST_LOOKS:
            good = max((p for p in seen if p[1] <= 0), key=lambda p: self.up * p[0], default=None)
            bad = min((p for p in seen if p[1] > 0), key=lambda p: self.up * p[0], default=None)
            if good is None or bad is None:
                u = self._outward(seen, good, bad)
                if u is None:
                    break
            else:
                near = self.resolution(self.value(good[0])) if resolution is None else resolution
                if abs(good[0] - bad[0]) <= near:
                    break
                u = self._between(seen, good, bad, near)
            seen = [*seen, (u, self.height(u))]
        return good, bad

    def _slope(self, seen: list[Place]) -> tuple[Place, float]:
        """The lowest place that was looked at, and the line through it and the next lowest."""
        finite = sorted((p for p in seen if math.isfinite(p[1])), key=lambda p: abs(p[1]))
        if len(finite) < 2:
            return (finite or seen)[0], 0.0
        (u, height), (other, far) = finite[0], finite[1]
        return finite[0], (far - height) / (other - u) if other != u else 0.0

    def _root(self, seen: list[Place]) -> float:
        """Where the curve through the three lowest places (as a quadratic in the height) meets 0, or the line does."""
        place, slope = self._slope(seen)
        line = place[0] - place[1] / slope if slope != 0 else place[0]
        finite = sorted((p for p in seen if math.isfinite(p[1])), key=lambda p: abs(p[1]))[:3]
        if len({p[1] for p in finite}) < 3:
            return line
        (a, x), (b, y), (c, z) = finite
        curve = a * y * z / ((x - y) * (x - z)) + b * x * z / ((y - x) * (y - z)) + c * x * y / ((z - x) * (z - y))
        # trusted only where it refines the line
        return curve if abs(curve - line) <= 0.5 * abs(line - place[0]) else line

    def _outward(self, seen: list[Place], good: Place | None, bad: Place | None) -> float | None:
        """Further out, a little beyond where the line leads; None where there is no further."""
        known = good if bad is None else bad
        assert known is not None
        side = self.up if bad is None else -self.up
        place, slope = self._slope(seen)
        root = self._root(seen)
        step = abs(root - place[0]) if slope * self.up > 0 else 2 * abs(seen[-1][0] - seen[0][0]) + 0.7
        u = known[0] + side * min(max(1.02 * step, 1e-7), 6.0 if slope * self.up > 0 else 12.0)
        if abs(u) > _FAR:
            return None
        if not self.valid(self.value(u)):
            edge = self._edge(known[0], u)
            return None if edge == known[0] or any(edge == p[0] for p in seen) else edge
        return u

    def _between(self, seen: list[Place], good: Place, bad: Place, near: float) -> float:
        """Where the line leads; a hair to the other side where one end is there already; the middle if that is slow."""
        gap = bad[0] - good[0]
        _, slope = self._slope(seen)
        root = self._root(seen) if slope * self.up > 0 else good[0] + gap / 2
        closer, farther = sorted((good, bad), key=lambda end: abs(end[0] - root))
        side = math.copysign(1.0, farther[0] - closer[0])
        apart = abs(root - closer[0])
        if abs(gap) > 50 * near:
            u = root
        elif apart < 0.93 * near:
            u = closer[0] + side * 0.97 * near  # just past the root, and close enough to be the other end
        else:
            u = root + side * 0.4 * near
        margin = math.copysign(min(0.02 * abs(gap), 0.3 * near), gap)
        low, high = sorted((good[0] + margin, bad[0] - margin))
        return min(max(u, low), high) if self.looks % 12 != 11 else good[0] + gap / 2

    def _cost_at(self, u: float) -> float:
        return self.cost(self.value(u), self.rough)

    def _start(self) -> float:
        if self.start is not None and self.start > 0 and self.valid(self.start):
            return math.log(self.start)
        for u in (0.0, -0.7, -4.6, 0.7, 4.6, -11.5, 11.5):
            if self.valid(self.value(u)):
                return u
        return 0.0

    def _look_around(self, start: float) -> list[Place]:
        """Where even the first values have no finite cost: wider and wider, on both sides."""
        for distance in (2.3, 4.6, 9.2, 18.4, 36.8):
            for side in (1, -1):
                u = start + side * distance
                if self.valid(self.value(u)) and (height := self.height(u)) < math.inf:
                    return [(u, height), self.again((u - side * 0.7, 0.0))]
        return []

    def _edge(self, inside: float, outside: float) -> float:
        """The last valid place."""
        while abs(outside - inside) > 1e-15 * max(abs(inside), 1e-3):
            middle = (inside + outside) / 2
            if middle in (inside, outside):
                break
            inside, outside = (middle, outside) if self.valid(self.value(middle)) else (inside, middle)
        return inside
