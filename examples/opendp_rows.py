"""Counts, a histogram and a mean over rows, by OpenDP, under one budget, until it ends.

Every release is charged before it runs, and runs once: a retry gets the kept output. Run it: ``python
examples/opendp_rows.py``.
"""

from __future__ import annotations

import textwrap
from typing import Any

import opendp.prelude as dp

import bursar as b
from bursar.adapters.opendp import release
from bursar.presented import columns

dp.enable_features("contrib")
ROWS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
DECADES = list(range(1, 8))


def ages(number: int = 400) -> list[int]:
    """One row a person."""
    return [18 + (7 * person) % 60 for person in range(number)]


def queries(rows: list[int]) -> dict[str, tuple[Any, list[int]]]:
    """Each query as a measurement, and the rows that it reads."""
    return {
        "count": (ROWS >> dp.t.then_count() >> dp.m.then_laplace(scale=4.0), rows),
        "histogram": (
            ROWS >> dp.t.then_count_by_categories(categories=DECADES) >> dp.m.then_laplace(scale=8.0),
            [age // 10 for age in rows],
        ),
        "sum": (ROWS >> dp.t.then_clamp((18, 90)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=360.0), rows),
        "count again": (ROWS >> dp.t.then_count() >> dp.m.then_laplace(scale=4.0), rows),
        "count once more": (ROWS >> dp.t.then_count() >> dp.m.then_laplace(scale=4.0), rows),
    }


def main(ledger: b.Ledger, rows: list[int]) -> dict[str, Any]:
    """Ask everything that fits ε = 1; the last answer is the refusal."""
    ledger.open("people", epsilon=1, unit="person")
    answers: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for name, (measurement, data) in queries(rows).items():
        try:
            answers[name] = release(ledger, "people", measurement, data, d_in=1, key=name, outputs=kept)
        except b.BudgetExceeded as refused:
            answers["refused"] = str(refused)
            break
    answers["mean"] = answers["sum"] / max(answers["count"], 1)
    return answers


def spoken(answer: Any) -> str:
    """An answer in a cell of a table."""
    return f"{answer:.1f}" if isinstance(answer, float) else textwrap.shorten(str(answer), 80, placeholder=" …")


if __name__ == "__main__":
    with b.Ledger("memory://") as books:
        print('400 people, the budget "people": ε = 1, protects each person\n')
        print(
            columns(
                ["question", "answer"],
                [[name, spoken(answer)] for name, answer in main(books, ages()).items()],
                words=2,
            )
        )
        print(f"\n{books.show('people')}\n\nnothing was written: this ledger lived in memory")
