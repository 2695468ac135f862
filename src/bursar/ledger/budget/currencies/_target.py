"""The largest parameter of a family of curves that still meets an (ε, δ) target."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from bursar.errors import InputError
from bursar.numerics.balls import Ball, ball, working


@lru_cache(maxsize=1024)
def largest(delta_of: Callable[[Ball, Ball], Ball], epsilon: Fraction, delta: Fraction) -> Fraction:
    """A float, as a fraction, at which δ(ε) is certainly at most δ, and a hair more is not known to be."""
    with working():
        point, aim = ball(epsilon), ball(delta)
        low, high = 0.0, 1.0
        while delta_of(arb(high), point) <= aim:
            low, high = high, 2 * high
        while low == 0.0:
            middle = high / 16
            if delta_of(arb(middle), point) <= aim:
                low = middle
            else:
                high = middle
            if high < 1e-200:
                raise InputError("no budget is left at this (ε, δ)", argument="epsilon")
        for _ in range(80):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if delta_of(arb(middle), point) <= aim:
                low = middle
            else:
                high = middle
        return Fraction(low)
