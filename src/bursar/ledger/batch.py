"""Group commit: callers that wait at the same time share one transaction, hence one sync.

The first to arrive becomes the clerk: it performs whatever has gathered, its own request included, in one transaction,
and wakes the others when that is durable. Alone it is one transaction for one request, without a thread or a delay.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from bursar.ledger.posting import Request

MOST = 512
"""Requests in one transaction."""


class GroupCommit:
    """A queue before a function that performs a batch."""

    def __init__(self, perform: Callable[[Sequence[Request]], None]) -> None:
        self._perform = perform
        self._clerk = threading.Lock()
        self._waiting: deque[tuple[Request, threading.Event]] = deque()

    def submit(self, request: Request) -> Any:
        """The outcome of a request, once it is durable."""
        if not self._waiting and self._clerk.acquire(blocking=False):
            try:
                self._run([request])
            finally:
                self._clerk.release()
        else:
            self._wait(request)
        if request.failure is not None:
            raise request.failure
        return request.outcome

    def _wait(self, request: Request) -> None:
        done = threading.Event()
        self._waiting.append((request, done))
        with self._clerk:
            while not done.is_set():
                batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
                self._run([one for one, _ in batch])
                for _, other in batch:
                    other.set()

    def _run(self, requests: Sequence[Request]) -> None:
        """A failed transaction is everybody's failure; nobody is left waiting."""
        try:
            self._perform(requests)
        except BaseException as problem:
            for request in requests:
                request.outcome, request.failure = None, problem
            if not isinstance(problem, Exception):
                raise
