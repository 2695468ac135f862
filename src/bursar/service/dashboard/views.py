"""What the pages show, as plain values: nothing here knows HTML or HTTP."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from bursar.composition import Composition
from bursar.jobs.curve import profile
from bursar.jobs.report import Report
from bursar.ledger.budget.amounts import shown
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.burn_down import burn_down as series
from bursar.ledger.views.burn_down import untouched
from bursar.ledger.views.statement import HINDSIGHT, LIFETIME, ODOMETER, Statement
from bursar.numerics.shown import shown as rounded
from bursar.service.seen import outcome

_MOST_POINTS = 400
_MOST_ENTRIES = 20_000


def statement(found: Statement) -> dict[str, Any]:
    """A scope for its page: lines with their shares, spent rounded up and left rounded down."""
    lines = []
    for line in found.lines:
        total = line.limit or Fraction(1)
        lines.append(
            {
                "name": line.name,
                "means": line.means,
                "dead": line.dead,
                "limit": shown(line.limit, up=False),
                "spent": shown(line.spent, up=True),
                "held": shown(line.held, up=True),
                "left": shown(line.left, up=False),
                "spent_share": _percent(line.spent / total),
                "held_share": _percent(line.held / total),
            }
        )
    return {
        "scope": found.scope,
        "lines": lines,
        "released": [{"what": what, "count": count} for what, count in found.released],
        "odometer": None if found.odometer is None else rounded(found.odometer, up=True, digits=6),
        "odometer_means": ODOMETER,
        "lifetime": None if found.lifetime is None else rounded(found.lifetime, up=True, digits=6),
        "lifetime_means": LIFETIME,
        "hindsight": None if found.hindsight is None else _ends(*found.hindsight),
        "hindsight_means": HINDSIGHT,
        "worst_block": found.worst_block,
        "target": {name: shown(Fraction(value), up=False) for name, value in found.scope.target.items()},
    }


def entry(one: dict[str, Any]) -> dict[str, Any]:
    """An entry for a table."""
    when = datetime.fromtimestamp(one["at"] / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return {**one, "when": when, "outcome": outcome(one), "refused": one["refusal"] is not None}


def burn_down(ledger: Ledger, found: Statement, end: int) -> str:
    """How much of each line was left after each of the last entries, as a chart's JSON: times, then one series for each
    line.
    """
    scope, first = found.scope, max(0, end - _MOST_ENTRIES)
    start = untouched(scope.currency.lines)
    if first:  # a line that no entry here touches has been as it is now
        start = {line.name: line.left / line.limit if line.limit else Fraction(0) for line in found.lines}
    points = series(scope.name, start, ledger.entries(scope.row.root, after=first, most=_MOST_ENTRIES))
    stride = max(1, math.ceil(len(points) / _MOST_POINTS))
    picked = [*points[:-1:stride], *points[-1:]]
    drawn = [
        {"label": f"{line} left", "values": [float(point.left[line]) for point in picked]}
        for line in scope.currency.lines
    ]
    return json.dumps({"x": [point.at / 1e6 for point in picked], "series": drawn, "time": True, "share": True})


def report(found: Report) -> dict[str, Any]:
    """The answer and the theorems' table."""
    rows = []
    for row in found.theorems:
        ends = None if row.bound is None else _ends(row.bound.lower, row.bound.upper)
        because = row.reason if row.bound is None else row.bound.because
        rows.append(
            {
                "id": row.id,
                "title": row.theorem.title,
                "ends": ends,
                "because": because,
                "decided": row.id in found.decided_by,
            }
        )
    given, value = found.asked
    return {
        "composition": found.composition.text(),
        "symbol": "ε" if given == "delta" else "δ",
        "at": f"{'δ' if given == 'delta' else 'ε'} = {value}",
        "ends": _ends(found.bound.lower, found.bound.upper),
        "rows": rows,
    }


def curve(composition: Composition) -> str:
    """δ against ε, both ends, as a chart's JSON."""
    found = profile(composition)
    upper, lower = found.upper, found.lower
    kept = [i for i in range(len(found.epsilons)) if upper[i] > 1e-15]
    stride = max(1, len(kept) // 160)
    picked = kept[::stride]
    series = [
        {"label": "δ at most", "values": [float(upper[i]) for i in picked]},
        {"label": "δ at least", "values": [float(lower[i]) if lower[i] > 1e-15 else None for i in picked]},
    ]
    return json.dumps({"x": [float(found.epsilons[i]) for i in picked], "series": series, "log": True})


def _ends(lower: float, upper: float) -> dict[str, str]:
    return {"lower": rounded(lower, up=False, digits=8), "upper": rounded(upper, up=True, digits=8)}


def _percent(share: Fraction) -> str:
    return f"{min(max(float(share), 0.0), 1.0) * 100:.3f}%"
