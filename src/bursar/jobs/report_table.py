"""A report as a table that fits 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bursar.jobs.report_text import abstaining, asked, proved, symbols
from bursar.numerics.shown import shown
from bursar.theorems import Bound

if TYPE_CHECKING:
    from bursar.jobs.report import Report


def table(report: Report) -> RenderableType:
    """The answer, then every theorem: best first, and which of them abstain."""
    symbol, _ = symbols(report)
    what, under = asked(report)
    head = Text.assemble(
        (proved(report), "bold green"), f"\n{what}\n{under}\n", (report._interval(symbol, digits=10), "bold")
    )
    rows = Table(expand=False, pad_edge=False, box=None, header_style="dim")
    rows.add_column("theorem", no_wrap=True)
    rows.add_column(f"{symbol} ≥", justify="right", no_wrap=True)
    rows.add_column(f"{symbol} ≤", justify="right", no_wrap=True)
    rows.add_column("because")
    for row in report.theorems:
        if row.bound is not None:
            rows.add_row(*_cells(row.id, row.bound, report.decided_by))
    ends = [Text(line, style="dim") for line in abstaining(report)]
    return Group(head, "", rows, *([Text("")] if ends else []), *ends)


def _cells(name: str, bound: Bound, deciding: tuple[str, ...]) -> tuple[Text, str, str, str]:
    mark = Text(("* " if name in deciding else "  ") + name, style="bold" if name in deciding else "")
    lower = shown(bound.lower, up=False) if bound.lower > 0 else ""
    return mark, lower, shown(bound.upper, up=True), bound.because
