"""The embedded store: one SQLite file.

Write-ahead log with ``synchronous=FULL`` (with NORMAL a power cut takes acknowledged charges back; the tests show it),
one writer at a time behind a fair lock, checked constraints. `apsw` brings a current SQLite with it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

import apsw

from bursar.errors import InputError, LedgerHalted, StorageFailed
from bursar.ledger.lock import writer_lock
from bursar.ledger.stores._base import Reader, Store, Transaction
from bursar.ledger.stores.sql import SqlReader, SqlTransaction, check_migrations, migrations, queries

_PATIENCE = 30_000  # ms, for writers that do not know the lock
_QUERIES = queries()


class _View(SqlReader):
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def _rows(self, name: str, *values: Any) -> list[Any]:
        return self._connection.execute(_QUERIES[name], values).fetchall()

    def damage(self) -> list[str]:
        """SQLite's own check of pages, order and constraints, and the record of migrations."""
        found: list[Any] = self._connection.execute("PRAGMA integrity_check(5)").fetchall()
        problems = [f"the file: {text}" for (text,) in found if text != "ok"]
        done = self._connection.execute("SELECT number, name, hash FROM migrations ORDER BY number").fetchall()
        if done != [(number, name, digest) for number, name, digest, _ in migrations("sqlite")]:
            problems.append("the record of migrations was changed")
        return problems


class _Write(SqlTransaction):
    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__()
        self._connection = connection

    def _rows(self, name: str, *values: Any) -> list[Any]:
        return self._connection.execute(_QUERIES[name], values).fetchall()

    def _write(self, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if len(rows) == 1:
            self._connection.execute(_QUERIES[name], rows[0])
        else:
            self._connection.executemany(_QUERIES[name], rows)

    def lock(self, roots: Sequence[str], keys: Sequence[str] = (), scopes: Sequence[str] = ()) -> None:
        """The whole file is ours."""


class SqliteStore(Store):
    """A ledger in a file."""

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        vfs: str | None = None,
        synchronous: str = "FULL",
        shared: bool = True,
    ) -> None:
        """``vfs``, ``synchronous`` and ``shared`` are for tests that break things on purpose."""
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise InputError(f"there is no folder {folder}", argument="url")
        if not create and not os.path.exists(path):
            raise InputError(f"there is no ledger {path}", argument="url")
        super().__init__()
        self.path, self._vfs, self._synchronous, self._shared = path, vfs, synchronous, shared
        self.anchor = f"{path}-anchor"
        self._mutex, self._reads = threading.RLock(), threading.RLock()
        self._reader: apsw.Connection | None = None
        self.read_only = os.path.exists(path) and not (_writable(path) and _writable(folder))
        if self.read_only:  # an auditor's copy: nothing is written, not even a lock
            with _durable():
                self._writer = self._look_only()
            return
        with _durable():
            self._lock = writer_lock(f"{path}-lock")
        try:
            with _durable(), self._lock.held():
                self._writer = self._connect()
                self._migrate()
        except BaseException:
            self._lock.close()
            raise

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self.path, vfs=self._vfs)
        connection.set_busy_timeout(_PATIENCE)
        if not self._shared:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        if mode != [("wal",)]:
            raise StorageFailed(f"{self.path}: this file system has no write-ahead log")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA wal_autocheckpoint = 1000")
        return connection

    def _look_only(self) -> apsw.Connection:
        """A file that may not be written: as it is, if no log stands beside it."""
        calm = "" if os.path.exists(f"{self.path}-wal") else "&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(os.path.abspath(self.path))}?mode=ro{calm}", flags=flags)

    def _migrate(self) -> None:
        """Run the numbered files that are missing, and check the ones that ran."""
        db = self._writer
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute(
                "CREATE TABLE IF NOT EXISTS migrations "
                "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL) STRICT"
            )
            rows: list[Any] = db.execute("SELECT number, hash FROM migrations").fetchall()
            done: dict[int, str] = dict(rows)
            check_migrations(done, "sqlite")
            for number, name, digest, text in migrations("sqlite"):
                if number not in done:
                    db.execute(text)
                    db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, digest))
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """The lock, the transaction, and the sync that makes it durable."""
        self._check_process()
        if self.read_only:
            raise StorageFailed(f"{self.path} may only be read")
        with self._mutex, _durable(), self._lock.held():
            try:  # BEGIN too: an interrupt right after it must not leave a transaction open
                self._writer.execute("BEGIN IMMEDIATE")
                transaction = _Write(self._writer)
                yield transaction
                transaction.flush()
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A snapshot, which writers do not disturb."""
        self._check_process()
        if not self._shared or self.read_only:
            with self._mutex, _durable():
                yield _View(self._writer)
            return
        with self._reads, _durable():
            if self._reader is None:
                self._reader = self._connect()
            try:
                self._reader.execute("BEGIN")
                yield _View(self._reader)
            finally:
                if self._reader.in_transaction:
                    self._reader.execute("ROLLBACK")

    def backup(self, target: str) -> None:
        """SQLite's own online backup."""
        if os.path.exists(target):
            raise InputError(f"{target} exists: a backup never overwrites", argument="target")
        with self._reads, _durable():
            source, copy = self._connect(), apsw.Connection(target)
            with copy.backup("main", source, "main") as running:
                running.step()
            copy.close()
            source.close()

    def close(self) -> None:
        """Close the connections."""
        with self._mutex, self._reads:
            for connection in (self._reader, self._writer) if os.getpid() == self._pid else ():
                if connection is not None:
                    with suppress(apsw.Error):  # a checkpoint may fail; what was acknowledged is in the log
                        connection.close()
            if not self.read_only:
                self._lock.close()


def _writable(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


@contextmanager
def _durable() -> Iterator[None]:
    """Storage errors in bursar's own words."""
    try:
        yield
    except apsw.FullError as problem:
        raise StorageFailed(f"the disk is full, nothing was charged: {problem}") from problem
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as problem:
        raise LedgerHalted(f"the file is damaged: {problem}") from problem
    except apsw.ConstraintError as problem:
        raise StorageFailed(f"the store refused: {problem}") from problem
    except (apsw.IOError, apsw.BusyError, apsw.LockedError) as problem:
        raise StorageFailed(f"the store failed, retry with the same key: {problem}") from problem
    except (apsw.Error, OSError) as problem:
        raise StorageFailed(f"the store cannot be used: {problem}") from problem
