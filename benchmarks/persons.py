"""What `cohorts.py` measures of people: a query, the hashes of its ids, and replays; each with its floor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECRET = bytes(range(32))
SHARE = float(os.environ.get("BURSAR_BENCH_SHARE", "1"))
Measured = tuple[Callable[[], object], Callable[[], object]]
"""The floor, and the work."""
PEOPLE, ASKED, CHARGES = (round(count * SHARE) for count in (10**7, 10**6, 10**8))


@contextmanager
def ledger_in(folder: Path) -> Iterator[Any]:
    """The ledger of a folder."""
    import bursar as b

    with b.Ledger(folder / "budget.db", alert=None) as ledger:
        yield ledger


def people(folder: Path) -> None:
    """A snapshot of everybody, and ten deltas."""
    import pyarrow as pa

    import bursar as b
    from bursar.cohorts import PersonFilter

    with ledger_in(folder) as ledger:
        made = PersonFilter.create(ledger, "visits", folder=folder / "v", person="user", rho=1, secret=SECRET)
        made.admit(pa.table({"user": range(PEOPLE)}), b.Gaussian(sigma=100), key="all")
        made.compact()
        for number in range(10):
            made.admit(pa.table({"user": range(number, PEOPLE, 100)}), b.Gaussian(sigma=100), key=f"delta {number}")


def admit(folder: Path) -> Measured:
    """One query of a tenth of the people, from a table in DuckDB."""
    import duckdb

    import bursar as b
    from bursar.cohorts import PersonFilter

    database = duckdb.connect()
    database.execute(f'CREATE TABLE asked AS SELECT range AS "user" FROM range(0, {PEOPLE}, {PEOPLE // ASKED})')
    with ledger_in(folder) as ledger:
        made = PersonFilter(ledger, "visits", secret=SECRET)
        paths = [str(path) for row in made._desk.look().rows[1:] for path in made.folder.parts(row.path)]

    def query() -> None:
        with ledger_in(folder) as ledger:
            made = PersonFilter(ledger, "visits", secret=SECRET)
            made.admit(database.table("asked"), b.Gaussian(sigma=100), key="measured").fetchnumpy()

    return lambda: _decoded(paths, "SUM(octet_length(person)), SUM(charge)"), query


def hashed(folder: Path) -> Measured:
    """The ids of such a query, hashed as `admit` does, beside one plain SHA-256 of each: what no other way of joining
    could save.
    """
    import duckdb

    from bursar.cohorts.people.engines.duck import DIALECT
    from bursar.cohorts.people.keys import pads_of

    database, pads = duckdb.connect(), pads_of(SECRET)
    database.execute(
        f"CREATE TABLE ids AS SELECT CAST(range AS VARCHAR) AS id FROM range(0, {PEOPLE}, {PEOPLE // ASKED})"
    )
    database.execute("CREATE TABLE pads (inner_pad BLOB, outer_pad BLOB)")
    database.execute("INSERT INTO pads VALUES (?, ?)", list(pads))

    def hmac() -> None:
        database.execute(f"CREATE OR REPLACE TABLE found AS SELECT {DIALECT.hash} AS person FROM ids CROSS JOIN pads")

    return lambda: database.execute("CREATE OR REPLACE TABLE found AS SELECT sha256(id) AS person FROM ids"), hmac


def charges(folder: Path) -> None:
    """A long list of charges: ten for each person, a million for each query."""
    import duckdb

    from bursar.cohorts import PersonFilter

    duckdb.connect().execute(
        f"COPY (SELECT range // 1000000 AS query, (hash(range) % {max(CHARGES // 10, 1)})::BIGINT AS person, "
        f"(hash(range + 1) % 1000)::BIGINT AS charge FROM range({CHARGES})) "
        f"TO '{folder / 'charges.parquet'}' (FORMAT parquet)"
    )
    with ledger_in(folder) as ledger:
        PersonFilter.create(ledger, "visits", folder=folder / "v", person="user", rho="4e-6", secret=SECRET)


def replay(folder: Path) -> Measured:
    """All of them, decided by skip in buckets."""
    from bursar.cohorts import PersonFilter

    path = str(folder / "charges.parquet")

    def work() -> None:
        with ledger_in(folder) as ledger:
            PersonFilter(ledger, "visits", secret=SECRET).replay(path, folder / "out")

    return lambda: _decoded([path], "SUM(query), SUM(person), SUM(charge)"), work


def by_spark(folder: Path) -> Measured:
    """The same by Spark, beside the embedded replay: each with all of its start-up."""
    from scheduled import alone

    return lambda: alone("duckdb", folder), lambda: alone("spark", folder)


def spark_alone(folder: Path) -> Measured:
    """A session of Spark, started and ended around one task that does nothing, beside the embedded replay."""
    from scheduled import alone

    return lambda: alone("duckdb", folder), lambda: alone("start", folder)


def _decoded(paths: list[str], columns: str) -> None:
    """Columns of these files, read and forgotten. Every value is added up: a count, a least or a largest one would be
    answered from what files say about themselves.
    """
    import duckdb

    listed = ", ".join(f"'{path}'" for path in paths)
    duckdb.connect().execute(f"SELECT {columns} FROM read_parquet([{listed}])").fetchall()
