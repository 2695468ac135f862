"""The embedded store: one SQLite file.

Write-ahead log with ``synchronous=FULL`` (with NORMAL a power cut takes acknowledged charges back; the tests show it),
one writer at a time behind a fair lock, checked constraints. `apsw` brings a current SQLite with it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import apsw

from bursar.errors import InputError, LedgerHalted, StorageFailed
from bursar.ledger.stores._base import Occupied, Reader, Store, Transaction
from bursar.ledger.stores._work import work
from bursar.ledger.stores.sqlite.connecting import PATIENCE, connected, looking_only, migrate
from bursar.ledger.stores.sqlite.lock import taken, writer_lock
from bursar.ledger.stores.sqlite.names import OPEN_HERE, names_of, refuse_inherited, refuse_links, writable
from bursar.ledger.stores.sqlite.place import Place
from bursar.ledger.stores.sqlite.rows import View, Write
from bursar.ledger.stores.sqlite.troubles import TROUBLES, durable, spoken


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
        self._real = os.path.realpath(path)
        refuse_inherited(path)
        super().__init__()
        self.path, self._shared = path, shared
        self._connect = partial(connected, path, vfs=vfs, synchronous=synchronous, shared=shared)
        self.anchor = f"{self._real}-anchor"
        self.other_anchors = tuple(f"{name}-anchor" for name in names_of(path))
        self._place = Place(path)
        self._reader: apsw.Connection | None = None
        self._closed = False
        self.read_only = os.path.exists(path) and not (writable(path) and writable(folder))
        self.prompt = shared and not self.read_only
        # with a connection for each, a transaction may end in another thread; with one, a thread reads while it writes
        self._mutex: Any = threading.Lock() if self.prompt else threading.RLock()
        self._reads = threading.RLock()
        if self.read_only:  # an auditor's copy: nothing is written, not even a lock
            with durable():
                self._writer = looking_only(self.path, self._real)
                self._place.settle(self._writer, log=False)
            return
        refuse_links(path)
        with durable():
            self._lock = writer_lock(f"{self._real}-lock")
        OPEN_HERE[self._real] += 1
        try:
            with durable(), self._lock.held():
                log = f"{self._real}-wal"
                self.pieced = os.path.exists(log) and os.path.getsize(log) > 0
                self._writer = self._connect()
                migrate(self._writer)
                self._place.settle(self._writer)
        except BaseException:
            self._let_go()
            raise

    def _same_file(self, known: apsw.Connection | None) -> apsw.Connection:
        """A connection for reading, to the file that the writer has; its name may lead elsewhere by now."""
        if self.halted is not None:
            raise self.halted
        connection = known or self._connect()
        try:
            if known is None:
                self._place.check_new(connection)
            else:
                self._place.check(connection, reading=True)
        except LedgerHalted as halted:
            self.halted = halted
            if known is None:
                connection.close()
            raise
        return connection

    @work
    def writing(self, wait: bool = True) -> Generator[Transaction, None, None]:
        """The lock, the transaction, and the sync that makes it durable."""
        self._check_process()
        if self.read_only:
            raise StorageFailed(f"{self.path} may only be read")
        with taken(self._mutex, wait), taken(self._lock.threads, wait):
            try:
                try:  # from the start: an interrupt must leave neither a lock nor a transaction behind
                    self._begin(wait)
                    self._in_place(begun=True)
                    transaction = Write(self._writer)
                    yield transaction
                    transaction.flush()
                    self._in_place()
                    self._writer.execute("COMMIT")
                finally:
                    try:
                        self._end()
                    except BaseException:  # it may also come while letting go
                        self._end()
                        raise
            except TROUBLES as problem:
                raise spoken(problem) from problem

    def _in_place(self, *, begun: bool = False) -> None:
        """A file that is not the one of its name any more halts this store until it is opened anew."""
        if self.halted is not None:
            raise self.halted
        try:
            self._place.check(self._writer)
            if begun:
                self._place.check_names()
        except LedgerHalted as halted:
            self.halted = halted
            raise

    def settled(self) -> None:
        """Whether the commit went to the file that others find."""
        with self._mutex:
            try:
                self._in_place()
            except TROUBLES as problem:
                raise spoken(problem) from problem

    def _begin(self, wait: bool) -> None:
        if not self._lock.take(wait):
            raise Occupied
        self._writer.set_busy_timeout(PATIENCE if wait else 0)
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            if wait:
                raise
            raise Occupied from None

    def _end(self) -> None:
        """Let go, and undo what was not committed."""
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        finally:
            self._lock.give()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A snapshot, which writers do not disturb."""
        self._check_process()
        if not self._shared or self.read_only:
            with self._mutex, durable():
                self._in_place()
                yield View(self._writer)
            return
        with self._reads, durable():
            reader = self._reader = self._same_file(self._reader)
            try:
                reader.execute("BEGIN")
                yield View(reader)
            finally:
                if reader.in_transaction:
                    reader.execute("ROLLBACK")

    def answers(self) -> None:
        """Whoever is reading has an answer."""
        if self._reads.acquire(blocking=False):
            try:
                super().answers()
            finally:
                self._reads.release()

    def backup(self, target: str) -> None:
        """SQLite's own online backup."""
        if os.path.exists(target):
            raise InputError(f"{target} exists: a backup never overwrites", argument="target")
        with self._reads, durable():
            source, copy = self._same_file(None), apsw.Connection(target)
            with copy.backup("main", source, "main") as running:
                running.step()
            copy.close()
            source.close()

    def close(self) -> None:
        """Close the connections, once. What a fork has copied is left alone: closing it would drop the locks that this
        process has meanwhile taken itself.
        """
        if os.getpid() != self._pid:
            return
        with self._mutex, self._reads:
            if self._closed:
                return
            self._closed = True
            for connection in (self._reader, self._writer):
                if connection is not None:
                    with suppress(apsw.Error):  # a checkpoint may fail; what was acknowledged is in the log
                        connection.close()
            if not self.read_only:
                self._let_go()

    def _let_go(self) -> None:
        self._lock.close()
        OPEN_HERE[self._real] -= 1
        if OPEN_HERE[self._real] <= 0:
            del OPEN_HERE[self._real]
