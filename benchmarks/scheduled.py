"""A long list of charges replayed by one engine in a process of its own: all that it takes counts, from the start of
the interpreter to the end of the last worker.

python benchmarks/scheduled.py duckdb|spark|start FOLDER     with charges.parquet, and budget.db of a filter ``visits``
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

SECRET = bytes(range(32))
SETTINGS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": "counted",  # ours, beside this file
}
"""One thread, and Java that starts quickly: tasks read files by themselves, so that no row is Java's to handle."""
_SUBREAPER = 36  # of prctl


def alone(engine: str, folder: Path) -> None:
    """Run it, and wait for everybody whom it started: Spark's Java and its workers outlive whoever called for them."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # orphans become children of this process, and count as such
    subprocess.run([sys.executable, __file__, engine, folder], check=True, capture_output=True)
    try:
        while os.wait():
            continue
    except ChildProcessError:
        return


def session(folder: Path) -> Any:
    """A Spark session of one thread."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from pyspark.sql import SparkSession

    from support.java import spark_home

    spark_home(folder / f"java {os.getpid()}")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    build = SparkSession.builder.master("local[1]")
    for name, value in SETTINGS.items():
        build = build.config(name, value)
    return build.getOrCreate()


def main(engine: str, folder: Path) -> None:
    """One replay, which leaves nothing behind; or Spark's start alone, with one task that does nothing."""
    if engine == "start":
        session(folder).sparkContext.parallelize([0], 1).mapPartitions(list).collect()
        return
    import bursar as b
    from bursar.cohorts import PersonFilter

    spark = session(folder) if engine == "spark" else None
    with b.Ledger(folder / "budget.db", alert=None) as ledger:
        target = folder / f"out {os.getpid()}"
        PersonFilter(ledger, "visits", secret=SECRET).replay(str(folder / "charges.parquet"), target, spark=spark)
        shutil.rmtree(target)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
