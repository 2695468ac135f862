"""What a group loses at most, from the loss of one record: the best split of ε over the links of a chain.

From the data with the group to those without it leads a chain of k links, each a pair that the record's law dominates.
H_{st}(P‖R) ≤ H_s(P‖Q) + s·H_t(Q‖R), so for every split ε = ε₁ + … + ε_k into real numbers

    δ_k(ε) ≤ Σ_i e^{ε₁+…+ε_{i−1}}·δ(ε_i).

The split is looked for in floats, along the trade-off function of the record's law; each split proves a point of the
group's profile, and the dominating pair goes through the convex curve below these points (proofs/mixtures.md §4).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses.laws.table import TableLoss, connect_the_dots
from bursar.numerics.arrays import Array, Integers
from bursar.numerics.balls import Ball, maximum, positive_part
from bursar.numerics.convex import falling_convex_minorant

MOST_LINKS = 64
_POINTS = 1000  # of the record's profile
_MOST_ATOMS = 200
_STARTS, _CORNERS = 3000, 1500
_APART = 1e-9  # relatively: closer odds are one, for slopes between them would be rounding
_FEWEST = 3  # corners of a curve that falls from 1
_GONE = 1e-30  # of δ: beyond, losses count as infinite
_FLAT = 1e-20  # of δ: so little that does not fall is what a list has lost


def grouped(pair: Directions, size: int, *, together: bool) -> Directions:
    """Laws that dominate a group of this size: records that join or leave ``together`` make links in one direction,
    others may go either way.
    """
    if size > MOST_LINKS:
        raise LossUnknown(f"groups of more than {MOST_LINKS} records are not split over their links")
    if pair.same:
        return symmetric(_chained([pair.remove], pair.remove, size), attained=False)
    if together:
        remove, add = _chained([pair.remove], pair.add, size), _chained([pair.add], pair.remove, size)
        return Directions(remove, add, False)
    worse = _chained([pair.remove, pair.add], pair.remove, size)
    return symmetric(worse, attained=False)


def _chained(laws: list[Loss], reverse: Loss, size: int) -> TableLoss:
    """A law that dominates a chain of links, each dominated by one of these laws."""
    laws = [_quick(law) for law in laws]
    low = min(-_edge(_quick(reverse)), *(-_edge(law) for law in laws)) if len(laws) > 1 else -_edge(_quick(reverse))
    high = max(_edge(law) for law in laws)
    odds, sure = _odds(laws, low, high), all(law.infinite_mass() <= 0 for law in (reverse, *laws))
    heights = [maximum(*(_height(law, t, sure=sure) for law in laws)).upper().min(arb(1)) for t in odds]
    points = []
    for split in _splits(np.array([*map(float, odds)]), np.array([*map(float, heights)]), size):
        whole, height = arb(1), arb(0)
        for i in split:
            height += whole * heights[i]
            whole *= odds[i]
        points.append((whole.upper(), height.upper().min(arb(1))))  # a profile falls
    points.sort(key=lambda point: float(point[0].log()))
    corners = falling_convex_minorant([(arb(0), arb(1)), *points])
    if len(corners) < _FEWEST:
        raise LossUnknown("the chain of links is not known closely enough")
    # a chord in place of a corner lies above it; at both ends it would make losses infinite
    inner = np.linspace(2, len(corners) - 3, min(max(len(corners) - 4, 0), _CORNERS)).astype(np.int64)
    ends = [i for i in (0, 1, len(corners) - 2, len(corners) - 1) if i >= 0]
    kept = np.unique(np.concatenate([ends, inner]).astype(np.int64))
    return connect_the_dots([corners[i] for i in kept.tolist()])


def _height(law: Loss, odds: Ball, *, sure: bool) -> Ball:
    """δ at these odds; where all losses are larger, and it is ``sure`` that absence is never revealed, it is 1 − e^l,
    free of what readings of the parameters do to it.
    """
    loss = odds.log()
    return positive_part(1 - odds) if sure and loss < law.support()[0] else law.profile(loss)


def _quick(law: Loss) -> Loss:
    """The law, or one that costs no less and whose profile is quick."""
    ways = law.bracket()
    return law if ways is None else ways[1]


def _edge(law: Loss) -> float:
    """A loss beyond which next to nothing lies: the largest one, or where δ is next to nothing."""
    top = law.support()[1]
    if top.is_finite():
        return float(top)
    gone, x, height = _GONE + 2 * float(law.infinite_mass()), 1.0, float(law.profile(arb(1)))
    while height > gone and x < 1e6:
        before, x = height, 1.5 * x
        height = float(law.profile(arb(x)))
        if _FLAT > height > 0.9 * before:  # what is left is not known to lie anywhere
            break
    while height <= gone and x > 1e-6 and float(law.profile(arb(x / 1.5))) <= gone:
        x /= 1.5
    return x


def _odds(laws: list[Loss], low: float, high: float) -> list[Ball]:
    """Odds e^l at which the record's profile is asked: evenly spaced losses, and its own atoms."""
    spaced = np.exp(np.clip(np.linspace(low, high, _POINTS), -700.0, 700.0))
    marked: list[float] = []
    for law in laws:
        atoms = sorted(law.atoms(), key=lambda atom: -float(atom.mass))[:_MOST_ATOMS]
        marked += [float(atom.loss.exp()) for atom in atoms]
    ends = [float(spaced[0]) * (1 - 2 * _APART), float(spaced[-1]) * (1 + 2 * _APART)]
    marks = np.unique(np.array([odds for odds in [*marked, *ends] if 0 < odds < math.inf]))
    near = np.minimum(np.searchsorted(marks, spaced), len(marks) - 1)
    gaps = np.minimum(np.abs(marks[near] - spaced), np.abs(marks[np.maximum(near - 1, 0)] - spaced))
    every = np.sort(np.concatenate([marks, spaced[gaps > _APART * spaced]]))
    kept = np.concatenate([[True], np.diff(every) > _APART / 2 * every[1:]])
    return [arb(odds) for odds in every[kept].tolist()]


def _splits(odds: Array, heights: Array, size: int) -> list[Integers]:
    """For many tests of the last link, which of the odds each link is to have: a test with chance α without the group
    has at most T(α) one link on, T the trade-off curve, and the best odds of a link are the slope of T there.
    """
    # the polygon through the profile: between neighbours its slope is −Q(L > l), and P(L > l) is δ + e^l·Q
    chance = np.clip(-np.diff(heights) / np.diff(odds), 0.0, 1.0)
    # it falls: what is far below a later value is rounding, and would hide all that comes after it
    later = np.maximum.accumulate(chance[::-1])[::-1]
    chance = np.minimum.accumulate(np.where(2 * chance < later, later, chance))[::-1]
    reached = np.maximum.accumulate(np.clip((heights[:-1] + odds[:-1] * chance[::-1])[::-1], 0.0, 1.0))
    xs, ys = np.concatenate([[0.0], chance, [1.0]]), np.concatenate([[float(heights[-1])], reached, [1.0]])
    # where a later link passes a vertex, and between: what leads there, link by link
    starts = [xs]
    for _ in range(size - 1):
        starts.append(np.interp(starts[-1], ys, xs))
    alpha = np.unique(np.concatenate(starts))
    alpha = np.unique(alpha[np.linspace(0, len(alpha) - 1, min(len(alpha), _STARTS)).astype(np.int64)])
    alpha = np.sort(np.concatenate([alpha, (alpha[1:] + alpha[:-1]) / 2]))
    columns = []
    for _ in range(size):
        # left of the j-th vertex the slope is the odds of its number, counted from the largest
        vertex = np.searchsorted(chance, alpha, side="right")
        columns.append(len(odds) - 1 - np.minimum(vertex, len(odds) - 1))
        alpha = np.interp(alpha, xs, ys)
    return [*np.unique(np.column_stack(columns[::-1]), axis=0)]
