"""Whether a SQLite file is still the one that others find under its name.

A process keeps what it has open: move a backup over the file, and it goes on with the orphan while others begin with
the backup, each with a budget of its own. SQLite knows: it compares the file it has open with the one of that name. The
log and its index are found by name too, so they are looked at as well. All by asking for names: a second handle of the
file, once closed, would drop every lock that this process has on it.
"""

from __future__ import annotations

import ctypes
import os
import time

import apsw

from bursar.errors import LedgerHalted

_BESIDE = ("-wal", "-shm")
_PATIENCE = 0.005  # seconds; who opens the file without its log needs longer, and hears of charges by the anchor


class Place:
    """The file, the log and the index that a store has opened."""

    def __init__(self, path: str) -> None:
        self.path, self.real = path, os.path.realpath(path)
        self._answers = ctypes.c_int(0), ctypes.c_int(0)  # writers and readers ask at the same time
        self._pointers = tuple(map(ctypes.addressof, self._answers))
        self._beside: list[tuple[str, tuple[int, int] | None]] = []
        self._look_again = 0.0
        self._linked = os.path.abspath(path) != self.real
        self._file = _found(path)

    def settle(self, connection: apsw.Connection, *, log: bool = True) -> None:
        """What was opened just now is what is meant from here on."""
        self._file = _found(self.path)
        self._beside = [(self.real + end, _found(self.real + end)) for end in _BESIDE] if log else []
        self.check(connection)

    def check(self, connection: apsw.Connection, *, reading: bool = False) -> None:
        """Halt where SQLite says that its file is not the one of that name any more; twice in a transaction."""
        # a file system that does not know the question leaves it open; any other trouble is an error
        known = connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, self._pointers[reading])
        if known and self._answers[reading].value:
            raise _gone(self.path)

    def check_names(self) -> None:
        """Halt where a link, the log or its index leads elsewhere; for writers, when they begin."""
        now = time.monotonic()
        if now >= self._look_again:
            for name, file in self._beside:
                if _found(name) != file:
                    raise _gone(name)
            self._look_again = now + _PATIENCE
        if self._linked and _found(self.path) != self._file:
            raise _gone(self.path)

    def check_new(self, connection: apsw.Connection) -> None:
        """Halt where a connection that was made later has found another file than the first one did."""
        self.check(connection, reading=True)
        if _found(self.path) != self._file:
            raise _gone(self.path)
        self._look_again = 0.0
        self.check_names()


def _found(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _gone(name: str) -> LedgerHalted:
    return LedgerHalted(
        f"{name} was moved, replaced or removed while this ledger had it open: what stands there now is another file, "
        "with a history of its own. Close this ledger and open it anew; if the file is an older copy, its anchor says "
        "so, and `bursar ledger restore --assume-spent` accepts the loss"
    )
