"""The writers' lock of a file, fair among processes.

Whoever comes takes a number, and waits for the holder of the number before: locks on single bytes of a sidecar file,
which the operating system releases when a process dies. Since a waiter that dies lets the next one pass too early, the
queue only orders; one more byte excludes. Where every number has been served nobody waits, and that byte alone is
enough: two calls instead of eight. Whoever comes meanwhile takes a number, so the next one has to queue. Inside a
process an ordinary lock stands in front, because such locks belong to processes, not to threads.

Handing over costs more than a charge: the next process wakes up with cold caches. So whoever keeps coming at once keeps
its number for a turn of some milliseconds. A thread ends the turn of a process that does not come again.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

from bursar.errors import InputError

_TICKETS = 1 << 20  # bytes from here on stand for numbers
_MOST = 1 << 30
_DOOR, _HOLDER = 8, 9
_PAGE = 4096
_FOLLOWING, _SERVED = 0, 16
"""Where the page has the next number, and the one after the last that was served: a hint that a crash may leave behind,
which then costs a turn in the queue.
"""
_NUMBER = struct.Struct("<q")
_TURN = 0.005  # seconds, of one process, while others wait
_ROUND = 0.04  # seconds, of all their turns
_EAGER = 0.0005  # seconds: whoever came again within this is expected to do so again
_open_files: dict[str, WriterLock] = {}
_registry = threading.Lock()


class WriterLock:
    """One for each file and process: closing any handle of a file would drop all locks the process has on it."""

    def __init__(self, path: str) -> None:
        self.path, self.users = path, 0
        self.threads = threading.Lock()
        """Whoever wants a turn takes this first."""
        self._mine, self._kept, self._eager = -1, False, False
        self._left = self._until = 0.0
        self._warden: threading.Thread | None = None
        self._watched = threading.Event()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            if os.fstat(self._file).st_size < _PAGE:  # written, not stretched: the page must not need space later
                os.pwrite(self._file, bytes(_PAGE - 32), 32)
            self._page = mmap.mmap(self._file, _PAGE)
        except BaseException:
            os.close(self._file)
            raise
        self._pid = os.getpid()

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
        self._eager = time.monotonic() - self._left < _EAGER
        if not self._kept:
            self._mine = -1
        if (self._kept or self._number(_FOLLOWING) == self._number(_SERVED)) and _try_lock(self._file, _HOLDER):
            return True
        if wait:
            if not self._kept:
                self._queue()
            _lock(self._file, _HOLDER)
        return wait

    def give(self) -> None:
        """The next one, please; or not yet, if this one's turn is not over and it is likely to come again at once."""
        if self._file >= 0:
            self._left = time.monotonic()
            if self._mine >= 0 and self._eager and self._left < self._until:
                _unlock(self._file, _HOLDER)
                if not self._kept:
                    self._kept = True
                    self._keep()
            else:
                self._let_go()

    def _let_go(self) -> None:
        if self._mine >= 0:
            _NUMBER.pack_into(self._page, _SERVED, self._mine + 1)
        _unlock_all(self._file, _TICKETS + self._mine % _MOST)
        self._kept = False

    def _keep(self) -> None:
        """See to it that the turn ends, even if this process does not come again."""
        if self._warden is None:
            self._warden = threading.Thread(target=self._watch, name="bursar-turn", daemon=True)
            self._warden.start()
        self._watched.set()

    def _watch(self) -> None:
        while self._watched.wait() and self._file >= 0:
            self._watched.clear()
            time.sleep(max(self._until - time.monotonic(), 0.0))
            with self.threads:
                if self._kept and self._file >= 0 and time.monotonic() >= self._until:
                    self._let_go()

    def _queue(self) -> None:
        """Take a number, and wait until the one before has been served."""
        _lock(self._file, _DOOR)
        try:
            number = self._number(_FOLLOWING)
            _NUMBER.pack_into(self._page, _FOLLOWING, number + 1)
            self._mine = number
            _lock(self._file, _TICKETS + number % _MOST)
        finally:
            _unlock(self._file, _DOOR)
        before = _TICKETS + (number - 1) % _MOST
        _lock(self._file, before)
        _unlock(self._file, before)
        waiting = self._number(_FOLLOWING) - number - 1
        self._until = time.monotonic() + (min(_TURN, _ROUND / waiting) if waiting > 0 else 0.0)

    def _number(self, place: int) -> int:
        number: int = _NUMBER.unpack_from(self._page, place)[0]
        return number

    def close(self) -> None:
        """Let go, when the last user does."""
        with _registry:
            self.users -= 1
            if self.users == 0:
                _open_files.pop(self.path, None)
                with self.threads if os.getpid() == self._pid else nullcontext():  # a fork may copy it locked
                    self._page.close()
                    os.close(self._file)
                    self._file = -1
                self._watched.set()


def writer_lock(path: str) -> WriterLock:
    """The lock of a file; every call wants one ``close``."""
    real = os.path.realpath(path)
    with _registry:
        lock = _open_files.get(real)
        if lock is None or lock._pid != os.getpid():
            lock = _open_files[real] = WriterLock(real)
        lock.users += 1
        return lock


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, byte: int) -> None:
        while not _try_lock(file, byte):
            time.sleep(0.001)

    def _try_lock(file: int, byte: int) -> bool:
        try:
            os.lseek(file, byte, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: int, byte: int) -> None:
        os.lseek(file, byte, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

    def _unlock_all(file: int, ticket: int) -> None:
        for byte in (_DOOR, _HOLDER, ticket):
            with suppress(OSError):
                _unlock(file, byte)

else:
    import fcntl

    def _lock(file: int, byte: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX, 1, byte)

    def _try_lock(file: int, byte: int) -> bool:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(file: int, byte: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

    def _unlock_all(file: int, ticket: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN)
