"""The workers that wait for something to do: a few are kept, others are forked when they are wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bursar.service.workers.line import Nursery, Worker

_FORKS = 2  # at a time


class Bench:
    """As many as may count at a time are kept."""

    def __init__(self, most: int, memory: int) -> None:
        self.most, self.idle = most, list[Worker]()
        self._nursery = Nursery(memory)
        self._forking = asyncio.Semaphore(_FORKS)
        self._starting: asyncio.Task[None] | None = None
        self._shut = False

    def start(self) -> None:
        """Have them ready before anybody asks."""
        self._starting = asyncio.get_running_loop().create_task(self._ready())

    async def _ready(self) -> None:
        while len(self.idle) < self.most:
            self.idle.append(await self._nursery.fork())

    async def taken(self, wanted: Callable[[], bool], pay: Callable[[], None]) -> Worker | None:
        """A worker; None where it is not wanted any more when its turn to be forked comes. A fresh one is paid for."""
        if self.idle:
            return self.idle.pop()
        async with self._forking:
            if not wanted():
                return None
            pay()
            return await self._nursery.fork()

    async def kept(self, worker: Worker | None) -> None:
        """One that is free is kept for the next job, as far as there may be any."""
        if worker is None:
            return
        if len(self.idle) < self.most and not self._shut:
            self.idle.append(worker)
        else:
            worker.kill()
            await worker.gone()

    async def shut(self) -> None:
        """End all of them, and the nursery."""
        self._shut = True
        if self._starting is not None:
            self._starting.cancel()
        for worker in self.idle:
            worker.kill()
            await worker.gone()
        self.idle.clear()
        self._nursery.close()
