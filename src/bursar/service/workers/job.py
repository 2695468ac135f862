"""Something to be counted: what it is, who waits for it, what it has taken so far, and what its tokens have."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from typing import Any

from bursar.service.workers.line import Worker

_HALF_LIFE = 20.0  # seconds
_MOST_TOKENS, _NEXT_TO_NOTHING = 10_000, 0.05
WOULD_PASS = {
    "account": "fewer different terms, a larger width, or some of the theorems by name",
    "plan": "a simpler template, or a larger width",
    "price": "fewer different releases at a time, or what they promise, as declared(…)",
}
_ALIKE = {
    "account_page": "account",
    "plan_page": "plan",
    "losses": "account",
    **dict.fromkeys(("quote", "read", "past"), "price"),
}


def kind_of(task: str) -> str:
    """What a task counts as: an account, a plan or a price."""
    return _ALIKE.get(task, task)


class Counted:
    """How long has been counted for one request, which may need several jobs: the ceiling is on all of them."""

    def __init__(self) -> None:
        self.seconds = 0.0


class Job:
    """Something to be counted, and who waits for it."""

    def __init__(self, kind: str, data: bytes, ceiling: float, order: int) -> None:
        self.kind, self.data, self.ceiling, self.order = kind_of(kind), data, ceiling, order
        self.tokens: Counter[str] = Counter()
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.talk: asyncio.Task[None] | None = None
        self.worker: Worker | None = None
        self.counting = False
        self.tries = 0
        self.used = self.seen = 0.0
        """Seconds of the processor in all, and the worker's clock at the last look."""
        self.since = time.monotonic()
        """When it came, or its last turn began or ended."""


class Uses:
    """Seconds of the processor that tokens have used, of which half are forgotten after a while."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}

    def of(self, token: str) -> float:
        """What a token has used and is not forgotten, in seconds."""
        used, at = self._used.get(token, (0.0, 0.0))
        return used * math.exp2((at - time.monotonic()) / _HALF_LIFE)

    def add(self, token: str, seconds: float) -> None:
        """Add to what a token has used."""
        self._used[token] = (self.of(token) + seconds, time.monotonic())
        if len(self._used) > _MOST_TOKENS:
            self._used = {one: kept for one, kept in self._used.items() if self.of(one) > _NEXT_TO_NOTHING}
