"""The page of the comparison, written from benchmarks/comparison.json, which one run of `make bench` leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "benchmarks" / "comparison.json"
HEAD = """# Comparison

The same questions to every accountant that is at hand, in one run on one core; written by `make bench`, which prints
the parameters that ran. Each answer is the second of two in a process of its own: *time* is the processor's for that
answer, *memory* the largest that the process had, imports included.

What is asked of bursar is `account(composition, delta=δ)`: all theorems, both ends, nothing remembered from before but
what a program remembers that asks twice. *Side* compares with bursar's interval, which is proved: a value above it is
safe and costs utility, one below it claims more privacy than there is. Peers in environments of their own (jax-privacy,
autodp and others) are run by `make peers`; the ledger, the service and cohorts are measured in
[benchmarks](benchmarks.md).
"""
TAIL = """## What others do that bursar does not

- **dp_accounting** accounts for tree aggregation and repeated selection, and exists in C++, Java and Go. bursar refuses
  these events by name.
- **jax-privacy** has matrix mechanisms for training (banded and others) with their sensitivities, and Monte Carlo
  accounting for batches that nobody can account for exactly.
- **OpenDP, Tumult, PipelineDP, diffprivlib** run queries: they clip, count and draw the noise. bursar draws none.
- **riskcal** calibrates to the advantage or the error rates of an attacker directly; bursar reads them off the curve.
- **Rényi accountants** are simple, and enough where a few per cent do not matter; they are never below the truth.

## What to watch for when numbers differ

Accountants disagree for four reasons: a relation that was not said, a noise multiplier that means something else
([conventions](howto/coming_from.md)), a sampling scheme that was assumed and not used ([training](howto/training.md)),
or a bound that is not one. The last is the rarest, and the reason for intervals.
"""


def comparison() -> str:
    """The whole page."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    parts = [HEAD, f"{found['machine']}; {versions}.", ""]
    for name, work in found["works"].items():
        parts += [
            f"## {name.capitalize()}",
            "",
            f"{work['asked']}.",
            "",
            *_table(work["answers"]),
            "",
            *_ahead(work["answers"]),
        ]
    return "\n".join([*parts, TAIL])


def _table(answers: dict[str, Any]) -> list[str]:
    low, high = _ends(answers["bursar"]["value"])
    rows = ["| | answer | side | relative width | time | memory |", "|---|---|---|---|---|---|"]
    for peer, answer in answers.items():
        if "failed" in answer:
            rows.append(f"| {peer} | {answer['failed']} | | | | |")
            continue
        ends = _ends(answer["value"])
        two = isinstance(answer["value"], list)
        shown = f"[{ends[0]:.8g}, {ends[1]:.8g}]" if two else f"{ends[1]:.8g}"
        width = f"{(ends[1] - ends[0]) / ends[1]:.0e}" if two else ""
        side = "" if peer == "bursar" else _side(ends, (low, high), two=two)
        rows.append(
            f"| {peer} | {shown} | {side} | {width} | {1e3 * answer['seconds']:.1f} ms | {answer['megabytes']} MB |"
        )
    return rows


def _ends(value: Any) -> tuple[float, float]:
    low, high = value if isinstance(value, list) else (value, value)
    return float(low), float(high)


def _side(ends: tuple[float, float], truth: tuple[float, float], *, two: bool) -> str:
    """Where an answer lies; what differs by less than a millionth is the same."""
    if ends[1] < truth[0] * (1 - 1e-6):
        return f"**below** by {100 * (1 - ends[1] / truth[0]):.2g} %"
    if two:
        return "contains it" if ends[0] <= truth[1] * (1 + 1e-6) else "**above**, excludes it"
    over = ends[1] / truth[1] - 1
    return "the same" if abs(over) < 1e-6 else "infinite" if over == float("inf") else f"above by {100 * over:.2g} %"


def _ahead(answers: dict[str, Any]) -> list[str]:
    """Where a peer is faster, or takes less memory, it is said."""
    mine = answers["bursar"]
    others = {peer: answer for peer, answer in answers.items() if peer != "bursar" and "failed" not in answer}
    faster = [peer for peer, answer in others.items() if answer["seconds"] < mine["seconds"]]
    smaller = [peer for peer, answer in others.items() if answer["megabytes"] < mine["megabytes"]]
    said = [f"Faster than bursar here: {', '.join(faster)}."] if faster else []
    said += [f"Less memory than bursar here: {', '.join(smaller)}."] if smaller else []
    return [" ".join(said), ""] if said else []
