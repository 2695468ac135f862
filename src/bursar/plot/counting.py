"""The lecture's question as a picture: the noise on each of d counts against d, with the crossover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bursar.lecture.counting import WAYS, Counting
from bursar.plot._style import QUIET, STYLES, framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def counting_figure(table: Counting) -> Figure:
    """Noise against the number of queries, on logarithmic axes; save it with ``figure.savefig("counting.svg")``."""
    figure, axes = framed(
        f"How much noise do d counts need at ε = {table.epsilon.text()}, δ = {table.delta.text()}?",
        "number of counts d",
        "standard error of each count",
        xscale="log",
        yscale="log",
    )
    for way, (colour, mark) in zip(WAYS, STYLES, strict=False):
        axes.plot(table.queries, table.errors[way], color=colour, marker=mark, markersize=4, label=way)
    turn = table.crossover()
    if turn is not None:
        axes.axvline(turn, color=QUIET, linestyle=":", label=f"gaussian beats basic from d = {turn}")
    axes.legend(frameon=False)
    return figure
