"""A program that admits people on a cluster of two workers of its own, and prints who. The workers' interpreter has no
bursar: what is sent with the job is all that they have of it.

python spark_cluster.py FOLDER INTERPRETER PACKAGE PATH…     PATHs are where the driver finds modules
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any


def found(_: Any) -> list[str]:
    """In a worker: where it finds bursar, before anything else of it is loaded."""
    import importlib.util

    spec = importlib.util.find_spec("bursar")
    return ["nowhere" if spec is None else Path(str(spec.origin)).parts[-3]]


def numbered(path: Path) -> Path:
    """A file of charges in several row groups: forty people, three queries, of which they can bear two."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    query, person = [query for query in range(3) for _ in range(40)], [*range(40)] * 3
    pq.write_table(pa.table({"query": query, "person": person, "charge": [90_000] * 120}), path, row_group_size=16)
    return path


def main(folder: Path, interpreter: str, package: str) -> None:
    """Both engines in turns on one filter, and a replay, whose tasks are bursar's own code in the workers."""
    import pyarrow.parquet as pq
    from pyspark.find_spark_home import _find_spark_home

    import bursar as b
    from bursar.cohorts import PersonFilter
    from bursar.ledger.ledger import Ledger
    from support.java import session
    from support.tables import SECRET, arrow

    spark = session(folder / "java", "local-cluster[2,1,1024]", 2, interpreter)
    context = spark.sparkContext
    print(*set(context.parallelize(range(2), 2).mapPartitions(found).collect()))
    with Ledger(folder / "budget.db", alert=None) as ledger:
        people = PersonFilter.create(
            ledger, "visits", folder=folder / "visits", person="user", rho="1/5000", secret=SECRET
        )
        rows = [(f"p{number:02}", 1.0) for number in range(40)]
        people.admit(arrow(rows[:10]), b.Gaussian(sigma=50), key="q-1")
        frame = spark.createDataFrame(rows, "user STRING, value DOUBLE").repartition(4)
        admitted = people.admit(frame, b.Gaussian(sigma=50), key="q-2").collect()
        print("".join(sorted(row["user"] for row in admitted)))
        again = people.admit(frame, sums="value", norm=1, sigma=50, key="q-3").collect()
        print(len(again), people.verify().ok, ledger.verify().ok)
        context.addPyFile(package)
        print(*set(context.parallelize(range(2), 2).mapPartitions(found).collect()))
        charges = [(query, f"p{number}", 90_000) for query in range(3) for number in range(40)]
        listed = spark.createDataFrame(charges, "query INT, person STRING, charge INT").repartition(4)
        for given, session_of in ((listed, None), (numbered(folder / "charges.parquet"), spark)):
            target = people.replay(given, folder / f"decided {session_of is None}", buckets=4, spark=session_of)
            decided = pq.read_table(sorted(target.glob("*.parquet")))
            print(decided.num_rows, sum(decided["admitted"].to_pylist()))
    logs = Path(_find_spark_home(), "work", context.applicationId)  # where Spark is installed, of all places
    spark.stop()
    shutil.rmtree(logs, ignore_errors=True)


if __name__ == "__main__":
    sys.path[:0] = sys.argv[4:]
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
