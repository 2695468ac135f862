"""The sum of n independent copies of a likelihood ratio, doubled and doubled again: cost grows with log n alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.errors import LossUnknown
from bursar.losses.allocation.layers import Layers, Pair, Sums, added, laid_out
from bursar.numerics.trusted import SAFETY, UNIT

ROWS = 300
"""Octaves: a law that has more of them is refused."""
_EXACT = 2.0**50  # steps from 0 to the origin, so that every origin is a float
_UNDERFLOW = 1e-280


@dataclass(frozen=True)
class Summed:
    """The law of a sum of ``count`` copies, and what is unsure about it."""

    layers: Layers
    count: int
    error: float
    """Bounds the relative error of every mass."""
    lost: float
    """Bounds the mass that no label bears."""
    lost_mean: float
    """Bounds that mass, each point times its value over the count: mass of the other law of the pair."""
    apart: tuple[float, float]
    """(α, β): what bears the label g lies at most α + βg from it."""


@dataclass(frozen=True)
class Goal:
    """How fine the grids are, and how far they reach."""

    half: int
    depth: float
    """Mass e^{−depth} may be lost at each step, on either side."""


def chosen(rough: Pair, count: int, goal: Goal) -> tuple[float, float, int]:
    """Origin, step and number of rows that suit a law: about 2M points between the lowest mass that counts and the
    middle, and at least some sixty before what is still of interest.
    """
    places, masses = rough
    below = np.cumsum(masses)
    above = np.cumsum((masses * (1 + np.abs(places) / count))[::-1])[::-1]
    tiny = math.exp(-goal.depth)
    first = int(np.searchsorted(below, tiny))
    low = float(places[max(first - 1, 0)])
    deep = float(places[min(int(np.searchsorted(below, math.exp(-0.62 * goal.depth))), len(places) - 1)])
    middle = float(places[min(int(np.searchsorted(below, 0.5 * below[-1])), len(places) - 1)])
    high = float(places[min(int(np.searchsorted(-above, -tiny)) + 1, len(places) - 1)])
    fine = min((middle - low) / (2 * goal.half), (deep - low) / 64)
    step = 2.0 ** math.floor(math.log2(fine)) if fine > 0 else 0.0
    if not low < _EXACT * step:
        raise LossUnknown("with so much noise the likelihood ratios are too close to 1 for floats")
    origin = max(math.floor(low / step) * step, 0.0)
    rows = max(math.ceil(math.log2(max((high - origin) / (goal.half * step), 2.0))), 1) + 1
    return origin, step, rows


def summed(first: Summed, count: int, goal: Goal) -> Summed:
    """The sum of this many copies: the leading digits of the count first, each time doubled, then perhaps one more."""
    found = first
    for digit in bin(count)[3:]:
        found = _joined(found, found, goal)
        if digit == "1":
            found = _joined(found, _as_coarse(first, found.layers), goal)
    return found


def _joined(a: Summed, b: Summed, goal: Goal) -> Summed:
    count = a.count + b.count
    sums = added(a.layers, b.layers)
    origin, step, rows = chosen(sums.rough(), count, goal)
    layers, gone, gone_mean = laid_out(sums, origin, step, rows)
    # each mass is a sum of at most 2M products, split and joined a few times for each row
    rounding = (2 * goal.half + 8 * (len(sums.rows) + rows) + 64) * UNIT
    error = SAFETY * (a.error + b.error + rounding)
    lost = SAFETY * (a.lost + b.lost + (1 + error) * gone) + _UNDERFLOW
    share_a, share_b = a.count / count, b.count / count
    mean = share_a * (a.lost_mean + b.lost) + share_b * (b.lost_mean + a.lost)
    mean = SAFETY * (mean + (1 + error) * gone_mean / count) + _UNDERFLOW * float(layers.places()[-1, -1])
    return Summed(layers, count, error, lost, mean, _apart(a, b, sums.step + step))


def _apart(a: Summed, b: Summed, steps: float) -> tuple[float, float]:
    """Distances add up; then a sum moves by at most two steps of the old and two of the new grid, and a step is at most
    the finest one and 1/M of the way to the origin.
    """
    slope = max(a.apart[1], b.apart[1])
    finest = SAFETY * (a.apart[0] + b.apart[0] + 4 * (1 + slope) * steps)
    return finest, SAFETY * (slope + 4 / a.layers.half)


def _as_coarse(one: Summed, like: Layers) -> Summed:
    """The same law on the step of another."""
    layers = one.layers
    if layers.step == like.step:
        return one
    rows = [(layers.mass[b], layers.moment[b]) for b in range(len(layers.mass))]
    origin = math.floor(layers.origin / like.step) * like.step
    reach = (float(layers.places()[-1, -1]) - origin) / (layers.half * like.step)
    count = max(math.ceil(math.log2(max(reach, 2.0))), 1) + 1
    moved, gone, mean = laid_out(Sums(layers.origin, layers.step, layers.half, rows), origin, like.step, count)
    error = SAFETY * (one.error + 16 * (len(rows) + count + 8) * UNIT)
    lost = SAFETY * (one.lost + (1 + error) * gone)
    lost_mean = SAFETY * (one.lost_mean + (1 + error) * mean / one.count)
    apart = one.apart[0] + 4 * (layers.step + like.step), one.apart[1] + 4 / layers.half
    return Summed(moved, one.count, error, lost, lost_mean, apart)
