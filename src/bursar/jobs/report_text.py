"""A report as plain text, in the very lines that its table has in colours: rich is not loaded for what it would only
print.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bursar.numerics.shown import shown
from bursar.theorems import ForEpsilon

if TYPE_CHECKING:
    from bursar.jobs.report import Report

_WORD = re.compile(r"\s*\S+\s*")
_MARKED = re.compile(r"\[|\\|:\S+:")


def plain(report: Report, width: int = 80) -> str:
    """The answer, then every theorem: best first, abstentions with their reasons."""
    symbol = "ε" if isinstance(report.question, ForEpsilon) else "δ"
    given, value = report.asked
    head = [
        report.composition.text(),
        f"relation {report.composition.relation}, {given} = {value}",
        report._interval(symbol, digits=10),
    ]
    rows = [("theorem", f"{symbol} ≥", f"{symbol} ≤", "because"), *_rows(report)]
    ends = [f"{', '.join(names)} {verb}: {reason}" for names, verb, reason in abstentions(report)]
    sizes = [max(len(row[column]) for row in rows) for column in range(4)]
    sizes[3] = min(sizes[3], width - sum(sizes[:3]) - 6)
    reasons = [row[3] for row in rows]
    if not (_simple("".join([*head, *ends, *reasons])) and all(_fits(reason, sizes[3]) for reason in reasons)):
        return _by_rich(report, width)
    lines = [line for text in head for line in _folded(text, width)]
    lines.append("")
    for row in rows:
        lines += _row(row, sizes)
    lines += ["", *(line for text in ends for line in _folded(text, width))] if ends else []
    return "\n".join(lines)


def abstentions(report: Report) -> Iterator[tuple[list[str], str, str]]:
    """Who abstains, the verb for so many, and the reason that they share."""
    reasons: dict[str, list[str]] = {}
    for row in report.rows:
        if row.reason is not None:
            reasons.setdefault(row.reason, []).append(row.id)
    for reason, names in reasons.items():
        yield names, "abstains" if len(names) == 1 else "abstain", reason


def _rows(report: Report) -> Iterator[tuple[str, str, str, str]]:
    for row in report.theorems:
        if row.bound is not None:
            mark = "* " if row.id in report.decided_by else "  "
            lower = shown(row.bound.lower, up=False) if row.bound.lower > 0 else ""
            yield mark + row.id, lower, shown(row.bound.upper, up=True), row.bound.because


def _row(row: tuple[str, str, str, str], sizes: list[int]) -> Iterator[str]:
    """One row in as many lines as its last column takes."""
    first = f"{row[0]:<{sizes[0]}}  {row[1]:>{sizes[1]}}  {row[2]:>{sizes[2]}}  "
    for line in _folded(row[3], sizes[3]):
        yield first + f"{line:<{sizes[3]}}"
        first = " " * len(first)


def _folded(text: str, width: int) -> list[str]:
    """The lines of a text. A word that does not fit begins a new line; one that fits no line is cut."""
    cuts, used = [0], 0
    for found in _WORD.finditer(text):
        start, word = found.start(), found.group()
        size = len(word.rstrip())
        if size <= width - used:
            used += len(word)
        elif size > width:
            cuts += [at for at in range(start, found.end(), width) if at]
            used = (len(word) - 1) % width + 1
        elif used and start:
            cuts.append(start)
            used = len(word)
    pieces = [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]
    return [piece[:width] + piece[width:].rstrip() for piece in pieces]


def _simple(text: str) -> bool:
    """Whether every character takes one column, and none ends a line."""
    return text.isprintable() and not any(
        unicodedata.east_asian_width(letter) in "WF" or unicodedata.combining(letter) for letter in set(text)
    )


def _fits(reason: str, width: int) -> bool:
    """Whether no word of a reason would have to be cut, and nothing in it means something to rich."""
    return all(len(word) <= width for word in reason.split()) and not _MARKED.search(reason)


def _by_rich(report: Report, width: int) -> str:
    """The table as rich prints it, which knows what wide letters and narrow columns need."""
    import io

    from rich.console import Console

    buffer = io.StringIO()
    Console(file=buffer, width=width, no_color=True, highlight=False).print(report)
    return buffer.getvalue().rstrip("\n")
