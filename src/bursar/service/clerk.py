"""Group commit across requests: while one batch is being made durable, the next one gathers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from bursar.errors import StorageFailed
from bursar.ledger.commit.batch import MOST
from bursar.ledger.commit.request import Request
from bursar.ledger.ledger import Ledger

_MOMENT = 0.002  # seconds


Waiting = tuple[Request[Any], asyncio.Future[Any]]


class Clerk:
    """Decides on the loop, where nobody competes for the interpreter, and makes durable in one thread, which the
    interpreter does not notice. Where deciding would have to wait for others, the thread does both.
    """

    def __init__(self, ledger: Ledger, batched: Callable[[int], None]) -> None:
        self._ledger, self._batched = ledger, batched
        self._thread = ThreadPoolExecutor(1, "bursar-clerk")
        self._thread.submit(int)  # now: a batch that has begun must not find that no thread can be had
        self._waiting: list[Waiting] = []
        self._work: asyncio.Task[None] | None = None
        self._shut = False
        self._last = 0
        """How many the last batch had."""

    def submit(self, request: Request[Any]) -> asyncio.Future[Any]:
        """The outcome of a request, once it is durable. Who stops waiting does not undo it: the key finds it again."""
        if self._shut:
            raise StorageFailed("the service is shutting down, retry with the same key")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((request, done))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run())
        return done

    async def _run(self) -> None:
        while self._waiting:
            await self._gather()
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            requests = [request for request, _ in batch]
            try:
                await self._finish(self._ledger.begin(requests) or partial(self._ledger.commit, requests))
            except Exception as problem:
                self._failed(requests, problem)
            except BaseException:
                self._failed(requests, StorageFailed("the service was interrupted, retry with the same key"))
                raise
            finally:
                self._last = len(batch)
                self._batched(len(batch))
                _tell(batch)

    def _failed(self, requests: Sequence[Request[Any]], problem: Exception) -> None:
        for request in requests:
            request.outcome, request.failure = None, problem

    async def _finish(self, rest: Callable[[], None]) -> None:
        """What was begun must be finished, in whichever thread there is."""
        try:
            running = asyncio.get_running_loop().run_in_executor(self._thread, rest)
        except RuntimeError:  # the thread is gone
            rest()
        else:
            await asyncio.shield(running)

    async def _gather(self) -> None:
        """Among many, read on for a moment, as long as that brings more requests: they share the sync."""
        if self._last > 1:
            seen, end = 0, time.monotonic() + _MOMENT
            while seen < len(self._waiting) < MOST and time.monotonic() < end:
                seen = len(self._waiting)
                await asyncio.sleep(0)

    async def shut(self) -> None:
        """Accept nothing more, and finish what was accepted."""
        self._shut = True
        if self._work is not None:
            await asyncio.shield(self._work)
        self._thread.shutdown()


def _tell(batch: Sequence[Waiting]) -> None:
    """Give everybody who still waits the outcome of their request."""
    for request, done in batch:
        if done.done():
            continue
        if request.failure is None:
            done.set_result(request.outcome)
        else:
            done.set_exception(request.failure)
