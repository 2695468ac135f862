"""What the pages show, as plain values: nothing here knows HTML or HTTP."""

from __future__ import annotations

import json
import math
from typing import Any

from bursar.composition import Composition
from bursar.jobs.curve import profile
from bursar.jobs.report import Report
from bursar.numerics.shown import shown as rounded


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
        "upper": rounded(found.bound.upper, up=True, digits=5),
        "lower": rounded(found.bound.lower, up=False, digits=5),
        "digits": _digits(found.bound.lower, found.bound.upper),
        "decided": ", ".join(str(row["title"]) for row in rows if row["decided"]),
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


def _digits(lower: float, upper: float) -> int | None:
    """To how many digits both ends agree; None where that is hardly any."""
    if not 0 < lower <= upper < math.inf:
        return None
    width = (upper - lower) / upper
    digits = 15 if width == 0 else min(15, int(-math.log10(width)))
    return digits if digits >= 4 else None


def _ends(lower: float, upper: float) -> dict[str, str]:
    return {"lower": rounded(lower, up=False, digits=8), "upper": rounded(upper, up=True, digits=8)}
