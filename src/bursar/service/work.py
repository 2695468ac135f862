"""The ledger's slow verbs in threads, of which no token takes more than its share: the rest of its requests wait."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

Answer = TypeVar("Answer")


class Workshop:
    """A few threads; each token has at most ``each`` of them."""

    def __init__(self, name: str, threads: int, each: int) -> None:
        self._pool, self._each = ThreadPoolExecutor(threads, name), each
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._asking: Counter[str] = Counter()
        self.running = 0

    async def run(self, what: Callable[[], Answer], who: str) -> Answer:
        """The answer. Who stops waiting does not stop the work, and keeps the turn as long as it takes."""
        turn = self._turns.setdefault(who, asyncio.Semaphore(self._each))
        self._asking[who] += 1
        with ExitStack() as undo:
            undo.callback(self._leave, who)
            await turn.acquire()
            undo.callback(turn.release)
            work = asyncio.get_running_loop().run_in_executor(self._pool, what)
            undo.pop_all()
        self.running += 1

        def done(_: asyncio.Future[Answer]) -> None:
            self.running -= 1
            turn.release()
            self._leave(who)
            work.cancelled() or work.exception()  # whoever asked may have gone

        work.add_done_callback(done)
        return await asyncio.shield(work)

    def _leave(self, who: str) -> None:
        """The last one who asks for a token takes its turns along."""
        self._asking[who] -= 1
        if not self._asking[who]:
            del self._asking[who], self._turns[who]

    def shut(self) -> None:
        """Begin nothing more; what has begun cannot be stopped, and is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
