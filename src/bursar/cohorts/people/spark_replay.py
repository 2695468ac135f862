"""Bulk replay of a Spark frame: Spark deals the charges into buckets by person, one file each, and runs one task for
each of them; the task decides its bucket as the embedded replay does. Workers need bursar itself, and see the folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from bursar.cohorts.people.dealing import COLUMNS
from bursar.cohorts.people.engines._base import discreet
from bursar.cohorts.people.engines.spark import column_of, kinds_of
from bursar.cohorts.people.replay import replayed
from bursar.errors import InputError, described, storage_trouble

_WHOLE = ("byte", "short", "integer", "long")
_ALLOWED = {"query": _WHOLE, "person": (*_WHOLE, "string", "binary"), "charge": _WHOLE}
_PULSE = 0.5  # seconds between two looks at what is done


def replayed_by_spark(
    charges: Any, target: Any, limit: int, rule: str, buckets: int, progress: Callable[[int, int], None]
) -> Path:
    """Write (query, person, charge, admitted) for every query and person below a new folder, one file a bucket."""
    where = Path(os.fspath(target)).resolve()
    if where.exists():
        raise InputError(f"target {where} exists: a replay never overwrites", argument="target")
    chosen = _checked(charges)
    parts = where / ".charges"
    whole = False
    try:
        where.mkdir(parents=True)
        with discreet((PySparkException, Py4JError)), _watched(where, buckets, progress):
            # each person is whole in one partition, and a partition in one file
            dealt = chosen.repartition(buckets, "person").write.option("maxRecordsPerFile", 0)
            dealt.parquet(f"file:{parts}")
            troubles = _run(charges.sparkSession, sorted(parts.glob("*.parquet")), partial(_bucket, limit, rule))
        for trouble in sorted(troubles):
            raise InputError(trouble, argument="charges")
        whole = True
    except OSError as problem:
        raise storage_trouble("the replay could not be written", problem) from None
    finally:
        shutil.rmtree(parts if whole else where, ignore_errors=True)
    progress(buckets, buckets)
    return where


def _checked(charges: Any) -> Any:
    """The columns of a list of charges; those that are missing or of another kind are refused by name."""
    kinds = kinds_of(charges)
    for column in COLUMNS:
        if kinds.get(column) not in _ALLOWED[column]:
            raise InputError(
                f"a list of charges has columns {', '.join(COLUMNS)}, whole numbers all of them, a person perhaps a "
                f"text: {column} is {described(kinds.get(column))}",
                argument="charges",
            )
    return charges.select(*(column_of(charges, name) for name in COLUMNS)).where("person IS NOT NULL")


def _run(spark: Any, parts: Sequence[Path], task: Callable[[tuple[int, str]], list[str]]) -> list[str]:
    """One task for each part, on whichever worker is free; what was wrong with any of them."""
    if not parts:
        return []
    given = [(number, str(part)) for number, part in enumerate(parts)]
    found: list[str] = spark.sparkContext.parallelize(given, len(given)).flatMap(task).collect()
    return found


def _bucket(limit: int, rule: str, given: tuple[int, str]) -> list[str]:
    """In a worker: one bucket, decided and written under its number. What is wrong with the list is said in our own
    words, which show no value; a second attempt writes the same file again.
    """
    import pyarrow.parquet as pq

    number, part = given
    target = Path(part).parent.parent
    table = pq.read_table(part, partitioning=None)
    if not table.num_rows:
        return []
    with tempfile.TemporaryDirectory(prefix=".bucket-", dir=target) as place:
        try:
            decided = replayed(table, f"{place}/decided", limit, rule, 1, lambda done, all: None)
        except InputError as problem:
            return [str(problem)]
        os.replace(decided / "bucket=0.parquet", target / f"bucket={number}.parquet")
    return []


@contextmanager
def _watched(where: Path, buckets: int, progress: Callable[[int, int], None]) -> Iterator[None]:
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
