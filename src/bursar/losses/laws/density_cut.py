"""Two formulas on an interval cut into panels, on each of which it is proved how much their logarithms move nearby.

"Nearby" is the disc of radius 2.04 times the panel's width around its middle, in the complex plane: that is what a
bound of quadrature needs (proofs/densities.md §3). One box around a larger disc shows in balls that the logarithms are
analytic there, and bounds them roughly; their values at 24 points of the circle then bound them closely. Where a panel
fails, its halves are tried; where a formula has a corner that ends at a sliver, which is covered as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from flint import acb, arb

from bursar.losses.places import DISC
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, hull, up, working
from bursar.numerics.formula import Formula, Term
from bursar.numerics.logarithm import logarithm
from bursar.numerics.products import product
from bursar.numerics.trusted import UNIT

_POINTS = 24  # of a circle, half of them the conjugates of the others
_OUTER = 1.6  # the radius of the larger disc, in units of the smaller
_ALIAS = 6.8e-5  # 2·q²⁴/(1 − q) for q = 1/1.6, and a little more
_MOST_MOVED = 20.0
_SLIVER = 2.0**-44  # of the stretch between two breaks
_FINEST = 2.0**-37  # of the place: floats need some room
_SLIP = 2.0**-12  # of a panel: by so much its ends may lie elsewhere
_MOST_PANELS = 1500
_MOST_SLIVERS = 64
_SLACK = 1e-9  # of the sums over a circle, relatively: they are taken in floats


@dataclass(frozen=True)
class Cut:
    """The panels from left to right, how far the logarithms move on their discs, and the slivers between them."""

    log_p: Term
    log_q: Term
    ends: tuple[tuple[Ball, Ball], ...]
    starts: Array
    widths: Array
    slips: Array
    """How far an end of a panel may lie from its float."""
    moved_p: Array
    moved_q: Array
    moved_loss: Array
    slivers: tuple[tuple[Ball, Ball], ...]

    def moved_closely(self, i: int) -> float:
        """How far the loss moves on a panel's disc, to many digits even where it hardly moves."""
        low = float(self.starts[i])
        found = moves(self.log_p, self.log_q, low, low + float(self.widths[i]), 4 * _POINTS)
        most = float(self.moved_loss[i])
        return most if found is None else min(found[2], most)

    def reversed(self) -> Cut:
        """The same for the two formulas in turn."""
        return replace(self, log_p=self.log_q, log_q=self.log_p, moved_p=self.moved_q, moved_q=self.moved_p)


def cut(p: Formula, q: Formula, breaks: Sequence[Ball]) -> Cut | None:
    """The panels of two formulas that are positive between the first and the last break; None where they would be too
    many.
    """
    sample = np.concatenate([np.linspace(float(a), float(b), 11)[1:-1] for a, b in pairwise(breaks)])
    log_p, log_q = (logarithm(formula.term, sample) for formula in (p, q))
    rows: list[tuple[tuple[Ball, Ball], float, float, float, tuple[float, float, float]]] = []
    slivers: list[tuple[Ball, Ball]] = []
    for start, end in reversed(list(pairwise(breaks))):
        least, stack = _SLIVER * float(end - start), [(start, end)]
        while stack:
            if len(rows) + len(slivers) + len(stack) > _MOST_PANELS or len(slivers) > _MOST_SLIVERS:
                return None
            a, b = stack.pop()
            low, high = float(a), float(b)
            slip = max(up(abs(a - arb(low))), up(abs(b - arb(high))))
            moved = moves(log_p, log_q, low, high) if slip <= _SLIP * (high - low) else None
            if moved is not None and max(moved[:2]) <= _MOST_MOVED:
                rows.append(((a, b), low, high - low, slip, moved))
            elif high - low > max(least, _FINEST * max(abs(low), abs(high))):
                middle = low + (high - low) / 2
                if not low < middle < high:
                    return None
                stack += [(arb(middle), b), (a, arb(middle))]
            else:
                slivers.append((a, b))
    if not rows:
        return None
    ends, starts, widths, slips, moved_by = zip(*rows, strict=True)
    first, second, apart = np.array(moved_by).T
    places = np.array(starts), np.array(widths), np.array(slips)
    return Cut(log_p, log_q, ends, *places, first, second, apart, tuple(_whole(slivers)))


def _whole(slivers: list[tuple[Ball, Ball]]) -> list[tuple[Ball, Ball]]:
    """The slivers, those that touch as one."""
    joined: list[tuple[Ball, Ball]] = []
    for a, b in sorted(slivers, key=lambda sliver: float(sliver[0])):
        if joined and joined[-1][1] == a:
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    return joined


def moves(
    log_p: Term, log_q: Term, low: float, high: float, points: int = _POINTS
) -> tuple[float, float, float] | None:
    """Bounds of how far ln p, ln q and their difference move from the middle on the disc around a panel; None where
    they are not known to be analytic on a larger one. More points of the circle make closer bounds.
    """
    alias = _ALIAS ** (points // _POINTS)  # a little more than 2·q^points/(1 − q)
    width = high - low
    radius = DISC * width * (1 + 2.0**-40) + 4 * UNIT * (abs(low) + abs(high))  # the middle is rounded
    centre, outer = arb(low + width / 2), _OUTER * radius * (1 + 2.0**-40)
    box, middle = acb(arb(centre, outer), arb(0, outer)), acb(centre)
    both = log_p.in_balls, log_q.in_balls
    starts = [f(middle, True) for f in both]
    wide = [f(box, True) - start for f, start in zip(both, starts, strict=True)]
    if not all(value.is_finite() for value in wide + starts):
        return None
    crude = [up(abs(value)) for value in wide]
    if not alias * max(crude) < _MOST_MOVED:
        return None
    turns = [middle + turn * radius for turn in _turns(points)]
    first, second = ([f(z, True) - start for z in turns] for f, start in zip(both, starts, strict=True))
    if not all(value.is_finite() for value in first + second):
        return None
    apart = [a - b for a, b in zip(first, second, strict=True)]
    found = [_taylor(values) for values in (first, second, apart)]
    sizes = (*crude, sum(crude))
    moved = [near + alias * size for near, size in zip(found, sizes, strict=True)]
    return moved[0], moved[1], moved[2]


@cache
def _turns(points: int) -> list[ComplexBall]:
    """The upper half of the points of the unit circle."""
    with working():
        return [(acb(0, 2) * arb.pi() * j / points).exp() for j in range(points // 2 + 1)]


@cache
def _cosines(points: int) -> tuple[Array, Array]:
    """What the real and the imaginary parts at these points add to the Taylor coefficients times r^k, for k from 1 to
    one less than the number of points.
    """
    angles = 2 * math.pi * np.multiply.outer(np.arange(1, points), np.arange(points // 2 + 1)) / points
    twice = np.full(points // 2 + 1, 2.0 / points)
    twice[[0, -1]] = 1.0 / points
    return twice * np.cos(angles), twice * np.sin(angles)


def _taylor(values: list[ComplexBall]) -> float:
    """Σ|a_k|·r^k over the first k, aliases apart, from the values on the upper half of the circle."""
    real, imaginary = np.array([float(v.real) for v in values]), np.array([float(v.imag) for v in values])
    radii = max(float(v.real.rad()) + float(v.imag.rad()) for v in values)
    points = 2 * (len(values) - 1)
    cosines, sines = _cosines(points)
    sizes = float(np.abs(product(cosines, real) + product(sines, imaginary)).sum())
    rounding = points * (_SLACK * 1e-3 * float(np.abs(real).max() + np.abs(imaginary).max()) + 2 * radii)
    return sizes * (1 + _SLACK) + rounding


def logarithms(cut: Cut, a: Ball, b: Ball) -> tuple[Ball, Ball]:
    """ln p and ln q all over a short stretch."""
    stretch = acb(hull(a, b))
    return arb(cut.log_p.in_balls(stretch, False).real), arb(cut.log_q.in_balls(stretch, False).real)
