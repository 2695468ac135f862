"""Rigorous integrals over a finite range, by flint's adaptive Gauss–Legendre in balls.

The result is an enclosure whatever happens: where flint gives up early the ball is wide, not wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from flint import acb, arb

from bursar.numerics.arrays import Known
from bursar.numerics.balls import Ball, ComplexBall, working


def integral(f: Callable[[ComplexBall, bool], ComplexBall], breaks: Sequence[Ball]) -> ComplexBall:
    """∫ f over [breaks[0], breaks[-1]], split at the breaks. f takes (x, analytic), as flint asks for it."""
    total = acb(0)
    for a, b in itertools.pairwise(breaks):
        total += acb.integral(f, a, b)
    return total


def real_integral(f: Callable[[ComplexBall, bool], ComplexBall], breaks: Sequence[Ball]) -> Ball:
    """The same for an integrand that is real on the line."""
    return arb(integral(f, breaks).real)


@cache
def legendre(order: int) -> Known:
    """Nodes and weights of Gauss–Legendre quadrature on [−1, 1], rounded from balls."""
    with working():
        pairs = [arb.legendre_p_root(order, k, weight=True) for k in range(order)]
    return np.array([float(root) for root, _ in pairs]), np.array([float(weight) for _, weight in pairs])
