"""The lecture's question as a picture: the noise on each of d counts against d, with the crossover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bursar.jobs.counting import WAYS, Counting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by colour-blind readers, each with a mark of its own
_STYLES = (("#000000", "o"), ("#E69F00", "s"), ("#56B4E9", "^"), ("#009E73", "D"))


def counting_figure(table: Counting) -> Figure:
    """Noise against the number of queries, on logarithmic axes; save it with ``figure.savefig("counting.svg")``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for way, (colour, mark) in zip(WAYS, _STYLES, strict=True):
        axes.plot(table.queries, table.errors[way], color=colour, marker=mark, markersize=4, label=way)
    turn = table.crossover()
    if turn is not None:
        axes.axvline(turn, color="#999999", linestyle=":", label=f"gaussian beats basic from d = {turn}")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="number of counts d",
        ylabel="standard error of each count",
        title=f"How much noise do d counts need at ε = {table.epsilon.text()}, δ = {table.delta.text()}?",
    )
    axes.grid(visible=True, which="major", color="#dddddd")
    axes.legend(frameon=False)
    return figure
