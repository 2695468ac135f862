"""How a budget was spent over time, from the journal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bursar.ledger.ledger import Ledger
from bursar.ledger.views.burn_down import burn_down, untouched
from bursar.plot._style import QUIET, STYLES, framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def burn_down_figure(ledger: Ledger, scope: str) -> Figure:
    """The share of each line's limit that is left, after each entry that touched the scope."""
    state = ledger.show(scope)
    points = burn_down(scope, untouched(state.scope.currency.lines), ledger.entries(state.scope.row.root))
    times = [datetime.fromtimestamp(point.at / 1e6, UTC) for point in points]
    figure, axes = framed(f"How much of {scope} is left?", "time (UTC)", "share of the limit that is left")
    for line_of, (colour, mark) in zip(state.lines, STYLES, strict=False):
        if points:
            axes.step(
                times,
                [float(point.left[line_of.name]) for point in points],
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
