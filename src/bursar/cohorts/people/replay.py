"""Bulk replay: what a filter would have admitted of a long list of charges, bucket by bucket.

Charges are dealt into buckets by person, so that each person is whole in one of them; a bucket is brought in order of
persons and queries, and folded for all of its people at once. Memory follows the size of a bucket, work the number of
charges. The outcome is as private as the charges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bursar.cohorts.people.dealing import BATCH, COLUMNS, Dealt, refuse_gaps
from bursar.cohorts.people.engines._base import discreet
from bursar.cohorts.people.engines.duck import IDS, WHOLE, readable
from bursar.cohorts.people.fold import Room, decided
from bursar.cohorts.people.packed import Layout, Numbers, Packed, buckets_for, cells_for, layout_of
from bursar.cohorts.people.pages import write_groups
from bursar.cohorts.people.replay_target import PRIVATE, written_beside
from bursar.errors import InputError

_BUFFER = 1 << 22  # bytes that are written at once
_SMALL = 1 << 15  # charges that stay near the processor until they are packed
_BUCKETS = 256
_NUMBERS = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
}
"""Kinds of persons that fit into 64 bits, and how files call them."""


def replayed(
    charges: Any, target: Any, limit: int, rule: str, buckets: int | None, progress: Callable[[int, int], None]
) -> Path:
    """Write (query, person, charge, admitted) for every query and person below a new folder, one file a bucket; by
    None there are as many as the list asks for.
    """
    where = Path(os.fspath(target))
    with written_beside(where, PRIVATE) as beside, discreet((duckdb.Error, pa.ArrowException)):
        # one thread: what decides is one, and several give small batches
        database = duckdb.connect(":memory:", config={"temp_directory": str(beside), "threads": 1})
        dealt = _dealt(database, charges, beside / "dealt", buckets)
        room = Room()
        for number in range(dealt.buckets):
            _bucket(dealt, number, room, beside / f"bucket={number}.parquet", limit, rule)
            progress(number + 1, dealt.buckets)
        (beside / "dealt").unlink()
    return where


def _dealt(database: Any, charges: Any, spill: Path, buckets: int | None) -> Dealt | Packed:
    """Charges of any kind, dealt into buckets: as one number each where that can be."""
    kinds = _checked(database, charges)
    layout, count = _layout(database) if kinds["person"] in _NUMBERS else (None, 0)
    if layout is None:
        mark = "" if kinds["person"] in _NUMBERS else ", hash(person) AS mark"
        person = "CAST(person AS VARCHAR)" if kinds["person"] in ("HUGEINT", "UHUGEINT", "UUID") else "person"
        columns = f"CAST(query AS BIGINT) AS query, {person} AS person, CAST(charge AS BIGINT) AS charge{mark}"
        reader = database.sql(f"SELECT {columns} FROM charges_given WHERE person IS NOT NULL").to_arrow_reader(BATCH)
        dealt = Dealt(spill, buckets or _BUCKETS)
        dealt.deal(reader.schema, reader)
        return dealt
    chosen = buckets or buckets_for(count)
    packed = Packed(layout, _NUMBERS[kinds["person"]], chosen, -(-cells_for(count, layout) // chosen))
    packed.deal(spill, _counted(database, layout, kinds["person"]))
    return packed


def _counted(database: Any, layout: Layout, kind: str) -> Iterator[Numbers]:
    """The numbers of a list, counted from the least ones by the database: narrow columns take less to hand over."""
    wide = kind if kind == "UBIGINT" else "BIGINT"
    few = "UINTEGER" if layout.few.itemsize == 4 else "UBIGINT"
    columns = (
        f"CAST(CAST(query AS BIGINT) - CAST('{layout.query}' AS BIGINT) AS {few}) AS query",
        f"CAST(CAST(person AS {wide}) - CAST('{layout.person}' AS {wide}) AS {few}) AS person",
        f"CAST(charge AS {few}) AS charge",
    )
    rows = database.sql(f"SELECT {', '.join(columns)} FROM charges_given WHERE person IS NOT NULL")
    for batch in filter(len, rows.to_arrow_reader(_SMALL)):
        refuse_gaps(batch)
        query, person, charge = (
            np.frombuffer(column.buffers()[1], layout.few, len(column), layout.few.itemsize * column.offset)
            for column in batch.columns
        )
        yield query, person, charge


def _checked(database: Any, charges: Any) -> dict[str, str]:
    """The kinds of columns of a list of charges, which becomes a view; those that are missing or of another kind are
    refused.
    """
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
    return kinds


def _layout(database: Any) -> tuple[Layout | None, int]:
    """How charges fit into one number each, and how many there are; a file of Parquet says both without being read."""
    ends = ", ".join(f"MIN({name}), MAX({name})" for name in COLUMNS)
    ((*found, count),) = database.execute(
        f"SELECT {ends}, COUNT(*) FROM charges_given WHERE person IS NOT NULL"
    ).fetchall()
    return (None if None in found else layout_of(*zip(found[::2], found[1::2], strict=True))), count


def _bucket(dealt: Dealt | Packed, number: int, room: Room, target: Path, limit: int, rule: str) -> None:
    """One bucket, decided and written."""
    if isinstance(dealt, Packed):
        write_groups(target, dealt.decided(number, limit, rule, room))
        return
    charges = dealt.bucket(number, room)
    if charges.num_rows:
        rows = decided(charges, limit, rule, room)
        with pa.output_stream(str(target), compression=None, buffer_size=_BUFFER) as file:
            pq.write_table(rows, file, compression="NONE", use_dictionary=False, write_statistics=False)
