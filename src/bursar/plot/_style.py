"""What all pictures share: one colour, mark and kind of line for each theorem and thing, grids, and a question as the
title, which is never cut.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from bursar.extras import needs
from bursar.numerics.real import Real

if TYPE_CHECKING:
    from bursar.plot._picture import Picture


class Style(NamedTuple):
    """How a thing is drawn wherever it is."""

    colour: str
    mark: str
    line: str = "-"
    width: float = 1.6

    def drawn(self) -> dict[str, Any]:
        """The same as arguments of a plot."""
        return {
            "color": self.colour,
            "marker": self.mark,
            "linestyle": self.line,
            "linewidth": self.width,
            "markersize": 4,
        }


BLACK, ORANGE, SKY, GREEN, PINK, BLUE, RED = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#CC79A7", "#0072B2", "#D55E00"),
)
"""Okabe and Ito's colours, which colour-blind readers tell apart."""
QUIET = "#777777"
STYLES = {
    "basic": Style(BLACK, "o"),
    "drv10": Style(RED, "x", "-."),
    "strong": Style(ORANGE, "s"),
    "optimal": Style(SKY, "", "-", 5.0),  # broad, so that what lies on it is seen
    "numerical": Style(BLUE, "D", "--"),
    "zcdp": Style(PINK, "v", "-."),
    "gdp": Style(GREEN, "^"),
    "laplace, basic": Style(BLACK, "o"),
    "laplace, strong": Style(ORANGE, "s"),
    "laplace, optimal": Style(SKY, "P"),
    "gaussian": Style(GREEN, "^"),
    "proved": Style(BLUE, ""),
}
"""The same colour for the same theorem, in every picture."""
NAMES = {
    "basic": "basic",
    "drv10": "advanced (textbook)",
    "strong": "strong",
    "optimal": "optimal",
    "numerical": "numerical",
    "zcdp": "zCDP",
}
"""What a legend calls a theorem."""
_LETTERS = 11.5  # of a title in an inch


def framed(question: str, xlabel: str, ylabel: str, **scales: Any) -> tuple[Picture, Any]:
    """A picture with one set of axes."""
    figure, (axes,) = panels(question, 1)
    label(axes, xlabel, ylabel, **scales)
    return figure, axes


def panels(question: str, count: int) -> tuple[Picture, list[Any]]:
    """A picture with several sets of axes side by side."""
    with needs("plot", "a picture"):
        from bursar.plot._picture import Picture

    width = 7.0 if count == 1 else 5.0 * count
    figure = Picture(figsize=(width, 4.5), layout="constrained")
    figure.question = question
    lines = [textwrap.fill(line, int(_LETTERS * width)) for line in question.splitlines()]
    figure.suptitle("\n".join(lines), fontsize="medium")
    axes = list(figure.subplots(1, count, squeeze=False)[0])
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def label(axes: Any, xlabel: str, ylabel: str, **scales: Any) -> None:
    """Names of the axes, and a grid."""
    axes.set(xlabel=xlabel, ylabel=ylabel, **scales)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)


def short(text: str, most: int = 90) -> str:
    """A text form for a title."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def spoken(number: Real) -> str:
    """A number for a title."""
    text = number.text()
    return text if len(text) <= 6 else f"{float(number):g}"


def closeness(lower: Any, upper: Any) -> str:
    """How close two ends are, in words for a legend: a band that is thinner than a line cannot be seen."""
    import numpy as np

    top = np.asarray(upper, float)
    seen = top > 0
    gap = float(np.max((top - np.asarray(lower, float))[seen] / top[seen], initial=0.0))
    if gap >= 0.01:
        return "between the proved ends"
    digits = 15 if gap <= 1e-15 else int(-np.log10(gap))
    return f"proved; both ends agree to {digits} digits"
