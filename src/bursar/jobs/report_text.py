"""A report as plain text, in the very lines that its table has in colours: rich is not loaded for what it would only
print.
"""

from __future__ import annotations

import math
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
_SOURCE = re.compile(r" \([A-Z][^()]*\)\Z")
_EXACT = 15  # digits of a float


def plain(report: Report, width: int = 80) -> str:
    """The answer, then every theorem: best first, and which of them abstain."""
    symbol, _ = symbols(report)
    head = [proved(report), *asked(report), report._interval(symbol, digits=10)]
    rows = [("theorem", f"{symbol} ≥", f"{symbol} ≤", "because"), *_rows(report)]
    ends = abstaining(report)
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


def symbols(report: Report) -> tuple[str, str]:
    """What the report answers, and what was given."""
    return ("ε", "δ") if isinstance(report.question, ForEpsilon) else ("δ", "ε")


def proved(report: Report) -> str:
    """The first line of a report: four digits on the safe side, how many more are known, and who decided."""
    symbol, given = symbols(report)
    bound, at = report.bound, f"at {given} = {report.asked[1]}"
    if math.isinf(bound.upper):
        return f"proved: no finite {symbol} {at}"
    upper = shown(bound.upper, up=True, digits=5)
    known = digits(bound.lower, bound.upper)
    if known >= 4:
        said = f"{symbol} ≤ {upper} {at} ({'exactly known' if known > _EXACT else f'to {known} digits'})"
    elif bound.lower > 0:
        said = f"{shown(bound.lower, up=False, digits=5)} ≤ {symbol} ≤ {upper} {at}"
    else:
        said = f"{symbol} ≤ {upper} {at} (it may be less)"
    titles = [row.theorem.title for row in report.rows if row.id in report.decided_by[:1]]
    return f"proved: {said}" + "".join(f" · decided by: {_SOURCE.sub('', title)}" for title in titles)


def asked(report: Report) -> list[str]:
    """What was asked: of which releases, under which relation, at which point."""
    given, value = report.asked
    return [report.composition.text(), f"relation {report.composition.relation}, {given} = {value}"]


def digits(lower: float, upper: float) -> int:
    """How many leading digits of a number are known to be between these."""
    if lower == upper:
        return _EXACT + 1
    return min(max(math.floor(-math.log10((upper - lower) / upper)), 0), _EXACT)


def abstaining(report: Report) -> list[str]:
    """Which theorems abstain, in one line: their reasons are for who asks. Where all do, the reasons are the answer."""
    names = [row.id for row in report.rows if row.reason is not None]
    if names and len(names) == len(report.rows):
        return [f"{row.id} abstains: {row.reason}" for row in report.rows]
    verb = "abstains" if len(names) == 1 else "abstain"
    return [f"{', '.join(names)} {verb}: explain() and --explain say why"] if names else []


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
