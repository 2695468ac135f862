"""What Spark's workers do in a replay of Parquet files. They load this, numpy and Arrow, and nothing of the ledger: a
worker starts anew for each job, and would take longer to load all of bursar than to decide a million charges.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from bursar.cohorts.people.dealing import COLUMNS
from bursar.cohorts.people.fold import Room
from bursar.cohorts.people.packed import Layout, Numbers, Packed, Run
from bursar.cohorts.people.pages import write_groups
from bursar.errors import InputError

_BATCH = 1 << 16  # charges that are read at once


class Group(NamedTuple):
    """A row group of a file, and how many charges are in it."""

    path: str
    number: int
    rows: int


def deal(packed: Packed, spill: str, groups: Iterable[Group]) -> list[Run | str]:
    """In a worker: some row groups, dealt into a file of their own; where its runs are, or what is wrong with them in
    our own words. A second attempt writes another file, and the one that nobody told of counts for nothing.
    """
    try:
        packed.deal(Path(spill) / uuid.uuid4().hex, _numbers(packed.layout, groups))
    except InputError as problem:
        return [str(problem)]
    return list(packed.runs)


def _numbers(layout: Layout, groups: Iterable[Group]) -> Iterator[Numbers]:
    room, opened = Room(), dict[str, Any]()
    for path, number, _ in groups:
        if path not in opened:
            opened = {path: pq.ParquetFile(path)}
        for batch in opened[path].iter_batches(_BATCH, row_groups=[number], columns=COLUMNS, use_threads=False):
            yield layout.counted(batch.select(COLUMNS), room)


def decide(packed: Packed, where: str, limit: int, rule: str, numbers: Iterable[int]) -> list[str]:
    """In a worker: some buckets, decided and written under their numbers; a second attempt writes the same again."""
    room = Room()
    for number in numbers:
        written = Path(where) / ".charges" / uuid.uuid4().hex
        try:
            write_groups(written, packed.decided(number, limit, rule, room))
        except InputError as problem:
            return [str(problem)]
        if written.exists():  # nobody may be in a bucket
            os.replace(written, Path(where) / f"bucket={number}.parquet")
    return []
