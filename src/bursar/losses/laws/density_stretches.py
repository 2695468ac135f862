"""Stretches of an interval on which the loss of two formulas exceeds a number, by cutting until balls can tell; and
what formulas weigh on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from flint import acb, arb

from bursar.numerics.balls import Ball, hull
from bursar.numerics.formula import Formula

Stretch = tuple[Ball, Ball]
_DEPTH = 44
_CELLS = 64
_BUDGET = 400  # cuts in all: where p = e^ε·q on a whole stretch no number of them would decide
_TINIEST = 4000  # bits after the point that integrals care for


def where(
    densities: Callable[[Ball], tuple[Ball, Ball]], breaks: Sequence[Ball], epsilon: Ball
) -> tuple[list[Stretch], list[tuple[Stretch, Ball]]]:
    """The stretches where the loss certainly exceeds ε, and those where that stays undecided."""
    positive: list[Stretch] = []
    unsure: list[tuple[Stretch, Ball]] = []
    budget, odds = _BUDGET, epsilon.exp()
    for start, end in reversed(list(pairwise(breaks))):
        stack = [
            (start + (end - start) * i / _CELLS, start + (end - start) * (i + 1) / _CELLS, 0) for i in range(_CELLS)
        ]
        while stack:
            a, b, depth = stack.pop()
            p, q = densities(hull(a, b))
            if p > odds * q:
                positive.append((a, b))
            elif not p <= odds * q:
                if depth >= _DEPTH or budget <= 0:
                    unsure.append(((a, b), ((p / q).log() - epsilon).upper()))
                else:
                    budget -= 1
                    middle = ((a + b) / 2).mid()
                    stack += [(a, middle, depth + 1), (middle, b, depth + 1)]
    return positive, unsure


def positive(formulas: Sequence[Formula], breaks: Sequence[Ball]) -> bool:
    """Whether all formulas are certainly positive all over the interval, up to its ends."""
    budget = 4096
    stack = list(pairwise(breaks))
    while stack and budget > 0:
        a, b = stack.pop()
        budget -= 1
        if not all(formula.at(hull(a, b)) > 0 for formula in formulas):
            middle = ((a + b) / 2).mid()
            stack += [(a, middle), (middle, b)]
    return not stack


def mass(formula: Formula, stretch: Stretch) -> Ball:
    """∫ over a stretch, closely however small it is."""
    return arb(acb.integral(formula, *stretch, abs_tol=arb(2) ** -_TINIEST).real)


def joined(stretches: list[Stretch]) -> list[Stretch]:
    """Neighbouring stretches as one, so that each is integrated once."""
    ordered = sorted(stretches, key=lambda stretch: float(stretch[0]))
    result: list[Stretch] = []
    for a, b in ordered:
        if result and result[-1][1] == a:
            result[-1] = (result[-1][0], b)
        else:
            result.append((a, b))
    return result
