"""The lecture's first figure: what k releases cost, by basic, strong, optimal and numerical composition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bursar.errors import InputError
from bursar.jobs.account import account
from bursar.mechanisms import Mechanism
from bursar.numerics.real import Number
from bursar.numerics.validate import listed, whole
from bursar.plot._style import STYLES, framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THEOREMS = ("basic", "strong", "optimal", "numerical")
COUNTS = (1, 2, 4, 7, 10, 20, 40, 70, 100, 150, 200)


def composing_figure(mechanism: Mechanism, *, delta: Number = 1e-6, counts: Sequence[int] = COUNTS) -> Figure:
    """ε at δ against the number of releases; theorems that do not apply are left out."""
    numbers = sorted({whole(count=count, at_least=1) for count in listed(counts=counts)})
    figure, axes = framed(
        f"What do k releases of {mechanism} cost, at δ = {delta}?", "number of releases k", "ε (upper end)"
    )
    for theorem, (colour, mark) in zip(THEOREMS, STYLES, strict=False):
        points = []
        for count in numbers:
            row = account(mechanism * count, delta=delta, theorems=[theorem]).theorems[0]
            if row.bound is not None and row.bound.upper < float("inf"):
                points.append((count, row.bound.upper))
        if points:
            line = "--" if theorem == "numerical" else "-"  # it often lies on the optimum
            axes.plot(*zip(*points, strict=True), line, color=colour, marker=mark, markersize=4, label=theorem)
    if not axes.lines:
        raise InputError(f"no theorem bounds {mechanism} at δ = {delta}: there is nothing to draw", argument="delta")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure
