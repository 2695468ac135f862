"""How a budget burns down: what was left of each measure of a scope after each entry that touched it.

One series for every picture of it. The share is of the limit as it was at that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from bursar.ledger.budget.shares import shares
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained


@dataclass(frozen=True)
class Point:
    """A scope after one entry."""

    at: int
    """Microseconds since 1970."""
    seq: int
    left: Mapping[str, Fraction]
    """The share of each measure's limit that is left."""


def burn_down(scope: str, start: Mapping[str, Fraction], entries: Iterable[Chained]) -> list[Point]:
    """A point for each of a root's entries that touches the scope, in order. ``start`` has what was left of each
    measure before the first of them.
    """
    points: list[Point] = []
    now = dict(start)
    for chained in entries:
        touched = {one.line: one.after for one in body_in(chained.entry.body).effect if one.scope == scope}
        if touched:
            now = {**now, **shares(touched)}
            points.append(Point(chained.entry.at, chained.entry.seq, now))
    return points


def untouched(measures: Iterable[str]) -> dict[str, Fraction]:
    """The start of a scope's history: everything is left."""
    return dict.fromkeys(measures, Fraction(1))
