"""How a scope is counted, for experts: each line under its one name, the odometer and hindsight with what each is for.

The odometer is a statement of another kind than the limit; where the limit says more, that is said in its place.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from bursar.ledger.budget import words
from bursar.ledger.budget.amounts import shown
from bursar.ledger.views.hindsight import HINDSIGHT, LIFETIME, ODOMETER
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
    rows.append(Row("sessions", *_SESSIONS[found.scope.currency.concurrent]))
    if (row := _odometer(found)) is not None:
        rows.append(row)
    if found.lifetime is not None:
        rows.append(Row("lifetime", f"ε ≤ {rounded(found.lifetime, up=True, digits=4)}", LIFETIME))
    if found.hindsight is not None:
        low, high = found.hindsight
        said = f"ε between {rounded(low, up=False, digits=4)} and {rounded(high, up=True, digits=4)}"
        rows.append(Row("hindsight", said, HINDSIGHT))
    return rows


def _line(currency: str, line: LineStanding) -> Row:
    name, limit = words.line_name(currency, line.name), shown(line.limit, up=False, digits=4)
    spent, held = shown(line.spent, up=True, digits=4), shown(line.held, up=True, digits=4)
    if line.dead:
        return Row(name, f"given up ({line.means} ≤ {limit})", "a release did not fit here and was paid another way")
    said = f"{words.left(line.share)} left: {line.means} {spent} spent and {held} held of {limit}"
    return Row(name, said, "")


def _odometer(found: Standing) -> Row | None:
    """The smaller of two true statements."""
    if found.odometer is None:
        return None
    limit = Fraction(found.scope.target["epsilon"])
    if found.odometer > limit and not found.scope.overdrawn and found.scope.overdrawn is not None:
        said = f"says no more than the limit at present, ε = {words.figure(limit)}"
        return Row("odometer", said, ODOMETER)
    return Row("odometer", f"ε ≤ {rounded(found.odometer, up=True, digits=4)}", ODOMETER)
