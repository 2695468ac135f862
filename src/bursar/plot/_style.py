"""What all pictures share: colours that colour-blind readers tell apart, marks, grids, and a question as the title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bursar.extras import needs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = (("#000000", "o"), ("#E69F00", "s"), ("#56B4E9", "^"), ("#009E73", "D"), ("#CC79A7", "v"), ("#0072B2", "P"))
"""Okabe and Ito's colours, each with a mark of its own."""
QUIET = "#999999"


def framed(title: str, xlabel: str, ylabel: str, **scales: Any) -> tuple[Figure, Any]:
    """A figure with one set of axes."""
    figure, (axes,) = panels("", 1)
    axes.set_title(title)
    label(axes, xlabel, ylabel, **scales)
    return figure, axes


def panels(title: str, count: int) -> tuple[Figure, list[Any]]:
    """A figure with several sets of axes side by side."""
    with needs("plot", "a picture"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(7 if count == 1 else 5 * count, 4.5), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def label(axes: Any, xlabel: str, ylabel: str, **scales: Any) -> None:
    """Names of the axes, and a grid."""
    axes.set(xlabel=xlabel, ylabel=ylabel, **scales)
    axes.grid(visible=True, which="major", color="#dddddd")
