"""Pictures that the reference pages draw of themselves when the book is built: each theorem beside the best answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bursar as b
from bursar.plot._style import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bursar.theorems import Bound

COUNTS = (1, 2, 5, 10, 20, 40, 70, 100, 140, 200)
PURE = "declared(pure_dp(epsilon=0.1))*{}"
MIXED = "declared(pure_dp(epsilon=0.1))*{} + declared(pure_dp(epsilon=0.5))*5"


@dataclass(frozen=True)
class Family:
    """Compositions with one number left open, and what is asked of them."""

    text: str
    values: tuple[float, ...] = COUNTS
    axis: str = "k"
    question: str = "delta"
    at: str = "1e-6"


FAMILIES = {
    "basic": Family(PURE),
    "single": Family("gaussian(sigma={})", (0.5, 0.7, 1, 1.5, 2, 3, 5, 8), "σ"),
    "strong": Family(PURE),
    "drv10": Family(PURE),
    "kov15": Family(MIXED),
    "steinke": Family(PURE),
    "optimal": Family(PURE),
    "mv16": Family(MIXED),
    "renyi": Family("poisson(gaussian(sigma=1), rate=0.01)*{}", (10, 100, 300, 1000, 2000, 4000)),
    "zcdp": Family("gaussian(sigma=10)*{}"),
    "tcdp": Family("declared(tcdp(rho=0.005, omega=20))*{}"),
    "gdp": Family("gaussian(sigma=10)*{}"),
    "leaks": Family("name_and_shame(delta=1e-6)*{}", question="epsilon", at="1"),
    "numerical": Family("laplace(scale=10)*{}"),
    "strategies": Family("exponential(epsilon=0.1)*{}", (1, 2, 3, 5, 8, 12)),
}


def theorem_figure(name: str) -> Figure:
    """What a theorem proves along its family, beside the best answer of all of them."""
    family = FAMILIES[name]
    symbol = "ε" if family.question == "delta" else "δ"
    figure, axes = framed("", f"{family.axis} in {family.text.format(family.axis)}", f"{symbol} at {family.at}")
    best, own = ([_bound(family, value, only) for value in family.values] for only in (None, [name]))
    axes.fill_between(
        family.values, [x.lower for x in best], [x.upper for x in best], color="#009E73", alpha=0.25, linewidth=0
    )
    axes.plot(
        family.values, [x.upper for x in best], color="#009E73", label="best of all theorems; shaded to its lower end"
    )
    proved = [x.upper if x.upper < math.inf else math.nan for x in own]
    axes.plot(family.values, proved, "--", color="black", marker="o", markersize=4, label=f"{name}: at most")
    if any(x.lower > 0 for x in own):
        axes.plot(
            family.values, [x.lower for x in own], ":", color="#D55E00", marker="v", markersize=4, label="at least"
        )
    axes.legend(frameon=False)
    figure.set_size_inches(6, 3.4)
    return figure


def _bound(family: Family, value: float, theorems: list[str] | None) -> Bound:
    return b.account(b.parse(family.text.format(value)), **{family.question: family.at}, theorems=theorems).bound
