"""From which frequency on the moments of many copies are as good as nothing.

Near 0 by variance and fourth moment, further out by a look at frequencies so close that the moment of one copy cannot
rise above a bound between two of them (proofs/envelope.md §11). Then nobody needs to know how many there are.
"""

from __future__ import annotations

import math

import numpy as np

from bursar.losses.engines.contour.factors import DEAD
from bursar.losses.engines.envelope.spectrum import Weighed
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY

_MOST_LOOKS = 1 << 17
_RISE = 0.3  # of what |φ| has fallen by where the variance says nothing any more: how much it may rise between looks
_LIGHT = -55.0  # in logarithms, of the heaviest place: of those that are heavier all errors are below a thousandth
_SURE = 0.01  # relative: how closely weights must be known, and how little may have been left out


def live(law: Weighed, copies: int, step: float, count: int) -> int:
    """How many of the first ``count`` multiples of a frequency may have a moment above e^{−80} of that at 0."""
    # of light places errors are not bounded one by one: leaving them out only lowers 1 − |φ|²
    heavy = law.weights > math.exp(_LIGHT) * float(law.weights.max())
    weights, y = law.weights[heavy], law.places[heavy]
    square = y * y
    whole, first, second = float(weights.sum()), summed(weights, y), summed(weights, square)
    third, fourth = summed(weights, square * y), summed(weights, square * square)
    variance, bend = whole * second - first * first, whole * fourth - 4 * first * third + 3 * second * second
    unsure = law.weight_error + law.left_out
    if not (0 < variance < math.inf and 0 < bend < math.inf and unsure < _SURE):
        return count
    flat = bend / variance**2
    # from here to there ln|φ| ≤ −s²·variance/4, but for what is unsure
    start = math.sqrt(-4 * DEAD * (1 + 20 * _SURE) / (copies * variance))
    last = 0.99 * math.sqrt(6 / (flat * variance))
    if not (start < last and SAFETY * 100 * law.shift < start * variance):
        return count
    near = min(math.ceil(start / step) + 1, count)
    if (count - 1) * step <= last:
        return near
    apart = summed(law.weights, np.abs(law.places)) + law.shift
    stride = max(int(2 * _RISE * 1.5 / flat / (apart * step)), 1)
    cell = int(last / (stride * step))
    looks = count // stride + 2
    if looks > _MOST_LOOKS:
        return count
    values, errors = law.transformed(stride * step, looks)
    sizes = np.abs(values) + errors
    most = np.maximum(sizes[1:], sizes[:-1]) + errors[1:] + SAFETY * 0.5 * stride * step * apart
    alive = cell + np.flatnonzero(copies * np.log(np.minimum(most[cell:], 1.0)) >= DEAD)
    return min(count, max(near, (int(alive[-1]) + 1) * stride)) if len(alive) else near
