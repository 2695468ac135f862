"""Group commit: callers that wait at the same time share one transaction, hence one sync.

Whoever finds nobody at work becomes the clerk and performs its request at once: alone, that is one transaction without
a thread or a delay. Those who come meanwhile wait; the clerk hands over to the first of them, who performs all that has
gathered in one transaction, and wakes the others when that is durable. Nobody is woken twice.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from bursar.ledger.posting import Request

MOST = 512
"""Requests in one transaction."""


class _Waiting:
    """A caller that waits: for its outcome, or to become the clerk."""

    __slots__ = ("clerk", "request", "woken")

    def __init__(self, request: Request) -> None:
        self.request, self.clerk = request, False
        self.woken = threading.Lock()
        self.woken.acquire()


class GroupCommit:
    """A queue before a function that performs a batch."""

    def __init__(self, perform: Callable[[Sequence[Request]], None]) -> None:
        self._perform = perform
        self._mutex = threading.Lock()
        self._busy = False
        self._queue: deque[_Waiting] = deque()

    def submit(self, request: Request) -> Any:
        """The outcome of a request, once it is durable."""
        with self._mutex:
            place = _Waiting(request) if self._busy else None
            if place is None:
                self._busy = True
            else:
                self._queue.append(place)
        if place is None:
            self._serve([request], [])
        else:
            place.woken.acquire()
            if place.clerk:
                self._serve_waiting(place)
        if request.failure is not None:
            raise request.failure
        return request.outcome

    def _serve_waiting(self, first: _Waiting) -> None:
        with self._mutex:
            others = [self._queue.popleft() for _ in range(min(MOST - 1, len(self._queue)))]
        self._serve([first.request, *(other.request for other in others)], others)

    def _serve(self, requests: Sequence[Request], others: Sequence[_Waiting]) -> None:
        """Perform a batch, hand over, and wake those who were in it."""
        try:
            self._run(requests)
        finally:
            with self._mutex:
                following = self._queue.popleft() if self._queue else None
                self._busy = following is not None
            if following is not None:
                following.clerk = True
                following.woken.release()
            for other in others:
                other.woken.release()

    def _run(self, requests: Sequence[Request]) -> None:
        """A failed transaction is everybody's failure; nobody is left waiting."""
        try:
            self._perform(requests)
        except BaseException as problem:
            for request in requests:
                request.outcome, request.failure = None, problem
            if not isinstance(problem, Exception):
                raise
