"""Floor 3, theorems: one file each. This index is explicit; the order is only the order in which they are asked."""

from bursar.theorems import (
    basic,
    drv10,
    gdp,
    kov15,
    leaks,
    mv16,
    numerical,
    optimal,
    renyi,
    single,
    steinke,
    strategies,
    strong,
    tcdp,
    zcdp,
)
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForDelta, ForEpsilon, Question, Theorem

THEOREMS: tuple[Theorem, ...] = tuple(
    module.THEOREM
    for module in (
        basic,
        single,
        strong,
        drv10,
        kov15,
        steinke,
        optimal,
        mv16,
        renyi,
        zcdp,
        tcdp,
        gdp,
        leaks,
        numerical,
        strategies,
    )
)

ALIASES = {
    "advanced": "drv10",
    "optimum": "optimal",
    "rdp": "renyi",
    "moments": "renyi",
    "cdp": "zcdp",
    "pld": "numerical",
    "prv": "numerical",
    "fft": "numerical",
}
"""What textbooks and other accountants call some of them."""

__all__ = ["ALIASES", "THEOREMS", "Abstain", "Adaptivity", "Bound", "ForDelta", "ForEpsilon", "Question", "Theorem"]
