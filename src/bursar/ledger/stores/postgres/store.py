"""The store for teams: PostgreSQL 14 or newer.

READ COMMITTED; a writer locks its roots (by advisory locks, in order) before it reads anything that it decides on, and
the constraints repeat the rule. Reads are snapshots of their own connection.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors, sql

from bursar.errors import InputError, LedgerHalted, StorageFailed, StorageFull
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.rows import CounterRow, Head, balance_in
from bursar.ledger.stores._base import Conflict, Reader, Store, Transaction
from bursar.ledger.stores._work import work
from bursar.ledger.stores.postgres.connection import Line
from bursar.ledger.stores.postgres.server import Server
from bursar.ledger.stores.sql import SqlReader, SqlTransaction
from bursar.ledger.stores.statements import check_migrations, files_of, migrations, queries

_QUERIES = queries("%s")
_MANY = queries("%s", "postgres/batches.sql")
_LEDGER_LOCK = 0x6275727361  # an advisory lock: new scopes and migrations take turns


class _View(SqlReader):
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def _rows(self, name: str, *values: Any) -> list[Any]:
        return self._connection.execute(_QUERIES[name], values).fetchall()

    def links(self, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The hash and kind of entries of a chain, in one question."""
        rows = self._connection.execute(_MANY["several_links"], (root, list(seqs))).fetchall()
        return {seq: (hash, kind) for seq, hash, kind in rows}

    def counters(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, CounterRow]:
        """Some tiles of a line, in one question."""
        rows = self._connection.execute(_MANY["several_counters"], (scope, line, list(tiles))).fetchall()
        return {row[0]: CounterRow(*row) for row in rows}

    def largest(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, int]:
        """The largest counter of some tiles, in one question."""
        return dict(self._connection.execute(_MANY["several_marks"], (scope, line, list(tiles))).fetchall())


class _Write(SqlTransaction, _View):
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        SqlTransaction.__init__(self)
        self._connection = connection
        self._locked: set[str] = set()

    def append(self, chained: Chained, epoch: int) -> Head:
        """Only to a root that was locked before anything of it was read, or to a new one."""
        entry = chained.entry
        if entry.root not in self._locked and entry.seq > 1:
            raise Conflict(f"{entry.root} came to be while this was being prepared")
        return super().append(chained, epoch)

    def _write(self, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if len(rows) == 1:
            self._connection.execute(_QUERIES[name], rows[0])
        elif name in _MANY:  # one statement with a column of each value
            self._connection.execute(_MANY[name], [list(column) for column in zip(*rows, strict=True)])
        else:
            with self._connection.cursor() as cursor:
                cursor.executemany(_QUERIES[name], rows)

    def lock(self, roots: Sequence[str], keys: Sequence[str] = (), scopes: Sequence[str] = ()) -> None:
        """The roots, and what will be asked for, in one exchange; each statement sees what was committed when it
        starts, so after the lock nothing can change.
        """
        run = self._connection.execute
        self._locked.update(roots)
        if not roots:  # a new root: opening takes turns
            run(_MANY["lock_ledger"], (_LEDGER_LOCK,))
        run(_MANY["lock_roots"], (sorted({_number(root) for root in roots}),))
        heads = run(_MANY["several_heads"], (list(roots),))
        known = run(_MANY["several_keys"], (list(keys),))
        lines = run(_MANY["several_balances"], (list(scopes),))
        for root, *head in heads.fetchall():
            self._kept_heads[root] = Head(*head)
        self._asked_keys = dict.fromkeys(keys)
        self._asked_keys.update({key: (root, seq) for key, root, seq in known.fetchall()})
        self._kept_lines = {scope: {} for scope in scopes}
        for scope, line, *numbers in lines.fetchall():
            self._kept_lines[scope][line] = balance_in(*numbers)


def _number(root: str) -> int:
    """Of a root's lock; two roots that share one only wait for each other."""
    return int.from_bytes(hashlib.sha256(root.encode()).digest()[:8], "big", signed=True)


class PostgresStore(Store):
    """A ledger in a PostgreSQL database (the schema of its search path)."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._mutex, self._reads = threading.RLock(), threading.RLock()
        self._server = Server()
        self._writers, self._readers = Line(url, self._meet), Line(url, self._meet, snapshots=True)
        self._asking, self._asks = threading.Lock(), Line(url, self._meet)
        with _durable(), self._writers.used() as connection:
            self._migrate(connection)

    def _meet(self, connection: psycopg.Connection[Any], again: bool) -> None:
        """A new connection: to the same server, or this store is halted."""
        try:
            doubt = self._server.meet(connection, again=again)
            if self.doubt is None or not self.doubt.certain:
                self.doubt = doubt or self.doubt
        except LedgerHalted as halted:
            self.halted = halted
            raise

    def _here(self) -> None:
        self._check_process()
        if self.halted is not None:
            raise self.halted

    def _migrate(self, connection: psycopg.Connection[Any]) -> None:
        """Run the numbered files that are missing, and check the ones that ran."""
        with connection.transaction():
            connection.execute(_MANY["lock_ledger"], (_LEDGER_LOCK,))
            exists = connection.execute("SELECT to_regclass('migrations')").fetchone()
            if exists == (None,):
                connection.execute(
                    "CREATE TABLE migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"
                )
            done = dict(connection.execute("SELECT number, hash FROM migrations").fetchall())
            check_migrations(done, "postgres")
            for number, name, digest, text in migrations("postgres"):
                if number not in done:
                    connection.execute(text)
                    connection.execute("INSERT INTO migrations VALUES (%s, %s, %s)", (number, name, digest))

    @work
    def writing(self, wait: bool = True) -> Generator[Transaction, None, None]:
        """A transaction of the writers' connection."""
        self._here()
        # statements wait for an answer only where one is read: a charge takes two exchanges with the server
        with (
            self._mutex,
            _durable(),
            self._writers.used() as connection,
            connection.pipeline(),
            connection.transaction(),
        ):
            transaction = _Write(connection)
            yield transaction
            transaction.flush()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """A snapshot of the database."""
        self._here()
        with self._reads, _durable(), self._readers.used() as connection, connection.transaction():
            yield _View(connection)

    def answers(self) -> None:
        """On a connection of its own: neither a long reading nor a long commit is waited for. A standby, or a server
        that was set to be read only, answers and takes no charge.
        """
        self._here()
        with self._asking, _durable(), self._asks.used() as connection:
            asked = "SELECT current_setting('transaction_read_only') = 'on' FROM migrations LIMIT 1"
            if connection.execute(asked).fetchone() == (True,):
                raise StorageFailed("the server can only be read: it is a standby, or was set to be read only")

    def grant_writer(self, role: str) -> None:
        """Let a role spend: it may add to the journal, and never change it."""
        with self._mutex, _durable(), self._writers.used() as connection:
            connection.execute(sql.SQL(files_of("postgres/writer.sql")).format(role=sql.Identifier(role)))

    def backup(self, target: str) -> None:
        """That is the server's business."""
        raise InputError("back up PostgreSQL with its own tools (pg_dump, or archived WAL)", argument="target")

    def close(self) -> None:
        """Close the connections."""
        if os.getpid() == self._pid:
            self._writers.close()
            self._readers.close()
            self._asks.close()


@contextmanager
def _durable() -> Iterator[None]:
    """Storage errors in bursar's own words."""
    try:
        yield
    except (errors.UniqueViolation, errors.DeadlockDetected, errors.SerializationFailure) as problem:
        raise Conflict(str(problem)) from problem
    except errors.DiskFull as problem:
        raise StorageFull(f"the disk is full, nothing was charged: {problem}") from problem
    except psycopg.Error as problem:
        raise StorageFailed(f"the store failed, retry with the same key: {problem}") from problem
