"""A program that admits people by a Spark of its own, and prints who; it can kill itself or its Java at a named point.

python spark_clients.py FOLDER URL NUMBER QUERIES POINT     FOLDER is new: its Java goes there
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from py4j.protocol import Py4JNetworkError
from pyspark.sql.readwriter import DataFrameWriter

from bursar.cohorts import PersonFilter
from bursar.cohorts.people.engines.spark import SparkEngine, _SparkPrepared
from bursar.ledger.ledger import Ledger
from support.java import session
from support.patience import until
from support.people_clients import admissions, after, die
from support.people_clients import die_at as die_on_disk
from support.tables import SECRET


def in_the_job(kill: Callable[[], None]) -> Callable[..., None]:
    """A job that is killed as soon as one of its tasks has a file on the disk: its caller gets no answer."""
    real = DataFrameWriter.parquet

    def written(writer: DataFrameWriter, path: str) -> None:
        job = threading.Thread(target=real, args=(writer, path), daemon=True)
        job.start()
        until(lambda: any(Path(path.removeprefix("file:")).rglob("*.parquet")), job.is_alive)
        kill()
        raise Py4JNetworkError

    return written


def die_at(point: str, ledger: Ledger, java: int, frame: type) -> None:
    """Kill this process when it gets there, or its Java."""
    if point == "before the delta":
        SparkEngine.write = die  # type: ignore[method-assign]
    elif point == "in the delta":
        DataFrameWriter.parquet = in_the_job(die)  # type: ignore[method-assign]
    elif point == "before the sync":
        SparkEngine.write = after(SparkEngine.write)  # type: ignore[method-assign]
    elif point == "before the rows":
        _SparkPrepared.rows = die  # type: ignore[method-assign]
    elif point == "before the frame is computed":
        frame.collect = die  # type: ignore[attr-defined]
    elif point == "Java, in the delta":
        DataFrameWriter.parquet = in_the_job(lambda: os.kill(java, signal.SIGKILL))  # type: ignore[method-assign]
    else:  # what comes after the delta is the same for every engine
        die_on_disk(point, ledger)


def main(folder: str, url: str, number: str, queries: str, point: str) -> None:
    """Queries of a Spark frame."""
    spark = session(Path(folder), "local[1]", 1)
    table = spark.createDataFrame([(name, 1.0) for name in "abc"], "user STRING, value DOUBLE")
    java = spark.sparkContext._gateway.proc.pid
    with Ledger(url, alert=None) as ledger:
        people = PersonFilter(ledger, "visits", secret=SECRET)
        for line in admissions(people, number, queries, lambda: die_at(point, ledger, java, type(table)), table):
            print(line, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
