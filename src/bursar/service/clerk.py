"""Group commit across requests: while one batch is being made durable, the next one gathers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bursar.errors import StorageFailed
from bursar.ledger.batch import MOST
from bursar.ledger.posting import Request


class Clerk:
    """One thread that commits; everybody else waits without one."""

    def __init__(self, commit: Callable[[Sequence[Request]], None], batched: Callable[[int], None]) -> None:
        self._commit, self._batched = commit, batched
        self._thread = ThreadPoolExecutor(1, "bursar-clerk")
        self._waiting: list[tuple[Request, asyncio.Future[None]]] = []
        self._work: asyncio.Task[None] | None = None
        self._shut = False

    async def submit(self, request: Request) -> Any:
        """The outcome of a request, once it is durable. Who stops waiting does not undo it: the key finds it again."""
        if self._shut:
            raise StorageFailed("the service is shutting down, retry with the same key")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, done))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run())
        await done
        if request.failure is not None:
            raise request.failure
        return request.outcome

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            requests = [request for request, _ in batch]
            try:
                await loop.run_in_executor(self._thread, self._commit, requests)
            except Exception as problem:
                for request in requests:
                    request.outcome, request.failure = None, problem
            self._batched(len(batch))
            for _, done in batch:
                if not done.done():
                    done.set_result(None)

    async def shut(self) -> None:
        """Accept nothing more, and finish what was accepted."""
        self._shut = True
        if self._work is not None:
            await self._work
        self._thread.shutdown()
