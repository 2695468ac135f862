"""Limits on how often, a bucket of tokens that refills, and on how many at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bursar.errors import RateLimited

_MOST = 10_000


class Buckets:
    """One bucket for each name; full ones are forgotten when there are too many."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._levels: dict[str, tuple[float, float]] = {}

    def left(self, name: str) -> float:
        """How much of a name's bucket may be taken now."""
        level, at = self._levels.get(name, (self._burst, 0.0))
        return min(self._burst, level + (self._clock() - at) * self._rate)

    def take(self, name: str, what: str) -> None:
        """Take one from a name's bucket; `RateLimited` says when there will be one again."""
        now = self._clock()
        level, at = self._levels.get(name, (self._burst, now))
        left = min(self._burst, level + (now - at) * self._rate)
        if left < 1:
            raise RateLimited(f"too many {what}", after=(1 - left) / self._rate)
        self._levels[name] = (left - 1, now)
        if len(self._levels) > _MOST:
            self._levels = {key: value for key, value in self._levels.items() if self.left(key) < self._burst}
            while len(self._levels) > _MOST:  # a flood of names: the oldest are forgotten
                del self._levels[next(iter(self._levels))]


class Shares:
    """How many at a time, for each name."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, name: str) -> Iterator[bool]:
        """Whether there is a place, which is kept meanwhile."""
        free = self._taken[name] < self._most
        self._taken[name] += free
        try:
            yield free
        finally:
            self._taken[name] -= free
            if not self._taken[name]:
                del self._taken[name]
