"""A report as HTML, for notebooks and pages: no script, no style sheet, everything escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bursar.numerics.shown import shown
from bursar.theorems import ForEpsilon

if TYPE_CHECKING:
    from bursar.jobs.report import Report, Row


def html(report: Report) -> str:
    """The answer, then every theorem: best first, abstentions with their reasons."""
    symbol = "ε" if isinstance(report.question, ForEpsilon) else "δ"
    given, value = report.asked
    rows = "".join(_row(row, row.id in report.decided_by) for row in report.theorems)
    return (
        f"<div><p><code>{escape(report.composition.text())}</code><br>"
        f"relation {escape(report.composition.relation)}, {escape(given)} = {escape(value)}<br>"
        f"<strong>{escape(report._interval(symbol, digits=10))}</strong></p>"
        f"<table><thead><tr><th>theorem</th><th>{symbol} ≥</th><th>{symbol} ≤</th><th>because</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(row: Row, decided: bool) -> str:
    name = f"<strong>{escape(row.id)}</strong>" if decided else escape(row.id)
    if row.bound is None:
        return f"<tr><td>{name}</td><td></td><td></td><td><em>{escape(row.reason or '')}</em></td></tr>"
    lower = shown(row.bound.lower, up=False) if row.bound.lower > 0 else ""
    upper = shown(row.bound.upper, up=True)
    return f"<tr><td>{name}</td><td>{lower}</td><td>{upper}</td><td>{escape(row.bound.because)}</td></tr>"
