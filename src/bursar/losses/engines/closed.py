"""Copies of one loss whose profile is a closed form, and losses like Gaussian ones: nothing is left to an engine."""

from __future__ import annotations

import math

from flint import arb

from bursar.losses.engines import likeness
from bursar.losses.engines.answer import Answer, Losses
from bursar.numerics.balls import Ball, down, positive_part, up, working
from bursar.numerics.search import crossing

_BITS = 192


def epsilon_at(losses: Losses, delta: Ball) -> Answer | None:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ; None where there is no closed form."""
    return _copies(losses, delta) or likeness.epsilon_at(losses, delta)


def _copies(losses: Losses, delta: Ball) -> Answer | None:
    """The same for copies of one loss; None where there are several."""
    if len(losses) != 1 or not 0 < delta < 1:
        return None
    ((loss, count),) = losses
    with working(_BITS):
        if loss.copies_profile(count, arb(0)) is None:
            return None
        # a power of two about as large as the answer
        size = count * abs(loss.mean()) + (count * positive_part(loss.variance()) * (1 - 2 * delta.log())).sqrt()
        if not 0 < size < arb("inf"):
            return None
        scale = arb(2) ** math.floor(float(size.log()) / math.log(2))
        ends = crossing(lambda x: _profile(losses, arb(x) * scale), delta)
        return Answer(down(arb(ends.lower) * scale), up(arb(ends.upper) * scale), (), "closed form", 1, 0.0)


def _profile(losses: Losses, epsilon: Ball) -> Ball:
    ((loss, count),) = losses
    found = loss.copies_profile(count, epsilon)
    return arb("nan") if found is None else found
