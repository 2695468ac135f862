"""Locks on open files, as the operating system has them: it lets go of them when their holder dies.

Locks on single *bytes* belong to the process: threads do not exclude each other by them, and closing any handle of the
file drops them all. Locks on a whole *file* belong to the open file: many may hold one together, or one alone.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

if sys.platform == "win32":
    import msvcrt

    _WHOLE = 1 << 30  # a byte that stands for the whole; nothing is ever written there

    def lock_byte(file: int, byte: int) -> None:
        """Wait for a byte, and lock it."""
        while not try_lock(file, byte):
            time.sleep(0.001)

    def try_lock(file: int, byte: int) -> bool:
        """Lock a byte that nobody else has locked; False where somebody has."""
        try:
            os.lseek(file, byte, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock_byte(file: int, byte: int) -> None:
        """Let go of a byte."""
        os.lseek(file, byte, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

    def unlock_bytes(file: int, every: Iterable[int]) -> None:
        """Let go of all of these, locked or not."""
        for byte in every:
            with suppress(OSError):
                unlock_byte(file, byte)

    def together(file: int) -> None:
        """Lock a file; here one at a time."""
        lock_byte(file, _WHOLE)

    def alone(file: int) -> bool:
        """Lock a file that nobody else has locked; False where somebody has."""
        return try_lock(file, _WHOLE)

    def unlock(file: int) -> None:
        """Let go of a file, locked or not."""
        unlock_bytes(file, (_WHOLE,))

else:
    import fcntl

    _NONE_HERE = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)

    def lock_byte(file: int, byte: int) -> None:
        """Wait for a byte, and lock it."""
        while True:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX, 1, byte)
            except OSError as problem:
                if problem.errno != errno.EDEADLK:
                    raise
                # the system sees processes that wait for each other; with several files that need not be a deadlock
                time.sleep(0.001)
            else:
                return

    def try_lock(file: int, byte: int) -> bool:
        """Lock a byte that nobody else has locked; False where somebody has."""
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def unlock_byte(file: int, byte: int) -> None:
        """Let go of a byte."""
        fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

    def unlock_bytes(file: int, every: Iterable[int]) -> None:
        """Let go of all of these, locked or not: here of every byte of the file, in one call."""
        fcntl.lockf(file, fcntl.LOCK_UN)

    def together(file: int) -> None:
        """Lock a file with others who do the same; where the file system has no such locks nobody is ever alone."""
        try:
            fcntl.flock(file, fcntl.LOCK_SH)
        except OSError as problem:
            if problem.errno not in _NONE_HERE:
                raise

    def alone(file: int) -> bool:
        """Lock a file that nobody else has locked; False where somebody has."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def unlock(file: int) -> None:
        """Let go of a file, locked or not."""
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
