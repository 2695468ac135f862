"""Bulk replay: what a filter would have admitted of a long list of charges, bucket by bucket.

Charges are dealt into buckets by person, so that each person is whole in one of them; a bucket is brought in order of
persons and queries, and folded for all of its people at once. Memory follows the size of a bucket, work the number of
charges. The outcome is as private as the charges.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from bursar.cohorts.people.dealing import BATCH, COLUMNS, Dealt
from bursar.cohorts.people.engines._base import discreet
from bursar.cohorts.people.engines.duck import IDS, WHOLE, readable
from bursar.cohorts.people.fold import Room, decided
from bursar.errors import InputError, storage_trouble

_BUFFER = 1 << 22  # bytes that are written at once


def replayed(
    charges: Any, target: Any, limit: int, rule: str, buckets: int, progress: Callable[[int, int], None]
) -> Path:
    """Write (query, person, charge, admitted) for every query and person below a new folder, one file a bucket."""
    where = Path(os.fspath(target))
    if where.exists():
        raise InputError(f"target {where} exists: a replay never overwrites", argument="target")
    spill = where / "dealt"
    whole = False
    try:
        where.mkdir(parents=True)
        with discreet((duckdb.Error, pa.ArrowException)):
            database = duckdb.connect(":memory:", config={"temp_directory": str(where)})
            reader = _charges(database, charges)
            dealt = Dealt(spill, buckets)
            dealt.deal(reader.schema, reader)
            room = Room()
            for number in range(buckets):
                _bucket(dealt.bucket(number, room), room, where / f"bucket={number}.parquet", limit, rule)
                progress(number + 1, buckets)
        spill.unlink()
        whole = True
    except OSError as problem:
        raise storage_trouble("the replay could not be written", problem) from None
    finally:
        if not whole:
            shutil.rmtree(where, ignore_errors=True)
    return where


def _charges(database: Any, charges: Any) -> Any:
    """A list of charges of any kind, batch by batch; columns that are missing or of another kind are refused."""
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
    mark = "" if kinds["person"] in WHOLE - {"HUGEINT"} else ", hash(person) AS mark"
    person = "CAST(person AS VARCHAR)" if kinds["person"] in ("HUGEINT", "UHUGEINT", "UUID") else "person"
    return database.sql(
        f"SELECT CAST(query AS BIGINT) AS query, {person} AS person, CAST(charge AS BIGINT) AS charge{mark} "
        "FROM charges_given WHERE person IS NOT NULL"
    ).to_arrow_reader(BATCH)


def _bucket(charges: Any, room: Room, target: Path, limit: int, rule: str) -> None:
    """One bucket, decided and written."""
    if charges.num_rows:
        rows = decided(charges, limit, rule, room)
        with pa.output_stream(str(target), compression=None, buffer_size=_BUFFER) as file:
            pq.write_table(rows, file, compression="NONE", use_dictionary=False, write_statistics=False)
