"""A report as a table that fits 80 columns."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

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
    reasons: dict[str, list[str]] = {}
    for row in report.rows:
        if row.reason is not None:
            reasons.setdefault(row.reason, []).append(row.id)
    lines: list[RenderableType] = [Text("")] if reasons else []
    for reason, names in reasons.items():
        verb = "abstains" if len(names) == 1 else "abstain"
        lines.append(Text(f"{', '.join(names)} {verb}: {reason}", style="dim"))
    return lines


def plain(report: Report, width: int = 80) -> str:
    """The table as plain text."""
    buffer = io.StringIO()
    Console(file=buffer, width=width, no_color=True, highlight=False).print(table(report))
    return buffer.getvalue().rstrip("\n")
