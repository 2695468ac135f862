"""Which integers a ball may be next to."""

from __future__ import annotations

import math

from bursar.numerics.balls import Ball, down, up


def integers_around(x: Ball, low: int, high: int) -> range:
    """Every integer m in [low, high] with m − 1 ≤ x ≤ m + 1 possible; a wide ball gives a wide range, up to a
    million.
    """
    first, last = down(x), up(x)
    start = low if first == -math.inf else max(low, math.floor(first) - 1)
    stop = high if last == math.inf else min(high, math.ceil(last) + 1)
    if stop - start > 1_000_000:
        raise ArithmeticError("the working precision cannot place the threshold on the lattice")
    return range(start, stop + 1)
