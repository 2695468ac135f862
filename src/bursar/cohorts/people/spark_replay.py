"""Bulk replay of a Spark frame. Spark schedules, and moves nothing between workers but columns: a task for each part of
the frame deals its charges into buckets, in a file of its own, and says where they are; then tasks decide bucket after
bucket, as the embedded replay does, from all of these files. Workers need bursar itself, and see the folder.
"""

from __future__ import annotations

import os
import shutil
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from bursar.cohorts.people.dealing import BATCH, COLUMNS, Dealt
from bursar.cohorts.people.engines._base import discreet
from bursar.cohorts.people.engines.spark import column_of, kinds_of
from bursar.cohorts.people.engines.spark_store import in_arrow
from bursar.cohorts.people.files import OPTIONS
from bursar.cohorts.people.fold import Room, decided
from bursar.cohorts.people.replay_target import SHARED, written_beside
from bursar.errors import InputError, described

_WHOLE = ("byte", "short", "integer", "long")
_ALLOWED = {"query": _WHOLE, "person": (*_WHOLE, "string", "binary"), "charge": _WHOLE}
TROUBLES = (PySparkException, Py4JError)
_BUCKETS = 256  # where nobody says how many: a frame does not tell how long it is
_PULSE = 0.5  # seconds between two looks at what is done
_TASKS = 8  # at least, where there are so many parts


def replayed_by_spark(
    charges: Any, target: Any, limit: int, rule: str, buckets: int | None, progress: Callable[[int, int], None]
) -> Path:
    """Write (query, person, charge, admitted) for every query and person below a new folder, one file a bucket."""
    buckets = buckets or _BUCKETS
    where = Path(os.fspath(target)).resolve()
    chosen = _checked(charges)
    with written_beside(where, SHARED) as beside:
        spill = beside / ".charges"
        spill.mkdir()
        with discreet(TROUBLES), watched(beside, buckets, progress):
            told = in_arrow(chosen, partial(_deal, str(spill), buckets), "trouble STRING, dealt BINARY").collect()
            troubles = [row["trouble"] for row in told if row["trouble"] is not None]
            if not troubles:
                dealt = [cloudpickle.loads(row["dealt"]) for row in told]
                work = partial(_decide, dealt, str(beside), limit, rule)
                troubles = run(charges.sparkSession, range(buckets), tasks_for(charges.sparkSession, buckets), work)
        refuse(troubles)
        shutil.rmtree(spill)
    progress(buckets, buckets)
    return where


def _checked(charges: Any) -> Any:
    """The columns of a list of charges, and for persons that are no numbers one that says where they go; columns that
    are missing or of another kind are refused by name.
    """
    kinds = kinds_of(charges)
    for column in COLUMNS:
        if kinds.get(column) not in _ALLOWED[column]:
            raise InputError(
                f"a list of charges has columns {', '.join(COLUMNS)}, whole numbers all of them, a person perhaps a "
                f"text: {column} is {described(kinds.get(column))}",
                argument="charges",
            )
    query, person, charge = (column_of(charges, name) for name in COLUMNS)
    mark = [] if kinds["person"] in _WHOLE else [F.xxhash64(person).alias("mark")]
    columns = (query.cast("bigint").alias("query"), person.alias("person"), charge.cast("bigint").alias("charge"))
    return charges.where(person.isNotNull()).select(*columns, *mark)


def _deal(spill: str, buckets: int, batches: Iterable[Any]) -> Iterator[Any]:
    """In a worker: the charges of one part of the frame, dealt; or what is wrong with them, in our own words, which
    show no value. A second attempt writes another file, and the one that nobody told of counts for nothing.
    """
    trouble, dealt = None, Dealt(Path(spill) / uuid.uuid4().hex, buckets)
    many = _many(batches)
    first = next(many, None)
    if first is None:
        return
    try:
        dealt.deal(first.schema, _chained(first, many))
    except InputError as problem:
        trouble = str(problem)
        for _ in many:  # Spark starts a worker anew that leaves something unread
            pass
    found = pa.array([None if trouble else cloudpickle.dumps(dealt)], pa.binary())
    yield pa.RecordBatch.from_arrays([pa.array([trouble], pa.string()), found], ["trouble", "dealt"])


def _many(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in batches of the size that is dealt at once: Spark's are smaller."""
    kept: list[Any] = []
    rows = 0
    for batch in batches:
        kept.append(batch)
        rows += batch.num_rows
        if rows >= BATCH:
            yield from pa.Table.from_batches(kept).combine_chunks().to_batches()
            kept, rows = [], 0
    if rows:
        yield from pa.Table.from_batches(kept).combine_chunks().to_batches()


def _chained(first: Any, others: Iterable[Any]) -> Iterator[Any]:
    yield first
    yield from others


def tasks_for(spark: Any, parts: int) -> int:
    """Into how many tasks so many parts go: a task that fails is done again, and one that is alone holds up nobody."""
    return min(parts, max(_TASKS, 4 * int(spark.sparkContext.defaultParallelism)))


def run(spark: Any, parts: Sequence[Any], tasks: int, work: Callable[[Iterable[Any]], list[Any]]) -> list[Any]:
    """All parts of some work, some of them in each task, on whichever worker is free; what the tasks give."""
    found: list[Any] = spark.sparkContext.parallelize(parts, max(1, tasks)).mapPartitions(work).collect()
    return found


def refuse(troubles: Iterable[str]) -> None:
    """What is wrong with a list, as tasks said it in our own words."""
    for trouble in sorted(troubles):
        raise InputError(trouble, argument="charges")


def _decide(dealt: Sequence[Dealt], where: str, limit: int, rule: str, numbers: Iterable[int]) -> list[str]:
    """In a worker: some buckets, decided and written under their numbers; a second attempt writes the same again."""
    room = Room()
    for number in numbers:
        table = pa.concat_tables([part.bucket(number, room) for part in dealt]) if dealt else ()
        if not len(table):
            continue
        try:
            rows = decided(table, limit, rule, room)
        except InputError as problem:
            return [str(problem)]
        written = Path(where) / ".charges" / uuid.uuid4().hex
        pq.write_table(rows, written, **OPTIONS)
        os.replace(written, Path(where) / f"bucket={number}.parquet")
    return []


@contextmanager
def watched(where: Path, buckets: int, progress: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how many buckets are there while Spark works: of files, so that it does not matter who runs the tasks."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_PULSE):
            progress(len(list(where.glob("bucket=*.parquet"))), buckets)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
