"""How a budget was spent over time, from the journal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bursar.ledger.ledger import Ledger
from bursar.plot._style import QUIET, STYLES, framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def burn_down_figure(ledger: Ledger, scope: str) -> Figure:
    """The share of each line's limit that is left, after each entry that touched the scope."""
    state = ledger.show(scope)
    root = state.scope.row.root
    times: dict[str, list[datetime]] = {line.name: [] for line in state.lines}
    left: dict[str, list[float]] = {line.name: [] for line in state.lines}
    for chained in ledger.entries(root):
        for name, line, *_, limit, spent, held, dead, _window in chained.entry.content()["effect"]:
            if name == scope and limit and not dead:
                times[line].append(datetime.fromtimestamp(chained.entry.at / 1e6, UTC))
                left[line].append(1 - (spent + held) / limit)
    figure, axes = framed(f"How much of {scope} is left?", "time (UTC)", "share of the limit that is left")
    for line_of, (colour, mark) in zip(state.lines, STYLES, strict=False):
        if times[line_of.name]:
            axes.step(
                times[line_of.name],
                left[line_of.name],
                where="post",
                color=colour,
                marker=mark,
                markersize=3,
                label=line_of.means,
            )
    axes.axhline(0, color=QUIET, linestyle=":")
    axes.set_ylim(-0.02, 1.05)
    axes.legend(frameon=False)
    figure.autofmt_xdate()
    return figure
