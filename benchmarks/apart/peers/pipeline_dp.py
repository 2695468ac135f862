"""PipelineDP: a person filter before a job of its own (`examples/pipeline_dp_counts.py`)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from said import Row, example, ran, say

import bursar as b

REQUIRES = ["pipeline-dp", "duckdb", "pyarrow"]


def counts() -> str:
    """Four weeks: whoever comes every day is left out after two, whoever comes rarely stays, and nobody is told."""
    made = example("pipeline_dp_counts")
    with tempfile.TemporaryDirectory() as place, b.Ledger("memory://", alert=None) as ledger:
        answers = made.main(ledger, place)
        assert ledger.verify()
    there = [made.visits(week)["user"].value_counts() for week in range(4)]
    noise = made.deviation()
    totals = [sum(answer.values()) for answer in answers]
    most = [sum(min(made.MOST_DAYS, one["counts"].as_py()) for one in week) for week in there]
    assert abs(totals[0] - most[0]) < 6 * noise * made.DAYS**0.5
    assert totals[3] < most[3] / 2 + 6 * noise * made.DAYS**0.5
    return "sums of the weeks " + ", ".join(f"{total:.0f}" for total in totals)


def rows() -> Iterator[Row]:
    """The recipe."""
    yield ran(
        "a person filter before 4 weeks of counts by day, 400 people, two weeks each", "charged its noise", counts
    )


if __name__ == "__main__":
    say(rows())
