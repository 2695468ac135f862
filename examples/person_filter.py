"""Everybody has a budget: visits are counted by OpenDP, day after day, over those whose own budget bears it.

A limit for the whole table would end the work after a few days, because some people come daily. Here whoever has spent
their budget is left out, nobody is told, and the work goes on. Run it: ``python examples/person_filter.py``.
"""

from __future__ import annotations

import secrets
import tempfile

import opendp.prelude as dp
import pyarrow as pa

import bursar as b
from bursar.adapters.opendp import declared
from bursar.cohorts import PersonFilter

dp.enable_features("contrib")
ROWS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
COUNT = ROWS >> dp.t.then_count() >> dp.m.then_gaussian(scale=5.0)
"""A count of people, with Gaussian noise: ρ = 1/50 for one of them."""


def visits(day: int, people: int = 300) -> pa.Table:
    """Who came on a day: person k every k % 7 + 1 days."""
    return pa.table({"user": [person for person in range(people) if day % (person % 7 + 1) == 0]})


def released(people: PersonFilter, day: int) -> int:
    """One day's count: charged, durably, before the rows are read; then noise of OpenDP's."""
    rows = people.admit(visits(day), declared(COUNT, 1), key=f"visits of day {day}")
    answer: int = COUNT(rows["user"].unique().to_pylist())
    return answer


def main(ledger: b.Ledger, folder: str, days: int = 30) -> list[int]:
    """The counts of some days; everybody may spend ρ = 1/5, which is ten of them."""
    people = PersonFilter.create(
        ledger, "visits", folder=folder, person="user", rho="1/5", secret=secrets.token_bytes(32)
    )
    answers = []
    for day in range(days):
        answers.append(released(people, day))
        if day % 10 == 9:
            people.compact()
    return answers


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, b.Ledger("memory://") as books:
        print(main(books, place))
        print(books.show("visits"))
