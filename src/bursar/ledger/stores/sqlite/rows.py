"""The rows of a SQLite file, read and written inside the transactions of `bursar.ledger.stores.sqlite.store`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import msgspec

from bursar.ledger.journal.rows import CounterRow
from bursar.ledger.stores.sql import SqlReader, SqlTransaction
from bursar.ledger.stores.statements import migrations, queries

_QUERIES = queries()
_MANY = queries("?", "sqlite/batches.sql")
_LARGE = 4  # requests


def _links(connection: apsw.Connection, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
    listed = msgspec.json.encode(list(seqs)).decode()
    rows: list[Any] = connection.execute(_MANY["several_links"], (root, listed)).fetchall()
    return {seq: (hash, kind) for seq, hash, kind in rows}


def _counters(connection: apsw.Connection, scope: str, line: str, tiles: Sequence[int]) -> dict[int, CounterRow]:
    listed = msgspec.json.encode(list(tiles)).decode()
    rows: list[Any] = connection.execute(_MANY["several_counters"], (scope, line, listed)).fetchall()
    return {row[0]: CounterRow(*row) for row in rows}


def _largest(connection: apsw.Connection, scope: str, line: str, tiles: Sequence[int]) -> dict[int, int]:
    listed = msgspec.json.encode(list(tiles)).decode()
    rows: list[Any] = connection.execute(_MANY["several_marks"], (scope, line, listed)).fetchall()
    return dict(rows)


class View(SqlReader):
    """What a snapshot tells."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def _rows(self, name: str, *values: Any) -> list[Any]:
        return self._connection.execute(_QUERIES[name], values).fetchall()

    def links(self, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The hash and kind of entries of a chain, in one question."""
        return _links(self._connection, root, seqs)

    def counters(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, CounterRow]:
        """Some tiles of a line, in one question."""
        return _counters(self._connection, scope, line, tiles)

    def largest(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, int]:
        """The largest counter of some tiles, in one question."""
        return _largest(self._connection, scope, line, tiles)

    def damage(self) -> list[str]:
        """SQLite's own check of pages, order and constraints, and the record of migrations."""
        found: list[Any] = self._connection.execute("PRAGMA integrity_check(5)").fetchall()
        problems = [f"the file: {text}" for (text,) in found if text != "ok"]
        done = self._connection.execute("SELECT number, name, hash FROM migrations ORDER BY number").fetchall()
        if done != [(number, name, digest) for number, name, digest, _ in migrations("sqlite")]:
            problems.append("the record of migrations was changed")
        return problems


class Write(SqlTransaction):
    """A transaction that has the file for itself."""

    whole = True

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

    def links(self, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
        """All in one question; of what was committed before."""
        return _links(self._connection, root, seqs)

    def counters(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, CounterRow]:
        """All in one question; as this transaction has left them."""
        return _counters(self._connection, scope, line, tiles)

    def largest(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, int]:
        """The largest counter of some tiles, in one question."""
        return _largest(self._connection, scope, line, tiles)

    def lock(self, roots: Sequence[str], keys: Sequence[str] = (), scopes: Sequence[str] = ()) -> None:
        """The whole file is ours; the keys of a large batch are looked up at once."""
        if len(keys) >= _LARGE:
            self._asked_keys = dict.fromkeys(keys)
            listed = msgspec.json.encode(keys).decode()
            for key, root, seq in self._connection.execute(_MANY["several_keys"], (listed,)):
                self._asked_keys[key] = (root, seq)
