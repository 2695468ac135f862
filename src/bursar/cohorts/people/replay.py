"""Bulk replay: what a filter would have admitted of a long list of charges, bucket by bucket.

Charges are dealt into buckets by person, so that each person is whole in one of them; a bucket is sorted by person and
query, and folded for all of its people at once. Memory follows the size of a bucket, work the number of charges. The
outcome is as private as the charges.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bursar.cohorts.people.charges import MOST
from bursar.cohorts.people.engines import discreet
from bursar.errors import InputError, storage_trouble

COLUMNS = ("query", "person", "charge")
Whole = npt.NDArray[np.int64]


def admitted_of(begins: npt.NDArray[np.bool_], charges: Whole, limit: int, rule: str) -> npt.NDArray[np.bool_]:
    """Which of these charges a filter admits; they come in order of persons, then of queries, and ``begins`` says where
    the next person begins. All people take their first charge at once, then all who have one their second.
    """
    starts = np.flatnonzero(begins)
    counts = np.diff(np.append(starts, len(charges)))
    order = np.argsort(-counts, kind="stable")
    starts, counts = starts[order], counts[order]
    spent = np.zeros(len(starts), np.int64)
    admitted = np.zeros(len(charges), np.bool_)
    most = int(counts[0]) if len(counts) else 0
    active = len(starts) - np.searchsorted(counts[::-1], np.arange(most), side="right")
    for turn in range(most):
        people = int(active[turn])
        places = starts[:people] + turn
        asked = charges[places]
        fits = asked <= limit - spent[:people]
        admitted[places] = fits
        if rule == "skip":
            spent[:people] += np.where(fits, asked, 0)
        else:  # one unit above the limit is as good as any number above it
            spent[:people] = np.where(fits, spent[:people] + asked, limit + 1)
    return admitted


def merged(begins: npt.NDArray[np.bool_], queries: Whole, charges: Whole) -> tuple[Whole, Whole]:
    """The first row of each person and query, and what that query charges that person in all."""
    fresh = begins.copy()
    fresh[1:] |= queries[1:] != queries[:-1]
    firsts = np.flatnonzero(fresh)
    if not len(firsts):
        return firsts, charges
    if np.add.reduceat(charges.astype(np.float64), firsts).max() > MOST:
        raise InputError("charge: a query charges somebody more than a person filter can count", argument="charges")
    return firsts, np.add.reduceat(charges, firsts)


def replayed(
    charges: Any, target: Any, limit: int, rule: str, buckets: int, progress: Callable[[int, int], None]
) -> Path:
    """Write (query, person, charge, admitted) for every query and person below a new folder, one file a bucket."""
    import duckdb
    import pyarrow as pa

    where = Path(os.fspath(target))
    if where.exists():
        raise InputError(f"target {where} exists: a replay never overwrites", argument="target")
    parts = where / "buckets"
    whole = False
    try:
        parts.mkdir(parents=True)
        with discreet((duckdb.Error, pa.ArrowException)):
            database = duckdb.connect(":memory:", config={"temp_directory": str(parts)})
            _deal(database, charges, parts, buckets)
            for number in range(buckets):
                _bucket(database, parts / f"bucket={number}", where / f"bucket={number}.parquet", limit, rule)
                progress(number + 1, buckets)
        whole = True
    except OSError as problem:
        raise storage_trouble("the replay could not be written", problem) from None
    finally:
        shutil.rmtree(parts if whole else where, ignore_errors=True)
    return where


def _deal(database: Any, charges: Any, parts: Path, buckets: int) -> None:
    """Everybody's charges into one bucket each."""
    from bursar.cohorts.people.engines.duck import IDS, WHOLE, readable

    frame = readable(database, charges, "person")
    kinds = {name: str(kind) for name, kind in zip(frame.columns, frame.types, strict=True)}
    for column, allowed in (("query", WHOLE), ("person", IDS | {"BLOB"}), ("charge", WHOLE)):
        if kinds.get(column) not in allowed:
            raise InputError(
                f"a list of charges has columns {', '.join(COLUMNS)}, whole numbers all of them, a person perhaps a "
                f"text: {column} is {kinds.get(column, 'missing')}",
                argument="charges",
            )
    frame.create_view("charges_given")
    folder = str(parts).replace("'", "''")
    database.execute(
        f"COPY (SELECT CAST(query AS BIGINT) AS query, person, CAST(charge AS BIGINT) AS charge, "
        f"hash(person) % {buckets} AS bucket FROM charges_given WHERE person IS NOT NULL) "
        f"TO '{folder}' (FORMAT parquet, COMPRESSION uncompressed, PARTITION_BY (bucket), OVERWRITE_OR_IGNORE)"
    )


def _bucket(database: Any, part: Path, target: Path, limit: int, rule: str) -> None:
    """One bucket, sorted, folded and written."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from bursar.cohorts.people.engines.duck import parquet

    if not part.is_dir():
        return
    found = parquet(sorted(map(str, part.glob("*.parquet"))))
    table = database.sql(f"SELECT query, person, charge FROM {found} ORDER BY person, query").to_arrow_table()
    if table["query"].null_count or table["charge"].null_count or pc.min(table["charge"]).as_py() < 0:
        raise InputError("query and charge must be there, and no charge below 0", argument="charges")
    persons = table["person"].combine_chunks()
    begins = np.ones(len(persons), np.bool_)
    begins[1:] = pc.not_equal(persons[1:], persons[:-1]).to_numpy(zero_copy_only=False)
    queries, asked = table["query"].to_numpy(), table["charge"].to_numpy()
    firsts, totals = merged(begins, queries, asked)
    admitted = admitted_of(begins[firsts], totals, limit, rule)
    rows = table.take(pa.array(firsts)) if len(firsts) < len(asked) else table
    rows = rows.set_column(2, "charge", pa.array(totals)).append_column("admitted", pa.array(admitted))
    pq.write_table(rows, target, compression="snappy", use_dictionary=False, write_statistics=False)
