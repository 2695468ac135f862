"""Patience with slow bodies: one timer for all who wait, since nearly every body is there already."""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from bursar.problems import Rejected

Body = TypeVar("Body")
_LOOKS = 8  # in the time that a body may take


class _Wait:
    """One body that is not there yet."""

    __slots__ = ("_all", "_since", "_task", "over")

    def __init__(self, every: set[_Wait]) -> None:
        self._all, self._since, self.over = every, time.monotonic(), False
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        self._all.add(self)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._all.discard(self)
        if self.over and kind is asyncio.CancelledError:
            assert self._task is not None
            self._task.uncancel()
            raise Rejected("too_slow", "the body did not arrive in time")

    def look(self, ended: float) -> None:
        """End it, if it began before then."""
        if self._since <= ended and not self.over and self._task is not None:
            self.over = True
            self._task.cancel()


class Patience:
    """Ends the wait of whoever waits longer than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waits: set[_Wait] = set()
        self._watching = False

    @types.coroutine
    def read(self, reading: Coroutine[Any, Any, Body]) -> Generator[Any, Any, Body]:
        """What a coroutine reads, or `Rejected`; one that need not wait is not watched either."""
        try:
            wanted = reading.send(None)
        except StopIteration as there:
            return there.value  # type: ignore[no-any-return]
        with self._wait():
            try:
                yield wanted
            except BaseException:
                reading.close()
                raise
            return (yield from reading)  # type: ignore[no-any-return]

    def _wait(self) -> _Wait:
        if not self._watching:
            self._watching = True
            self._later()
        return _Wait(self._waits)

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(self._seconds / _LOOKS, self._look)

    def _look(self) -> None:
        """End what has taken too long, and look again later while anybody waits."""
        for wait in self._waits:
            wait.look(time.monotonic() - self._seconds)
        self._watching = bool(self._waits)
        if self._watching:
            self._later()
