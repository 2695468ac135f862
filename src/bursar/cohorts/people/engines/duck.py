"""The embedded engine: DuckDB, for Arrow, polars, pandas and DuckDB tables, and for Parquet and CSV files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from bursar.cohorts.people.charges import OwnNorm, Query
from bursar.cohorts.people.engines._base import Engine, Prepared, discreet
from bursar.cohorts.people.engines.duck_files import table_at
from bursar.cohorts.people.files import Folder, padded
from bursar.cohorts.people.keys import BYTES, Pads
from bursar.cohorts.people.statements import Dialect, charges_statement, statement
from bursar.errors import InputError, described

DIALECT = Dialect(
    hash="unhex(substr(sha256(outer_pad || unhex(sha256(inner_pad || encode(id)))), 1, 32))",
    div="//",
)
SCHEMA = pa.schema([("person", pa.binary()), ("charge", pa.int64()), ("admitted", pa.bool_())])
_BATCH = 1 << 17  # rows of a file that are in memory at once
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
IDS = WHOLE | {"UHUGEINT", "VARCHAR", "UUID"}
_TROUBLES = (duckdb.Error, pa.ArrowException, UnicodeError, OSError)


class DuckEngine(Engine):
    """Statements in a database of this process's memory, which ends with it."""

    def __init__(self, filesystem: Any = None) -> None:
        self._db = duckdb.connect(":memory:", config={"temp_directory": ""})  # nothing private is spilled anywhere
        if filesystem is not None:
            self._db.register_filesystem(filesystem)

    def prepare(self, table: Any, person: str, query: Query, pads: Pads) -> Prepared:
        """Name and price everybody in a table."""
        with discreet(_TROUBLES):
            given = _Given(self._db, table, person)
            _source(self._db, given, person, query)
            keys = pa.table({"inner_pad": [pads.inner], "outer_pad": [pads.outer]})
            self._db.register("pads", keys)
            self._db.execute(f"CREATE OR REPLACE TEMP TABLE charges AS {charges_statement(query, DIALECT)}")
            self._db.unregister("pads")
        return _DuckPrepared(self._db, given, person, query)

    def compact(self, files: Sequence[str], folder: Folder, place: str) -> None:
        """Write one row for everybody who was charged."""
        with discreet(_TROUBLES):
            _state(self._db, files)
            self._db.execute(f"CREATE OR REPLACE TEMP TABLE delta_rows AS {statement('snapshot')}")
            _write(self._db, folder, place)

    def about(self, files: Sequence[str], text: str, others: Sequence[str] = ()) -> tuple[int, ...]:
        """What a statement says of what was charged."""
        with discreet(_TROUBLES):
            _state(self._db, files)
            _state(self._db, others, "others")
            return tuple(map(int, self._db.execute(text).fetchall()[0]))


class _DuckPrepared(Prepared):
    """The table ``charges`` of an engine's database."""

    def __init__(self, db: duckdb.DuckDBPyConnection, given: _Given, person: str, query: Query) -> None:
        self._db, self._given, self._person, self._query = db, given, person, query

    def decide(self, files: Sequence[str], limit: int, rule: str, folder: Folder, place: str) -> None:
        """Join the charges with what was charged before, and write the delta."""
        with discreet(_TROUBLES):
            _state(self._db, files)
            self._db.execute(f"CREATE OR REPLACE TEMP TABLE decided AS {statement('decided', limit=limit)}")
            self._db.execute(f"CREATE OR REPLACE TEMP TABLE delta_rows AS {statement(f'delta_of_{rule}')}")
            _write(self._db, folder, place)

    def rows(self, files: Sequence[str]) -> Any:
        """The rows of the table whose people are in the delta."""
        with discreet(_TROUBLES):
            self._db.execute(f"CREATE OR REPLACE TEMP VIEW delta AS SELECT * FROM {parquet(files)}")
            found = self._db.sql(statement("recorded")).to_arrow_table()
            if isinstance(self._query, OwnNorm):
                return self._given.sums(found, self._person, self._query)
            return self._given.matching(found, self._person)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def parquet(files: Sequence[str]) -> str:
    """Files as they are called, as a table of a statement."""
    listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
    return f"read_parquet([{listed}], hive_partitioning = false)"  # a folder charge=0 is no column


def _state(db: duckdb.DuckDBPyConnection, files: Sequence[str], name: str = "state") -> None:
    """What was charged by some files, as a view."""
    nobody = "SELECT CAST(NULL AS BLOB) AS person, CAST(0 AS BIGINT) AS charge, FALSE AS admitted WHERE FALSE"
    chosen = f"SELECT person, charge, admitted FROM {parquet(files)} WHERE charge > 0" if files else nobody
    db.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {chosen}")


def _write(db: duckdb.DuckDBPyConnection, folder: Folder, place: str) -> None:
    """The rows of a delta among random ones, in the order of persons, which says nothing."""
    ((count,),) = db.execute("SELECT COUNT(*) FROM delta_rows").fetchall()
    db.register("fillers", _fillers(padded(count) - count))
    reader = db.sql(
        "SELECT * FROM (SELECT person, charge, admitted FROM delta_rows UNION ALL SELECT person, 0, FALSE "
        "FROM fillers) ORDER BY person"
    ).to_arrow_reader(_BATCH)
    folder.write(place, SCHEMA, _batches(reader))
    db.unregister("fillers")


def _fillers(count: int) -> Any:
    """Random persons, from the operating system: an engine's own generator can be guessed."""
    drawn = pa.py_buffer(secrets.token_bytes(count * BYTES))
    return pa.table({"person": pa.Array.from_buffers(pa.binary(BYTES), count, [None, drawn])})


def _batches(reader: Any) -> Iterator[Any]:
    for batch in reader:
        yield pa.RecordBatch.from_arrays(batch.columns, schema=SCHEMA)


def _source(db: duckdb.DuckDBPyConnection, given: _Given, person: str, query: Query) -> None:
    """The ids and amounts of a table, as a view; columns that are missing or of another kind are refused by name."""
    kinds = {name: str(kind) for name, kind in zip(given.frame.columns, given.frame.types, strict=True)}
    if kinds.get(person) not in IDS:
        raise InputError(
            f"the table needs a column {person} of whole numbers or texts, not {described(kinds.get(person))}",
            argument="person",
        )
    amount = "0"
    if isinstance(query, OwnNorm):
        kind = kinds.get(query.column, "")
        if kind not in WHOLE and kind not in ("FLOAT", "DOUBLE") and not kind.startswith("DECIMAL"):
            raise InputError(
                f"the table needs a column {query.column} of numbers, not {described(kinds.get(query.column))}",
                argument="sums",
            )
        amount = _quoted(query.column)
    ids = f"CAST({_quoted(person)} AS VARCHAR)"
    given.frame.create_view("bursar_given", replace=True)
    db.execute(
        f"CREATE OR REPLACE TEMP VIEW source AS SELECT {ids} AS id, CAST({amount} AS DOUBLE) AS amount "
        "FROM bursar_given"
    )


def readable(db: duckdb.DuckDBPyConnection, table: Any, person: str) -> Any:
    """A table of any kind as a relation of a database."""
    return _Given(db, table, person).frame


class _Given:
    """A table as somebody gave it, readable here, and how rows go back in its own kind."""

    def __init__(self, db: duckdb.DuckDBPyConnection, table: Any, person: str) -> None:
        self._db, self._table = db, table
        self._home = type(table).__module__.partition(".")[0]
        if isinstance(table, (str, os.PathLike)):
            self._home, self.frame = "path", table_at(db, os.fspath(table), person)
        elif self._home in ("duckdb", "_duckdb"):
            _unclaimed(table)
            self.frame = db.from_arrow(table.to_arrow_table())
        elif self._home == "pyarrow" and isinstance(table, pa.Table):
            self.frame = db.from_arrow(table)
        elif self._home == "polars":
            self.frame = db.from_arrow(_collected(table))
        elif self._home == "pandas":
            self.frame = db.from_arrow(pa.Table.from_pandas(table, preserve_index=False))
        else:
            raise InputError(
                "table must be a DuckDB relation, an Arrow, polars or pandas table, a Spark frame, or the path of a "
                f"Parquet or CSV file, not {described(type(table).__name__)}",
                argument="table",
            )

    def matching(self, admitted: Any, person: str) -> Any:
        """The rows of these ids, byte for byte: by a database's own order of texts, Ann may be the same as ann."""
        ids = f"encode(CAST({_quoted(person)} AS VARCHAR))"
        text = f"SELECT * FROM bursar_given WHERE {ids} IN (SELECT encode(id) FROM bursar_admitted)"
        return self._answer(text, admitted)

    def sums(self, found: Any, person: str, query: OwnNorm) -> Any:
        """One row for each of these people: the id, and the clipped value on the grid."""
        kind = next(kind for name, kind in zip(self.frame.columns, self.frame.types, strict=True) if name == person)
        text = (
            f"SELECT CAST(id AS {kind}) AS {_quoted(person)}, "
            f"cells * CAST('{float(query.step)!r}' AS DOUBLE) AS {_quoted(query.column)} FROM bursar_admitted"
        )
        return self._answer(text, found)

    def _answer(self, text: str, admitted: Any) -> Any:
        if self._home in ("duckdb", "_duckdb"):
            return _in_its_database(self._table, text, admitted)
        self._db.register("bursar_admitted", admitted)
        return self._back(self._db.sql(text))

    def _back(self, rows: Any) -> Any:
        if self._home == "path":
            return rows
        table = rows.to_arrow_table()
        if self._home == "pandas":
            return table.to_pandas()
        if self._home == "polars":
            import polars as pl

            frame = pl.from_arrow(table)
            return frame.lazy() if type(self._table).__name__ == "LazyFrame" else frame
        return table


def _in_its_database(table: Any, text: str, bursar_admitted: Any) -> Any:
    """A statement in the database that a relation belongs to; it finds ``bursar_admitted`` by the name that it has
    here, since no table there has that name.
    """
    return table.query("bursar_given", text)


def _unclaimed(table: Any) -> None:
    """Refuse a database with a table of the name that admitted people get: it would decide who is released."""
    names = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()"
    if table.query("bursar_given", f"SELECT 1 FROM ({names}) WHERE lower(table_name) = 'bursar_admitted'").fetchall():
        raise InputError("the database of this table has a table bursar_admitted: rename it", argument="table")


def _collected(table: Any) -> Any:
    """A polars table, computed if it was not; what cannot be computed is not quoted."""
    import polars as pl

    with discreet(pl.exceptions.PolarsError):
        return (table.collect() if isinstance(table, pl.LazyFrame) else table).to_arrow()
