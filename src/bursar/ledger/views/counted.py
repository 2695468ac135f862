"""How a scope is counted, for experts: each line under its one name, the odometer and hindsight with what each is for.

The odometer is a statement of another kind than the limit; where the limit says more, that is said in its place.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from bursar.ledger.budget import words
from bursar.ledger.budget.amounts import shown
from bursar.ledger.views.hindsight import HINDSIGHT, ODOMETER
from bursar.numerics.shown import shown as rounded

if TYPE_CHECKING:
    from bursar.ledger.views.standing import LineStanding, Standing


_SESSIONS = {
    True: ("may overlap", "questions to several interactive mechanisms may be interleaved"),
    False: ("one after another", "no theorem covers interactive mechanisms that overlap and leak"),
}


class Row(NamedTuple):
    """One fact of how a scope is counted."""

    name: str
    said: str
    means: str
    """What it is for; empty where that goes without saying."""

    def __str__(self) -> str:
        return f"{self.name}: {self.said} ({self.means})" if self.means else f"{self.name}: {self.said}"


def counted(found: Standing) -> list[Row]:
    """All of them, in the order in which they are read."""
    currency = found.scope.row.currency
    rows = [Row("currency", f"{currency}, under {found.scope.relation}", "which theorem keeps the limit")]
    rows += [_line(currency, line) for line in found.lines]
    rows += _splits(found)
    rows.append(Row("sessions", *_SESSIONS[found.scope.currency.concurrent]))
    if (row := _odometer(found)) is not None:
        rows.append(row)
    if found.hindsight is not None:
        low, high = found.hindsight
        said = f"ε between {rounded(low, up=False, digits=4)} and {rounded(high, up=True, digits=4)}"
        rows.append(Row("hindsight", said, HINDSIGHT))
    return rows


def _line(currency: str, line: LineStanding) -> Row:
    name, limit = words.line_name(currency, line.name), shown(line.limit, up=False, digits=4)
    spent, held = shown(line.spent, up=True, digits=4), shown(line.held, up=True, digits=4)
    said = f"{words.left(line.share)} left: {line.means} {spent} spent and {held} held of {limit}"
    return Row(name, said, "")


def _splits(found: Standing) -> list[Row]:
    """What is left on each split; those that were given up are counted."""
    if found.splits is None:
        return []
    whole, rows = found.splits, list[Row]()
    for number, split in enumerate(found.splits.each):
        if split.mode:
            gaussian = words.left(Fraction(split.gaussian, whole.gaussian))
            pure = shown(Fraction(split.pure, whole.pure) * Fraction(whole.epsilon), up=False, digits=4)
            rows.append(Row(f"split {number + 1}", f"{gaussian} of B² and ε {pure} left", ""))
    dead = len(whole.each) - len(rows)
    if dead:
        rows.append(Row("splits given up", str(dead), "a release did not fit there, and was paid on the others"))
    return rows


def _odometer(found: Standing) -> Row | None:
    """The smaller of two true statements."""
    if found.odometer is None:
        return None
    limit = Fraction(found.scope.target["epsilon"])
    if found.odometer > limit and not found.scope.overdrawn and found.scope.overdrawn is not None:
        said = f"says no more than the limit at present, ε = {words.figure(limit)}"
        return Row("odometer", said, ODOMETER)
    return Row("odometer", f"ε ≤ {rounded(found.odometer, up=True, digits=4)}", ODOMETER)
