"""A program that admits people on a cluster of two workers of its own, and prints who.

python spark_cluster.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.ledger.ledger import Ledger
from support.java import spark_home
from support.tables import SECRET, arrow


def main(place: str) -> None:
    """Both engines in turns on one filter, and a replay, whose tasks are bursar's own code in the workers."""
    folder = Path(place)
    spark_home(folder / "java")
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    with Ledger(folder / "budget.db", alert=None) as ledger:
        people = PersonFilter.create(
            ledger, "visits", folder=folder / "visits", person="user", rho="1/5000", secret=SECRET
        )
        rows = [(f"p{number:02}", 1.0) for number in range(40)]
        people.admit(arrow(rows[:10]), b.Gaussian(sigma=50), key="q-1")
        frame = spark.createDataFrame(rows, "user STRING, value DOUBLE").repartition(4)
        found = people.admit(frame, b.Gaussian(sigma=50), key="q-2").collect()
        print("".join(sorted(row["user"] for row in found)))
        again = people.admit(frame, sums="value", norm=1, sigma=50, key="q-3").collect()
        print(len(again), people.verify().ok, ledger.verify().ok)
        charges = [(query, number % 40, 90_000) for query in range(3) for number in range(40)]
        listed = spark.createDataFrame(charges, "query INT, person INT, charge INT")
        decided = pq.read_table(sorted(people.replay(listed, folder / "decided", buckets=4).glob("*.parquet")))
        print(decided.num_rows, sum(decided["admitted"].to_pylist()))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
