"""A report as a table that fits 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bursar.jobs.report_text import abstentions
from bursar.numerics.shown import shown
from bursar.theorems import Bound, ForEpsilon

if TYPE_CHECKING:
    from bursar.jobs.report import Report


def table(report: Report) -> RenderableType:
    """The answer, then every theorem: best first, abstentions with their reasons."""
    symbol = "ε" if isinstance(report.question, ForEpsilon) else "δ"
    given, value = report.asked
    head = Text.assemble(
        (report.composition.text(), "bold"),
        f"\nrelation {report.composition.relation}, {given} = {value}\n",
        (report._interval(symbol, digits=10), "bold green"),
    )
    rows = Table(expand=False, pad_edge=False, box=None, header_style="dim")
    rows.add_column("theorem", no_wrap=True)
    rows.add_column(f"{symbol} ≥", justify="right", no_wrap=True)
    rows.add_column(f"{symbol} ≤", justify="right", no_wrap=True)
    rows.add_column("because")
    for row in report.theorems:
        if row.bound is not None:
            rows.add_row(*_cells(row.id, row.bound, report.decided_by))
    return Group(head, "", rows, *_abstentions(report))


def _cells(name: str, bound: Bound, deciding: tuple[str, ...]) -> tuple[Text, str, str, str]:
    mark = Text(("* " if name in deciding else "  ") + name, style="bold" if name in deciding else "")
    lower = shown(bound.lower, up=False) if bound.lower > 0 else ""
    return mark, lower, shown(bound.upper, up=True), bound.because


def _abstentions(report: Report) -> list[RenderableType]:
    """Who abstains and why, one line a reason."""
    lines = [Text(f"{', '.join(names)} {verb}: {reason}", style="dim") for names, verb, reason in abstentions(report)]
    return [Text(""), *lines] if lines else []
