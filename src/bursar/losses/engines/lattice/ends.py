"""Where a falling function that is known in balls meets δ, and how fine a grid must be for it."""

from __future__ import annotations

import math
from collections.abc import Callable

from bursar.losses.engines.answer import Answer
from bursar.losses.engines.lattice.engine import Lattice
from bursar.losses.engines.lattice.grid import NoLattice, TooCoarse, TooFine
from bursar.numerics.balls import Ball

_SMALL = 1 << 15  # grid points; so many may be tried again and again


def refined(attempt: Callable[[float], Answer], step: float, width: float) -> Answer:
    """The largest grid that fits, then finer ones until the width is met; the narrowest answer counts."""
    for _ in range(12):
        try:
            best = attempt(step)
            break
        except TooFine:
            step *= 2
        except TooCoarse:
            step /= 8
    else:
        raise NoLattice("no grid within the limits")
    for finer in range(10):
        if best.width <= width or (finer >= 3 and best.nodes > _SMALL):
            break
        step /= min(max(1.3 * math.sqrt(best.width / width), 2.0), 16.0)  # the width falls with the square of the step
        try:
            found = attempt(step)
        except NoLattice:
            break
        best = min(best, found, key=lambda answer: answer.upper - answer.lower)
    return best


def between(lattice: Lattice, guess: float, delta: Ball, log_delta: float, width: float) -> Answer:
    """The last ε certainly too small and the first certainly enough."""
    floor = max((lattice.start + 8) * lattice.step + lattice.slack + lattice.reach(log_delta, width), 0.0)
    target, near = float(delta.log()), 0.02 * width
    low, high = _ends(lattice.upper, delta, target, floor, guess, near)
    if low is None and not (floor == 0 and lattice.upper(0.0) <= delta):
        raise NoLattice("ε lies below the window, or cannot be told from δ's own uncertainty")
    lower = None
    if low is not None:
        lower, _ = _ends(lambda x: lattice.lower(x, log_delta, width), delta, target, floor, high, near)
        lattice.lower(high if lower is None else lower, log_delta, width)
    upper = 0.0 if low is None else high
    return Answer(lower or 0.0, upper, lattice.budget(log_delta), "lattice", lattice.size, lattice.tau)


def _ends(
    falling: Callable[[float], Ball], delta: Ball, target: float, floor: float, start: float, near: float
) -> tuple[float | None, float]:
    """(a, b) close together with falling(a) > δ and falling(b) ≤ δ, walking from the start; a is None where none above
    the floor is found.
    """
    high, step = max(start, floor), near * abs(start) + 1e-12
    while not (value := falling(high)) <= delta:
        high, step = high + step, 3 * step
    low, at_high = high, _height(value, target)
    while (value := falling(low)) <= delta:
        if low <= floor:
            return None, high
        high, at_high = low, _height(value, target)
        low, step = max(low - step, floor), 3 * step
    at_low, side = _height(value, target), 0
    for _ in range(80):
        if high - low <= near * high or high - low <= 4 * math.ulp(high):
            break
        share = at_low / (at_low - at_high) if math.isfinite(at_low - at_high) and at_low > at_high else 0.5
        x = low + (high - low) * min(max(share, 0.02), 0.98)
        value = falling(x)
        if value <= delta:
            high, at_high = x, _height(value, target)
            at_low, side = (at_low / 2 if side == 1 else at_low), 1
        elif value > delta:
            low, at_low = x, max(_height(value, target), 1e-18)
            at_high, side = (at_high / 2 if side == -1 else at_high), -1
        else:
            break  # the ball straddles δ: no closer ends can be told apart
    return (low if falling(low) > delta else None), high


def _height(value: Ball, target: float) -> float:
    """How far the middle of a ball lies above a target, in logarithms."""
    middle = value.mid()
    return (float(middle.log()) if middle > 0 else -1e4) - target
