"""Patience with slow bodies: one timer for all who wait, since nearly every body is there already."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from bursar.problems import Rejected

_LOOKS = 8  # in the time that a body may take


class Patience:
    """Ends the wait of whoever waits longer than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[asyncio.Task[Any], float] = {}
        self._over: set[asyncio.Task[Any]] = set()
        self._watching = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._since[task] = time.monotonic()
        if not self._watching:
            self._watching = True
            self._later()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        del self._since[task]
        if self._over and task in self._over:
            self._over.discard(task)
            if kind is asyncio.CancelledError:
                task.uncancel()
                raise Rejected("too_slow", "the body did not arrive in time")

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(self._seconds / _LOOKS, self._look)

    def _look(self) -> None:
        """Cancel those whose time is over; nobody waits, nobody watches."""
        ended = time.monotonic() - self._seconds
        for task, since in self._since.items():
            if since <= ended and task not in self._over:
                self._over.add(task)
                task.cancel()
        self._watching = bool(self._since)
        if self._watching:
            self._later()
