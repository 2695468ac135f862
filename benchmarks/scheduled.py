"""A long list of charges replayed by one engine in a process of its own: all that it takes counts, from the start of
the interpreter to the end of the last worker.

python benchmarks/scheduled.py duckdb|spark FOLDER      with charges.parquet and budget.db of a filter ``visits`` in it
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
SETTINGS = {"spark.driver.extraJavaOptions": "-XX:+UseSerialGC", "spark.driver.memory": "2g"}
"""One thread; the compiler that a long job is worth (with TieredStopAtLevel=1 start-up takes less, and rows more)."""
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


def charges_of(engine: str, folder: Path) -> Any:
    """The list, as the engine's own users give it."""
    path = str(folder / "charges.parquet")
    if engine == "duckdb":
        return path
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from pyspark.sql import SparkSession

    from support.java import spark_home

    spark_home(folder / f"java {os.getpid()}")
    build = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name, value in SETTINGS.items():
        build = build.config(name, value)
    return build.getOrCreate().read.parquet(path)


def main(engine: str, folder: Path) -> None:
    """One replay, which leaves nothing behind."""
    import bursar as b
    from bursar.cohorts import PersonFilter

    with b.Ledger(folder / "budget.db", alert=None) as ledger:
        target = folder / f"out {os.getpid()}"
        PersonFilter(ledger, "visits", secret=SECRET).replay(charges_of(engine, folder), target)
        shutil.rmtree(target)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
