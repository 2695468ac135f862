"""Everybody has a budget: Tumult Analytics counts visitors on Spark, over those whose own budget bears it.

A session of Tumult has one budget for the whole table, which the most active people would end. Here each query is a
session of its own, over a frame of those who can bear it. Run it: ``python examples/tumult_counts.py``, in an
environment with ``tmlt.analytics``, ``bursar[spark]`` and a Java that its Spark knows.
"""

from __future__ import annotations

import secrets
import tempfile
from fractions import Fraction
from typing import Any

from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, MaxRowsPerID, QueryBuilder, RhoZCDPBudget, Session

import bursar as b
from bursar.cohorts import PersonFilter

RHO = Fraction(1, 50)
"""What one query costs whoever is in it."""


def visits(spark: Any, day: int, people: int = 300) -> Any:
    """Who came on a day: person k every k % 7 + 1 days."""
    rows = [(f"p{one}",) for one in range(people) if day % (one % 7 + 1) == 0]
    return spark.createDataFrame(rows, "user STRING")


def counted(rows: Any) -> int:
    """The number of visitors, with Tumult's noise, for all that a query may cost."""
    budget = RhoZCDPBudget(float(RHO))
    session = Session.from_dataframe(budget, "visits", rows, protected_change=AddRowsWithID("user"))
    query = QueryBuilder("visits").enforce(MaxRowsPerID(1)).count()
    return int(session.evaluate(query, budget).collect()[0]["count"])


def main(spark: Any, ledger: b.Ledger, folder: str, days: int = 5) -> list[int]:
    """The counts of some days; everybody may spend what three of them cost."""
    people = PersonFilter.create(
        ledger, "visits", folder=folder, person="user", rho=3 * RHO, secret=secrets.token_bytes(32)
    )
    charge = b.Declared(b.ZCDP(rho=RHO))
    return [counted(people.admit(visits(spark, day), charge, key=f"day {day}")) for day in range(days)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, b.Ledger("memory://") as books:
        print(main(SparkSession.builder.master("local[1]").getOrCreate(), books, place))
