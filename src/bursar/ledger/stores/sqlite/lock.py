"""The writers' lock of a file, fair among processes.

Whoever comes takes a number, and waits until the one before is being served: locks on single bytes of a sidecar file,
which the operating system releases when a process dies. Since a waiter that dies lets the next one pass too early, the
queue only orders; one more byte excludes. Where every number has been served nobody waits, and that byte alone is
enough: two calls instead of eight. Inside a process an ordinary lock stands in front, because such locks belong to
processes, not to threads.

Handing over costs more than a charge: the next process wakes up with cold caches. So whoever keeps coming at once has a
turn of some milliseconds. Between its charges it holds nothing: the next one knows when the turn ends, and sleeps so
long; a process that stays away, or is stopped, costs the others the rest of one turn.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bursar.errors import InputError
from bursar.ledger.stores._base import Occupied
from bursar.ledger.stores.file_locks import lock_byte, try_lock, unlock_byte, unlock_bytes

_TICKETS = 1 << 20  # bytes from here on stand for numbers
_MOST = 1 << 30
_DOOR, _HOLDER = 8, 9
_PAGE = 4096
_FOLLOWING, _SERVED, _OWNER, _UNTIL = 0, 16, 24, 32
"""Where the page has the next number, the one after the last that was served, the number whose turn it is, and until
when (nanoseconds). They are hints: a crash may leave any of them behind, which costs a turn in the queue or a sleep.
"""
_NUMBER = struct.Struct("<q")
_TURN = 5_000_000  # nanoseconds, of one process, while others wait
_ROUND = 40_000_000  # of all their turns
_EAGER = 500_000  # whoever came again within this is expected to do so again; slow disks need no turns


class WriterLock:
    """One for each file and process: closing any handle of a file would drop all locks the process has on it."""

    def __init__(self, path: str) -> None:
        self.path, self.users = path, 0
        self.threads = threading.Lock()
        """Whoever wants a turn takes this first."""
        self._mine, self._eager = -1, False
        self._left = self._until = self._since = self._took = 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            if os.fstat(self._file).st_size < _PAGE:  # written, not stretched: the page must not need space later
                os.lseek(self._file, _OWNER, os.SEEK_SET)
                os.write(self._file, bytes(_PAGE - _OWNER))
            self._page = mmap.mmap(self._file, _PAGE)
        except BaseException:
            os.close(self._file)
            raise

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for one's turn, and keep it."""
        with self.threads:
            try:
                self.take()
                yield
            finally:
                self.give()

    def take(self, wait: bool = True) -> bool:
        """Wait for one's turn among processes (or say that one would have to), with `threads` in hand. An interrupt may
        come at any point: `give` lets go of whatever was locked until then.
        """
        if self._file < 0:
            raise InputError("this ledger has been shut")
        now = time.monotonic_ns()
        self._eager = now - self._left < _EAGER and self._took < _TURN // 4
        if now >= self._until:
            self._mine = -1
        if (self._mine >= 0 or self._number(_FOLLOWING) == self._number(_SERVED)) and try_lock(self._file, _HOLDER):
            self._since = now
            return True
        if wait:
            self._queue()
            lock_byte(self._file, _HOLDER)
            self._since = time.monotonic_ns()
            self._begin_turn()
        return wait

    def give(self) -> None:
        """The next one, please, unless this one's turn is not over; in any case nothing stays locked."""
        if self._file >= 0:
            self._left = time.monotonic_ns()
            self._took = self._left - self._since
            if self._mine >= 0 and self._left >= self._until:
                self._set(_SERVED, self._mine + 1)
            unlock_bytes(self._file, (_DOOR, _HOLDER, _TICKETS + self._mine % _MOST))

    def _queue(self) -> None:
        """Take a number, wait until the one before has its turn, and for the end of that."""
        lock_byte(self._file, _DOOR)
        try:
            number = self._mine = self._number(_FOLLOWING)
            self._until = 0
            self._set(_FOLLOWING, number + 1)
            lock_byte(self._file, _TICKETS + number % _MOST)
        finally:
            unlock_byte(self._file, _DOOR)
        before = _TICKETS + (number - 1) % _MOST
        lock_byte(self._file, before)
        unlock_byte(self._file, before)
        left = self._number(_UNTIL) - time.monotonic_ns()
        if self._number(_OWNER) == number - 1 and left > 0:
            time.sleep(min(left, _TURN) / 1e9)

    def _begin_turn(self) -> None:
        """Say until when, and let the next one know that it is the next."""
        waiting = self._number(_FOLLOWING) - self._mine - 1
        if waiting > 0 and self._eager:
            self._until = self._since + min(_TURN, _ROUND // waiting)
        self._set(_UNTIL, self._until)
        self._set(_OWNER, self._mine)
        unlock_byte(self._file, _TICKETS + self._mine % _MOST)

    def _number(self, place: int) -> int:
        number: int = _NUMBER.unpack_from(self._page, place)[0]
        return number

    def _set(self, place: int, number: int) -> None:
        _NUMBER.pack_into(self._page, place, number)

    def close(self) -> None:
        """Let go, when the last user does."""
        with _open.mutex:
            self.users -= 1
            if self.users == 0:
                _open.files.pop(self.path, None)
                self._page.close()
                os.close(self._file)
                self._file = -1


class _Open:
    """The locks of this process, by file."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """After a fork nothing of it is ours: locks belong to the process that took them."""
        self.mutex = threading.Lock()
        self.files: dict[str, WriterLock] = {}


_open = _Open()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.forget)


def writer_lock(path: str) -> WriterLock:
    """The lock of a file; every call wants one ``close``."""
    real = os.path.realpath(path)
    with _open.mutex:
        lock = _open.files.get(real)
        if lock is None:
            lock = _open.files[real] = WriterLock(real)
        lock.users += 1
        return lock


class _AtOnce:
    """A lock for whoever does not want to wait for it."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise Occupied

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def taken(lock: Any, wait: bool) -> Any:
    """A lock as a context; without ``wait`` it raises `Occupied` where somebody has it."""
    return lock if wait else _AtOnce(lock)
