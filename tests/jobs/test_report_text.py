"""A report in plain text has the very lines of its table in colours, though rich is not asked."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import bursar as b
from bursar.jobs import report_text
from bursar.jobs.report import Report
from bursar.theorems import Abstain, Bound

REPORT = b.account(b.Gaussian(sigma=20.0) * 100, delta=1e-6)
WORDS = st.lists(st.text("abcε≤ρ 1(),-", max_size=30), max_size=12).map(" ".join)


def by_rich(report: Report, width: int = 80) -> str:
    """What rich prints without colours."""
    buffer = io.StringIO()
    Console(file=buffer, width=width, no_color=True, highlight=False).print(report)
    return buffer.getvalue().rstrip("\n")


@pytest.mark.parametrize(
    "report",
    [
        REPORT,
        b.account(b.Laplace(scale=3.0) * 7 + b.RandomizedResponse(epsilon="0.3"), epsilon=1),
        b.account(b.Declared(b.ZCDP("0.1")) * 3, delta=1e-9),
        b.account(b.Composition(), delta=1e-9),
        b.account(sum((b.Gaussian(sigma=10 + i) for i in range(20)), b.Composition()), delta="1e-300"),
    ],
    ids=lambda report: report.composition.text()[:20],
)
def test_reports_read_the_same(report: Report) -> None:
    """Both ways give the same text."""
    assert str(report) == by_rich(report)


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, max_size=3), st.integers(40, 120))
def test_any_reason_reads_the_same(reasons: list[str], refusals: list[str], width: int) -> None:
    """Long words, many blanks and empty reasons are folded as rich folds them."""
    said = [Bound(0.5, 1.0, text) for text in reasons] + [Abstain(text) for text in refusals]
    rows = tuple(replace(row, result=result) for row, result in zip(REPORT.rows, said, strict=False))
    report = replace(REPORT, rows=rows)
    assert report_text.plain(report, width) == by_rich(report, width)


@pytest.mark.parametrize("text", ["[bold]x[/bold]", ":smile: x", "漢字 and more", "one\ntwo", "a\\[b]", "x" * 200])
def test_what_only_rich_knows_is_left_to_it(text: str) -> None:
    """Marks, wide letters, line ends and words without end come out as in the table."""
    rows = (replace(REPORT.rows[0], result=Bound(0.5, 1.0, text)), replace(REPORT.rows[1], result=Abstain(text)))
    report = replace(REPORT, rows=rows)
    assert str(report) == by_rich(report)
