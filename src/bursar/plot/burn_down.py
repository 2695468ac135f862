"""How a budget was spent over time, from the journal: what is left in per cent, refusals, and where it leads."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bursar.ledger.budget import words
from bursar.ledger.budget.shares import overall
from bursar.ledger.journal.body import body_in
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.burn_down import burn_down, untouched
from bursar.plot._style import RED, STYLES, framed

if TYPE_CHECKING:
    from bursar.plot._picture import Picture


def burn_down_figure(ledger: Ledger, scope: str) -> Picture:
    """What is left of a scope after each entry that touched it, in per cent of its limit. Refusals are marked, and
    where the same rate would lead is dashed.
    """
    found = ledger.scope(scope)
    entries = ledger.entries(found.row.root)
    points = burn_down(scope, untouched(found.currency.lines), entries)
    times = [datetime.fromtimestamp(point.at / 1e6).astimezone() for point in points]
    left = [100 * float(overall(point.left)) for point in points]
    zone = times[-1].tzname() if times else "local time"
    figure, axes = framed(f"How much of {scope} is left?", f"time ({zone})", "left, in per cent of the limit")
    style = STYLES["proved"]
    ends = ""
    if points:
        axes.step(times, left, where="post", color=style.colour, marker="o", markersize=3, label="left")
        ends = _projected(axes, times, left)
        _refused(axes, scope, entries, times, left)
        axes.legend(frameon=False)
    axes.set_ylim(0, 104)
    figure.autofmt_xdate()
    now = (
        f"{words.left(overall(points[-1].left))} is left after {len(points)} entries"
        if points
        else "nothing was spent yet"
    )
    figure.alt = f"What is left of {scope} over time: {now}{ends}."
    return figure


def _projected(axes: Any, times: list[datetime], left: list[float]) -> str:
    """Where the rate so far leads, as a dashed line to nothing; in words, too."""
    passed, used = (times[-1] - times[0]).total_seconds(), left[0] - left[-1]
    if passed <= 0 or used <= 0 or left[-1] <= 0 or left[-1] / used > 10:  # too far away to be drawn
        return ""
    end = times[-1] + timedelta(seconds=passed * left[-1] / used)
    name = f"at this rate until {end:%Y-%m-%d}"
    axes.plot([times[-1], end], [left[-1], 0], color=STYLES["proved"].colour, linestyle="--", label=name)
    return f"; {name}"


def _refused(axes: Any, scope: str, entries: Any, times: list[datetime], left: list[float]) -> None:
    """A mark for each refusal, at what was left then."""
    marks = []
    for chained in entries:
        refusal = body_in(chained.entry.body).refusal
        if refusal is not None and refusal.scope == scope:
            at = datetime.fromtimestamp(chained.entry.at / 1e6).astimezone()
            before = [y for x, y in zip(times, left, strict=True) if x <= at]
            marks.append((at, before[-1] if before else 100.0))
    if marks:
        axes.plot(*zip(*marks, strict=True), "x", color=RED, markersize=7, markeredgewidth=2, label="refused")
