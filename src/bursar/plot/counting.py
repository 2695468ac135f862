"""The lecture's question as a picture: the noise on each of d counts against d, with the crossovers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bursar.lecture.counting import WAYS, Counting
from bursar.plot._style import QUIET, STYLES, framed, spoken

if TYPE_CHECKING:
    from bursar.plot._picture import Picture


def counting_figure(table: Counting) -> Picture:
    """Noise against the number of queries, on logarithmic axes; save it with ``figure.savefig("counting.svg")``.

    The crossovers are the true whole numbers, found between those shown.
    """
    figure, axes = framed(
        f"How much noise do d counts need at ε = {spoken(table.epsilon)}, δ = {spoken(table.delta)}?",
        "number of counts d",
        "standard error of each count",
        xscale="log",
        yscale="log",
    )
    for way in WAYS:
        axes.plot(table.queries, table.errors[way], label=way, **STYLES[way].drawn())
    said = []
    for way in ("laplace, strong", "gaussian"):
        turn = table.crossover(way)
        if turn is not None and turn > table.queries[0]:
            axes.axvline(turn, color=STYLES[way].colour, linestyle=":", linewidth=1)
            where = (turn, axes.get_ylim()[0])
            axes.annotate(f" d = {turn}", where, color=QUIET, fontsize="small", va="bottom")
            said.append(f"{way} needs less noise than laplace, basic from d = {turn} on")
    axes.legend(frameon=False)
    figure.alt = f"The standard error of each of d counts, four ways. {'; '.join(said)}."
    return figure
