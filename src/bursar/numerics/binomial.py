"""Binomial tails in balls: how likely at least so many of n independent draws are, to many relative digits."""

from __future__ import annotations

import math

from flint import arb, ctx

from bursar.numerics.balls import Ball, relative_radius, working

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
    doubt = max(_ENOUGH, 8 * draws * relative_radius(chance))  # nothing is known better than the chance allows
    bits = max(ctx.prec, 64)
    while bits <= _MOST_BITS:
        with working(bits):
            found = chance.beta_lower(arb(count), arb(draws - count + 1), 1)
        if found > 0 and relative_radius(found) <= doubt:
            return found.min(arb(1))
        bits *= 2
    raise ArithmeticError(
        f"the chance of {count} of {draws} draws at rate {float(chance):.6g} is not known to any digit"
    )


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
