"""A report as HTML, for notebooks and pages: no script, no style sheet, everything escaped. What only some want to read
is folded.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bursar.jobs.report_text import asked, proved, symbols
from bursar.numerics.shown import shown

if TYPE_CHECKING:
    from bursar.jobs.report import Report, Row


def html(report: Report) -> str:
    """The answer; folded, every theorem: best first, abstentions with their reasons."""
    symbol, _ = symbols(report)
    what, under = asked(report)
    rows = "".join(_row(row, row.id in report.decided_by) for row in report.theorems)
    return (
        f"<div><p><strong>{escape(proved(report))}</strong><br><code>{escape(what)}</code><br>"
        f"{escape(under)}: {escape(report._interval(symbol, digits=10))}</p>"
        f"<details><summary>what every theorem says</summary>"
        f"<table><thead><tr><th>theorem</th><th>{symbol} ≥</th><th>{symbol} ≤</th><th>because</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></details></div>"
    )


def _row(row: Row, decided: bool) -> str:
    name = f"<strong>{escape(row.id)}</strong>" if decided else escape(row.id)
    if row.bound is None:
        return f"<tr><td>{name}</td><td></td><td></td><td><em>{escape(row.reason or '')}</em></td></tr>"
    lower = shown(row.bound.lower, up=False) if row.bound.lower > 0 else ""
    upper = shown(row.bound.upper, up=True)
    return f"<tr><td>{name}</td><td>{lower}</td><td>{upper}</td><td>{escape(row.bound.because)}</td></tr>"
