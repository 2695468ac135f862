"""The search behind `plan` where the unknown is a whole number: how many releases, how many categories."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from bursar.jobs.plan_search import Search


class WholeSearch(Search):
    """Over whole numbers from 1 to a largest one."""

    def __init__(
        self, cost: Callable[[Any, bool], float], valid: Callable[[Any], bool], goal: float, largest: int
    ) -> None:
        super().__init__(cost, valid, goal, lambda _: 0.0)
        self.largest = largest
        self.heights: dict[tuple[int, bool], float] = {}

    def value(self, u: float) -> Any:
        """The unknown at a place of the scale: the number itself."""
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
