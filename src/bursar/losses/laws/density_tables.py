"""Two tables around a pair of densities, for the lattice engine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flint import arb

from bursar.losses.laws.table import TableLoss
from bursar.losses.laws.table_rows import Row
from bursar.numerics.balls import Ball, hull, positive_part
from bursar.numerics.formula import Formula
from bursar.numerics.quadrature import real_integral

_OUTCOMES = 160  # a stretch has as a table


class _Covering(TableLoss):
    """A table that costs no less than the pair it stands for: masses that may be 0 count as the most that they may be,
    so that together they may exceed 1.
    """

    def _check_sums(self) -> None:
        pass


def tables(
    first: Formula, second: Formula, scales: tuple[Ball, Ball], breaks: Sequence[Ball]
) -> tuple[TableLoss, TableLoss]:
    """Two tables around the pair. The first merges each cell of the interval into one outcome, so it is the pair
    processed; the second moves each cell's mass to the ends of its loss's range, both masses kept, so the pair is
    that one processed.
    """
    below, above = [], []
    for start, end in pairwise(breaks):
        for i in range(_OUTCOMES):
            a, b = start + (end - start) * i / _OUTCOMES, start + (end - start) * (i + 1) / _OUTCOMES
            p, q = scales[0] * real_integral(first, (a, b)), scales[1] * real_integral(second, (a, b))
            below.append(Row(p, q, (p / q).log()))
            cell = hull(a, b)
            above += _ends(p, q, (scales[0] * first.at(cell) / (scales[1] * second.at(cell))).log())
    return TableLoss(tuple(below)), _Covering(tuple(above))


def _ends(p: Ball, q: Ball, span: Ball) -> list[Row]:
    """A cell's masses at the ends of its loss's range."""
    low, high = span.lower(), span.upper()
    width = high - low
    if not width > arb(2) ** -40:
        return [Row(p, q, (p / q).log())]
    up = (p - low.exp() * q) / -(-width).expm1()
    rows = []
    for mass, loss in ((p - up, low), (up, high)):
        # a mass that may be 0 counts as the most that it may be
        kept = mass if mass > 0 else arb(positive_part(mass).upper())
        if kept > 0:
            rows.append(Row(kept, kept * (-loss).exp(), loss))
    return rows
