"""What one output tells of a record that becomes null in a sample of fixed size: a pair that is attained.

All other records push by −1, which is known; against it a batch with the record stands out by 2 and one with a null
record in its place by 1, each with probability q, the share of records drawn. With noise σ the output is

    P = (1 − q)·N(0, σ²) + q·N(2, σ²),   Q = (1 − q)·N(0, σ²) + q·N(1, σ²).

Cells of the output are a table; releasing the cell alone is processing, so the table costs no more, in any number of
releases.
"""

from __future__ import annotations

from itertools import pairwise

from flint import arb

from bursar.losses._directions import Directions
from bursar.losses.laws.table import TableLoss
from bursar.numerics import normal
from bursar.numerics.balls import Ball

_CELLS = 240
_WIDE = 9.0  # deviations beyond the outermost shifts


def nulled_sample(sigma: Ball, rate: Ball) -> Directions:
    """Both directions of the table of one output."""
    first, last = -_WIDE, 2 / float(sigma) + _WIDE
    edges = [arb((last - first) * i / _CELLS + first) for i in range(_CELLS + 1)]
    columns = []
    for shift in (2, 1):
        below = [(1 - rate) * normal.cdf(edge) + rate * normal.cdf(edge - shift / sigma) for edge in edges]
        columns.append([below[0], *(after - before for before, after in pairwise(below)), 1 - below[-1]])
    p, q = columns
    return Directions(TableLoss.of(p, q), TableLoss.of(q, p), True)
