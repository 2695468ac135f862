"""Binomial tails in balls: how likely at least so many of n independent draws are, to many relative digits."""

from __future__ import annotations

import math

from flint import arb, ctx

from bursar.errors import LossUnknown
from bursar.numerics.balls import Ball, hull, relative_radius, working

_ENOUGH = 2.0**-60
_MOST_BITS = 1 << 14


def at_least(count: int, draws: int, chance: Ball) -> Ball:
    """P(Bin(draws, chance) ≥ count), as the regularised incomplete beta function at the chance."""
    if count <= 0:
        return arb(1)
    if count > draws:
        return arb(0)
    if chance >= 1:
        return arb(1)
    # it grows with the chance: each end of what is known of that is a number of its own
    ends = arb(chance.lower()), arb(chance.upper()).min(arb(1))
    low, high = (_at(count, draws, end) for end in ends)
    return hull(low, high)


def _at(count: int, draws: int, chance: Ball) -> Ball:
    if chance >= 1 or chance <= 0:
        return arb(1 if chance >= 1 else 0)
    bits = max(ctx.prec, 64)
    while bits <= _MOST_BITS:
        with working(bits):
            found = chance.beta_lower(arb(count), arb(draws - count + 1), 1)
        if found > 0 and relative_radius(found) <= _ENOUGH:
            return found.min(arb(1))
        bits *= 2
    raise LossUnknown(f"the chance that {count} of {draws} are drawn at rate {float(chance):.6g} is not known")


def weights(draws: int, chance: Ball, lightest: float) -> list[Ball]:
    """P(Bin = k) for k = 0, 1, …, until what is left has certainly less than the ``lightest``, or all is listed."""
    with working(max(ctx.prec, 128)):
        odds = chance / (1 - chance)
        mass = (draws * (-chance).log1p()).exp()
        found = [mass]
        middle = math.ceil(draws * float(chance))
        for k in range(1, draws + 1):
            mass = mass * odds * (draws - k + 1) / k
            found.append(mass)
            # from here on each is less than this share of the one before, so a geometric series bounds the rest
            share = odds * (draws - k) / (k + 1)
            if k > middle and share < 1 and mass * share / (1 - share) < lightest:
                break
        return found
