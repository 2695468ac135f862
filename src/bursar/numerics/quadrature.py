"""Rigorous integrals over a finite range, by flint's adaptive Gauss–Legendre in balls.

The result is an enclosure whatever happens: where flint gives up early the ball is wide, not wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from flint import acb, arb

from bursar.numerics.balls import Ball, ComplexBall


def integral(f: Callable[[ComplexBall, bool], ComplexBall], breaks: Sequence[Ball]) -> ComplexBall:
    """∫ f over [breaks[0], breaks[-1]], split at the breaks. f takes (x, analytic), as flint asks for it."""
    total = acb(0)
    for a, b in itertools.pairwise(breaks):
        total += acb.integral(f, a, b)
    return total


def real_integral(f: Callable[[ComplexBall, bool], ComplexBall], breaks: Sequence[Ball]) -> Ball:
    """The same for an integrand that is real on the line."""
    return arb(integral(f, breaks).real)
