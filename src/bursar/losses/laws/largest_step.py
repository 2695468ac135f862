"""What the largest of t noisy outputs tells: a pair that shuffled batches attain under zero_out.

All other records push by −1. Batch by batch that shifts every output alike, which is known; against it the record's
batch stands out by 2 with the record and by 1 with a null record in its place, and each batch is as likely to be the
one. With noise σ the largest output M has

    P(M ≤ c) = Φ((c − 2)/σ)·Φ(c/σ)^{t−1},   Q(M ≤ c) = Φ((c − 1)/σ)·Φ(c/σ)^{t−1}.

Cells of M are a table; releasing the cell alone is processing, so the table costs no more, in any number of epochs.
"""

from __future__ import annotations

from itertools import pairwise

from flint import arb

from bursar.losses._directions import Directions
from bursar.losses.laws.table import TableLoss
from bursar.numerics import normal
from bursar.numerics.balls import Ball

_CELLS = 240
_WIDE = 9.0  # deviations beyond the outermost shift
_LOWEST = -1.0  # the largest of two or more is hardly lower, or as hardly with the record as without it


def largest_of_steps(sigma: Ball, steps: int) -> Directions:
    """Both directions of the table of the largest output."""
    last = 2 / float(sigma) + _WIDE
    edges = [arb((last - _LOWEST) * i / _CELLS + _LOWEST) for i in range(_CELLS + 1)]
    columns = []
    for shift in (2, 1):
        below = [normal.cdf(edge - shift / sigma) * normal.cdf(edge) ** (steps - 1) for edge in edges]
        columns.append([below[0], *(after - before for before, after in pairwise(below))])
        columns[-1].append(1 - below[-1])
    p, q = columns
    return Directions(TableLoss.of(p, q), TableLoss.of(q, p), True)
