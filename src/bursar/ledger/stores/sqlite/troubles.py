"""What SQLite and the disk complain of, in bursar's own words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from bursar.errors import LedgerHalted, StorageFailed, StorageFull, storage_trouble

TROUBLES = (apsw.Error, OSError, UnicodeDecodeError)


@contextmanager
def durable() -> Iterator[None]:
    """Whatever SQLite or the system complains of inside, said so."""
    try:
        yield
    except TROUBLES as problem:
        raise spoken(problem) from problem


def spoken(problem: Exception) -> Exception:
    """Storage errors in bursar's own words."""
    match problem:
        case apsw.FullError():
            return StorageFull(f"the disk is full, nothing was charged: {problem}")
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError():
            return LedgerHalted(f"the file is damaged: {problem}")
        case apsw.ConstraintError():
            return StorageFailed(f"the store refused: {problem}")
        case apsw.IOError() | apsw.BusyError() | apsw.LockedError():
            return StorageFailed(f"the store failed, retry with the same key: {problem}")
        case OSError():
            return storage_trouble("the store cannot be used", problem)
        case _:
            return StorageFailed(f"the store cannot be used: {problem}")
