"""Everybody has a budget: PipelineDP counts visits by day over those whose own budget bears it.

PipelineDP bounds what a person adds (each from their own rows alone) and draws the noise; the filter before it decides
whose rows it sees, and charges them for exactly that noise. Run it: ``python examples/pipeline_dp_counts.py``, in an
environment with ``pipeline-dp`` and ``bursar[cohorts]``.
"""

from __future__ import annotations

import math
import secrets
import tempfile
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pipeline_dp
import pyarrow as pa
from pipeline_dp import dp_computations

import bursar as b
from bursar.cohorts import PersonFilter

DAYS = 7
EPSILON, DELTA = 0.5, 1e-6
"""What PipelineDP computes its noise from; what is charged is the noise itself."""
MOST_DAYS = 2
"""In how many days a person may be counted, once in each."""


def visits(week: int, people: int = 400) -> pa.Table:
    """Who came on which day of a week: person k every k % 20 + 1 days."""
    rows = [(one, day) for day in range(DAYS) for one in range(people) if (7 * week + day) % (one % 20 + 1) == 0]
    return pa.table({"user": [one for one, _ in rows], "day": [day for _, day in rows]})


def deviation() -> float:
    """Of PipelineDP's own noise on each count, for what one person can add to all of them together."""
    found = dp_computations.GaussianMechanism.create_from_epsilon_delta(EPSILON, DELTA, math.sqrt(MOST_DAYS))
    return float(found.std)


def noise() -> b.Gaussian:
    """The same noise, measured in what one person can add; rounded down, so that no less than it is charged."""
    return b.Gaussian(sigma=math.floor(deviation() / math.sqrt(MOST_DAYS) * 10**6) / Fraction(10**6))


def counted(rows: Iterable[dict[str, Any]]) -> dict[int, float]:
    """A count for every day, by PipelineDP; days are public, so that none is chosen by who came."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT],
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
        max_partitions_contributed=MOST_DAYS,
        max_contributions_per_partition=1,
        output_noise_stddev=True,
    )
    how = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row["user"],
        partition_extractor=lambda row: row["day"],
        value_extractor=lambda row: 1,
    )
    # an empty table is an error there, and an error would tell that nobody is left: this row is on no public day
    given = [*rows, {"user": -1, "day": -1}]
    lazily = engine.aggregate(given, params, how, public_partitions=list(range(DAYS)))
    accountant.compute_budgets()
    found = dict(lazily)
    answers = {day: metrics.count for day, metrics in found.items()}
    if any(metrics.count_noise_stddev < deviation() for metrics in found.values()):
        raise RuntimeError("PipelineDP would add less noise than was charged: nothing is released")
    return answers


def main(ledger: b.Ledger, folder: str, weeks: int = 4) -> list[dict[int, float]]:
    """The counts of some weeks; everybody may spend what two of them cost."""
    rho = 2 * noise().promise(b.ZCDP).rho
    people = PersonFilter.create(
        ledger,
        "visits",
        folder=folder,
        person="user",
        rho=Fraction(rho) + Fraction(1, 10**6),
        secret=secrets.token_bytes(32),
    )
    answers = []
    for week in range(weeks):
        rows = people.admit(visits(week), noise(), key=f"week {week}")
        answers.append(counted(rows.to_pylist()))
    return answers


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, b.Ledger("memory://") as books:
        for answer in main(books, place):
            print({day: round(count) for day, count in sorted(answer.items())})
