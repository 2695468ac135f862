"""A lock on an open file that many may hold together, or one alone.

It belongs to the open file and not to the process: threads exclude each other too, closing another handle of the file
drops nothing, and the operating system lets go of it when its holder dies.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import suppress

if sys.platform == "win32":
    import msvcrt

    _BYTE = 1 << 30  # stands for the whole; nothing is ever written there

    def together(file: int) -> None:
        """Here one at a time."""
        while not alone(file):
            time.sleep(0.001)

    def alone(file: int) -> bool:
        """Lock a file that nobody else has locked; False where somebody has."""
        try:
            os.lseek(file, _BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(file: int) -> None:
        """Let go of it, locked or not."""
        with suppress(OSError):
            os.lseek(file, _BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    _NONE_HERE = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)

    def together(file: int) -> None:
        """Lock it with others who do the same; where the file system has no such locks nobody is ever alone."""
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
        """Let go of it, locked or not."""
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
