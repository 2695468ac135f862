"""Lattices: which integers a ball may be next to, and steps whose multiples are exact floats."""

from __future__ import annotations

import math

from bursar.numerics.balls import Ball, down, up


def short(x: float, bits: int) -> float:
    """The largest float of at most this many bits that is no larger than x: its small multiples are exact."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)


def integers_around(x: Ball, low: int, high: int) -> range:
    """Every integer m in [low, high] with m − 1 ≤ x ≤ m + 1 possible, up to a million of them."""
    first, last = down(x), up(x)
    start = low if first == -math.inf else max(low, math.floor(first) - 1)
    stop = high if last == math.inf else min(high, math.ceil(last) + 1)
    if stop - start > 1_000_000:
        raise ArithmeticError("the working precision cannot place the threshold on the lattice")
    return range(start, stop + 1)
