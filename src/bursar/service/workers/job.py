"""Something to be counted: what it is, who waits for it, what it has taken so far, and what its tokens have."""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections import Counter
from typing import Any

from bursar.service.workers.line import Worker

SLICE = 0.15  # seconds that a job counts before it gives way to its like
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
    **dict.fromkeys(("quote", "read", "past", "more", "instead"), "price"),
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

    def __init__(self, kind: str, data: bytes, before: float, order: int) -> None:
        self.kind, self.data, self.before, self.order = kind_of(kind), data, before, order
        """``before``: seconds counted for the same request, or in vain, before what is being counted now."""
        self.ceiling = 0.0
        self.tokens: Counter[str] = Counter()
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.talk: asyncio.Task[None] | None = None
        self.worker: Worker | None = None
        self.counting = self.lost = False
        self.tries = 0
        self.used = self.seen = 0.0
        """Seconds of the processor in all, and the worker's clock at the last look."""
        self._came = self._began = time.monotonic()
        """When its waiting began, and its last turn."""

    def go_on(self) -> None:
        """Let it count, from now on."""
        self.counting, self._began = True, time.monotonic()
        if self.worker is not None:
            self.worker.signal(signal.SIGCONT)

    def stand(self) -> None:
        """Its turn ends; who has hardly had one has waited all the time."""
        if self.had_its_turn():
            self._came = time.monotonic()
        self.counting = False
        if self.worker is not None:
            self.worker.signal(signal.SIGSTOP)

    def had_its_turn(self) -> bool:
        """Whether it has counted for a while, since it was last let."""
        return time.monotonic() - self._began >= SLICE

    def waited(self) -> float:
        """Seconds that it has waited for the turn that it has or wants; none once it has had it."""
        if self.counting:
            return 0.0 if self.had_its_turn() else self._began - self._came
        return time.monotonic() - self._came

    def lose(self) -> None:
        """What it has counted is gone: it is not new for that, and begins again when there is room."""
        self.before, self.used, self.lost = self.before + self.used, 0.0, True


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
