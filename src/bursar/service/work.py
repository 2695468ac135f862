"""Slow work in threads, of which no token takes more than its share: the rest of its requests wait for each other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Answer = TypeVar("Answer")
_MOST_KNOWN = 10_000


class Workshop:
    """A few threads; each token has at most ``each`` of them."""

    def __init__(self, name: str, threads: int, each: int) -> None:
        self._pool, self._each = ThreadPoolExecutor(threads, name), each
        self._turns: dict[str, asyncio.Semaphore] = {}
        self.running = 0

    async def run(self, what: Callable[[], Answer], who: str) -> Answer:
        """The answer. Who stops waiting does not stop the work, and keeps the turn as long as it takes."""
        if len(self._turns) > _MOST_KNOWN:
            self._turns = {name: turn for name, turn in self._turns.items() if turn.locked()}
        turn = self._turns.setdefault(who, asyncio.Semaphore(self._each))
        await turn.acquire()
        self.running += 1
        work = asyncio.get_running_loop().run_in_executor(self._pool, what)

        def done(_: asyncio.Future[Answer]) -> None:
            self.running -= 1
            turn.release()
            work.cancelled() or work.exception()  # whoever asked may have gone

        work.add_done_callback(done)
        return await asyncio.shield(work)

    def shut(self) -> None:
        """Begin nothing more; what has begun cannot be stopped, and is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
