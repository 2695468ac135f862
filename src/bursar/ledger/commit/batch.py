"""Group commit: callers that wait at the same time share one transaction, hence one sync.

Whoever finds nobody at work becomes the clerk and performs its request at once: alone, that is one transaction without
a thread or a delay. Those who come meanwhile wait; the clerk hands over to the first of them, who performs all that has
gathered in one transaction, and wakes the others when that is durable. Nobody is woken twice.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from bursar.errors import StorageFailed
from bursar.ledger.commit.request import Request
from bursar.ledger.stores._base import Occupied

Outcome = TypeVar("Outcome")
Answer = TypeVar("Answer")

MOST = 512
"""Requests in one transaction."""
_PATIENCE = 0.5  # seconds, before a waiter looks whether somebody is at work


class _Waiting:
    """A caller that waits: for its outcome, or to become the clerk."""

    __slots__ = ("clerk", "request", "woken")

    def __init__(self, request: Request[Any]) -> None:
        self.request, self.clerk = request, False
        self.woken = threading.Lock()
        self.woken.acquire()


class GroupCommit:
    """A queue before a function that performs a batch.

    An interrupt may strike a caller at any point. Whoever waits therefore looks up from time to time: if nobody is at
    work, the clerk was lost, and the one who notices takes over. Keys make a request that was performed twice harmless.
    """

    def __init__(
        self,
        perform: Callable[[Sequence[Request[Any]]], None],
        start: Callable[[Sequence[Request[Any]]], Callable[[], None]],
    ) -> None:
        """``start`` does a part of ``perform`` and gives back the rest, or raises `Occupied`."""
        self._perform, self._start = perform, start
        self._mutex, self._working = threading.Lock(), threading.Lock()
        self._busy = False
        self._queue: deque[_Waiting] = deque()

    def submit(self, request: Request[Answer]) -> Answer:
        """The outcome of a request, once it is durable."""
        place, clerk = _Waiting(request), False
        try:
            with self._mutex:
                if self._busy:
                    self._queue.append(place)
                else:
                    clerk = True
                    self._busy = True
            if clerk:
                self._serve([place])
            elif self._wait(place):
                clerk = True
                self._serve(self._gathered(place))
        finally:
            if clerk:
                self._hand_over()
            elif place in self._queue:
                self._leave(place)
        if request.failure is not None:
            raise request.failure
        return request.outcome  # type: ignore[return-value]  # which is there when nothing failed

    def together(self, requests: Sequence[Request[Any]]) -> None:
        """Perform a batch that somebody else has gathered; each request keeps its outcome or failure."""
        with self._working:
            _run(requests, lambda: self._perform(requests))

    def begin(self, requests: Sequence[Request[Any]]) -> Callable[[], None] | None:
        """The same in two steps: decide and write now, then whoever calls what this gives back, in any thread, makes it
        durable. None, with nothing done, where the first step would have to wait for somebody.
        """
        finish, mine = None, False
        try:
            mine = self._working.acquire(blocking=False)
            if not mine:
                return None
            finish = _run(requests, lambda: self._start(requests))
        except Occupied:
            return None
        finally:
            if mine and finish is None:
                self._working.release()
        return (lambda: None) if finish is None else partial(self._finish, requests, finish)

    def _finish(self, requests: Sequence[Request[Any]], finish: Callable[[], None]) -> None:
        try:
            _run(requests, finish)
        finally:
            self._working.release()

    def _wait(self, place: _Waiting) -> bool:
        """Until somebody has performed the request, or until it is this caller's turn to be the clerk."""
        while not place.woken.acquire(timeout=_PATIENCE):
            if self._working.locked():
                continue
            with self._mutex:
                if place in self._queue:
                    self._queue.remove(place)
                    return True
            if place.request.outcome is not None or place.request.failure is not None:
                return False
            if not self._working.locked() and not place.clerk:
                return True
        return place.clerk

    def _gathered(self, first: _Waiting) -> list[_Waiting]:
        with self._mutex:
            return [first, *(self._queue.popleft() for _ in range(min(MOST - 1, len(self._queue))))]

    def _serve(self, places: Sequence[_Waiting]) -> None:
        """Perform a batch, and wake those who were in it."""
        try:
            with self._working:
                requests = [place.request for place in places]
                _run(requests, lambda: self._perform(requests))
        finally:
            for place in places[1:]:
                place.woken.release()

    def _hand_over(self) -> None:
        """The first who waits becomes the clerk."""
        with self._mutex:
            following = self._queue.popleft() if self._queue else None
            self._busy = following is not None
        if following is not None:
            following.clerk = True
            following.woken.release()

    def _leave(self, place: _Waiting) -> None:
        """Step out of the queue."""
        with self._mutex:
            if place in self._queue:
                self._queue.remove(place)


def _run(requests: Sequence[Request[Any]], work: Callable[[], Outcome]) -> Outcome | None:
    """A failed transaction is everybody's failure; nobody is left waiting."""
    try:
        return work()
    except Occupied:
        raise
    except Exception as problem:
        for request in requests:
            request.outcome, request.failure = None, problem
    except BaseException:  # an interrupt is the clerk's own
        for request in requests:
            request.outcome = None
            request.failure = StorageFailed("the commit was interrupted, retry with the same key")
        raise
    return None
