"""What a sampled loss is made of where the outcome says all but certainly whether the record took part."""

from __future__ import annotations

from typing import NamedTuple

from flint import arb

from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.numerics.balls import Ball, hull, positive_part


class Hits(NamedTuple):
    """A sampled loss that is all but certainly one of two: a constant, or a constant and the loss of what is sampled.

    A hit adds ``hit`` to a loss of ``base``, a miss costs ``miss``, up to ``slack`` either way, of which the masses
    are off by at most a factor e^slack, too. Of hits and of misses so much may be ``short`` of that. Misses are
    ``quiet`` where they never cost more than 0.
    """

    rate: Ball
    base: Loss
    hit: Ball
    miss: Ball
    slack: Ball
    short_hit: Ball
    short_miss: Ball
    quiet: bool


class Sample(NamedTuple):
    """What a loss is a sample of, a record removed: the loss of what is sampled, and the rate."""

    base: Loss
    rate: Ball


def missed(x: Ball, slack: Ball, *, quiet: bool) -> Ball:
    """δ of misses alone at ``x`` beyond their constants: they cost a little more than these, or a little less."""
    # a miss that costs nothing at all leaves nothing to exceed ε
    if quiet or x >= slack:
        return arb(0)
    least, most = (positive_part(-place.expm1()) for place in (x + slack, x - slack))
    return hull(least.lower(), most.upper())


def sampled_tail(pair: Directions, rate: Ball, x: Ball) -> Ball:
    """Of a record removed: P(L > x) = (1−q)·Q(l > y) + q·P(l > y) at the base's loss y behind x, with all digits."""
    excess = x.expm1()
    if not excess > -rate:
        return arb(1) if excess < -rate else hull(arb(0), arb(1))
    y = (excess / rate).log1p()
    return (1 - rate) * pair.add.below(-y) + rate * pair.remove.tail(y)


def sampled_hits(pair: Directions, rate: Ball, clear: float) -> Hits | None:
    """Of a record removed: the base's loss and ln q where it took part, ln(1−q) where not, both with a slack of about
    e^{−clear} (proofs/hits.md §1); None where half of either may be short of that.
    """
    if not 0 < rate < 1:
        return None
    even, far = ((1 - rate) / rate).log(), arb(clear)
    short_hit = pair.remove.below((even + far).upper())
    if not short_hit < 0.5:
        return None
    short_miss = pair.add.below((far - even).upper())
    if not short_miss < 0.5:
        return None
    slack, miss = (-far).exp().log1p().upper(), (-rate).log1p()
    quiet = bool(miss + slack <= 0)
    return Hits(rate, pair.remove, rate.log(), miss, slack, short_hit.upper(), short_miss.upper(), quiet)
