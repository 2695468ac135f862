"""The writers' lock of a file, fair among processes.

Whoever comes takes a number, and waits for the holder of the number before: locks on single bytes of a sidecar file,
which the operating system releases when a process dies. Since a waiter that dies lets the next one pass too early, the
queue only orders; one more byte excludes. Inside a process an ordinary lock stands in front, because such locks belong
to processes, not to threads.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bursar.errors import InputError

_TICKETS = 1 << 20  # bytes from here on stand for numbers
_MOST = 1 << 30
_DOOR, _HOLDER = 8, 9
_open_files: dict[str, WriterLock] = {}
_registry = threading.Lock()


class WriterLock:
    """One for each file and process: closing any handle of a file would drop all locks the process has on it."""

    def __init__(self, path: str) -> None:
        self.path, self.users = path, 0
        self._threads = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        self._pid = os.getpid()
        self._number = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for one's turn, and keep it."""
        with self._threads:
            if self._file < 0:
                raise InputError("this ledger has been shut")
            try:  # an interrupt may come at any point: whatever was locked until then is let go
                self._queue()
                _lock(self._file, _HOLDER)
                yield
            finally:
                _unlock_all(self._file, _TICKETS + self._number)

    def _queue(self) -> None:
        """Take a number, and wait until the one before has been served."""
        _lock(self._file, _DOOR)
        try:
            os.lseek(self._file, 0, os.SEEK_SET)
            self._number = number = int.from_bytes(os.read(self._file, 8), "little") % _MOST
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, ((number + 1) % _MOST).to_bytes(8, "little"))
            _lock(self._file, _TICKETS + number)
        finally:
            _unlock(self._file, _DOOR)
        before = (number - 1) % _MOST
        _lock(self._file, _TICKETS + before)
        _unlock(self._file, _TICKETS + before)

    def close(self) -> None:
        """Let go, when the last user does."""
        with _registry:
            self.users -= 1
            if self.users == 0:
                _open_files.pop(self.path, None)
                os.close(self._file)
                self._file = -1


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
    import time

    def _lock(file: int, byte: int) -> None:
        while True:
            try:
                os.lseek(file, byte, os.SEEK_SET)
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.001)
            else:
                return

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

    def _unlock(file: int, byte: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

    def _unlock_all(file: int, ticket: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN)
