"""The largest convex falling curve below given points, in balls."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from flint import arb

from bursar.numerics.balls import Ball, positive_part


def falling_convex_minorant(points: Sequence[tuple[Ball, Ball]]) -> list[tuple[Ball, Ball]]:
    """The corners (t, h) of the greatest convex non-increasing curve through or below the points, by increasing t.

    Points come sorted by t. Where the balls cannot tell whether a point is a corner it is left out: the curve then
    only rises, which is the safe side for an upper bound.
    """
    falling: list[tuple[Ball, Ball]] = []
    for t, h in points:
        if not falling:
            falling.append((t, h))
        elif h < falling[-1][1]:
            if not t > falling[-1][0]:
                falling.pop()  # two points at one place: the lower one counts
            falling.append((t, h))
    corners: list[tuple[Ball, Ball]] = []
    for point in falling:
        while len(corners) >= 2 and not _below_chord(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return corners


def interpolate(corners: Sequence[tuple[Ball, Ball]], t: Ball) -> Ball:
    """The piecewise linear curve through the corners at t, constant beyond the last one."""
    result = corners[-1][1]
    for (t0, h0), (t1, h1) in itertools.pairwise(corners):
        # A convex curve is the largest of its chords extended, wherever t lies.
        result = result.max(h0 + (h1 - h0) * (t - t0) / (t1 - t0))
    return result


def bends(corners: Sequence[tuple[Ball, Ball]]) -> list[Ball]:
    """By how much the slope of the piecewise linear curve rises at each corner after the first; after the last one the
    curve is flat.
    """
    slopes = [(h1 - h0) / (t1 - t0) for (t0, h0), (t1, h1) in itertools.pairwise(corners)]
    slopes.append(arb(0))
    return [positive_part(right - left) for left, right in itertools.pairwise(slopes)]


def _below_chord(left: tuple[Ball, Ball], middle: tuple[Ball, Ball], right: tuple[Ball, Ball]) -> bool:
    """Whether the middle point certainly lies below the segment from left to right."""
    (t0, h0), (t1, h1), (t2, h2) = left, middle, right
    return bool((h1 - h0) * (t2 - t0) < (h2 - h0) * (t1 - t0))
