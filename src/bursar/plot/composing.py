"""The lecture's first figure: what k releases cost, by basic, advanced, strong, optimal and numerical composition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bursar.errors import InputError
from bursar.jobs.account import account
from bursar.jobs.spec import Releases, releases
from bursar.numerics.real import Number
from bursar.numerics.shown import shown
from bursar.numerics.validate import listed, whole
from bursar.plot._style import NAMES, STYLES, framed, short

if TYPE_CHECKING:
    from bursar.plot._picture import Picture

THEOREMS = ("basic", "drv10", "strong", "optimal", "numerical")
COUNTS = (1, 2, 4, 7, 10, 20, 40, 70, 100, 150, 200)


def composing_figure(mechanism: Releases, *, delta: Number = 1e-6, counts: Sequence[int] = COUNTS) -> Picture:
    """ε at δ against the number of releases; theorems that do not apply are left out.

    Where the numerical answer lies on the optimum, which is drawn broad, it is seen on it.
    """
    what = releases(mechanism)
    numbers = sorted({whole(count=count, at_least=1) for count in listed(counts=counts)})
    figure, axes = framed(
        f"What do k releases of {short(what.text())} cost, at δ = {delta}?", "number of releases k", "ε (upper end)"
    )
    ends = []
    for theorem in THEOREMS:
        points = []
        for count in numbers:
            row = account(what * count, delta=delta, theorems=[theorem]).theorems[0]
            if row.bound is not None and row.bound.upper < float("inf"):
                points.append((count, row.bound.upper))
        if points:
            axes.plot(*zip(*points, strict=True), label=NAMES[theorem], **STYLES[theorem].drawn())
            ends.append(f"{NAMES[theorem]} {shown(points[-1][1], up=True, digits=4)}")
    if not ends:
        raise InputError(f"no theorem bounds {what} at δ = {delta}: there is nothing to draw", argument="delta")
    lowest = min(line.get_ydata()[-1] for line in axes.lines)
    axes.set_ylim(0, max(line.get_ydata()[-1] for line in axes.lines if line.get_ydata()[-1] <= 4 * lowest) * 1.08)
    axes.legend(frameon=False)
    figure.alt = f"ε against k, at δ = {delta}. For k = {numbers[-1]}: {', '.join(ends)}."
    return figure
