"""A lower end where no engine has one: by what can be seen of a composition with next to no arithmetic.

    one release    who forgets all others learns less, so what the costliest release costs alone is a lower end
    one of many    let S say that some copy loses more than l. With p = P(L > l) for one copy, k copies have
                   P(S) = 1 − (1−p)^k, and Q(S) ≤ k·e^{−l}·p, as Q is at most e^{−l}·P where a loss exceeds l; so
                   ε ≥ ln((P(S) − δ)/Q(S))
    anything       δ(0) − δ(ε) ≤ e^ε − 1, so ε ≥ ln(1 + δ(0) − δ)

Each holds for every pair that is attained (proofs/largest.md §5).
"""

from __future__ import annotations

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses.engines import dominant
from bursar.losses.engines.answer import Losses
from bursar.numerics.balls import Ball, ball, down, minimum, working

_BITS = 640  # for tails that cancel
_MOST = 16  # different releases that are looked at
_DECADES, _HALVES = 80.0, 14  # of a search for a loss, and its steps


def by_releases(losses: Losses, delta: Ball) -> float:
    """The best lower end that one release, or one of many copies, proves; 0 where there is none."""
    with working(_BITS):
        return max([dominant.alone(losses, delta), *(_one_of(loss, count, delta) for loss, count in losses[:_MOST])])


def by_delta(at_zero: float, delta: Ball) -> float:
    """The lower end that follows from a lower end of δ(0)."""
    return max(down((ball(at_zero) - delta).log1p()), 0.0) if ball(at_zero) > delta else 0.0


def _one_of(loss: Loss, count: int, delta: Ball) -> float:
    """By the largest loss, as far as halving finds it, that some copy exceeds clearly more often than δ."""
    best, low, high = 0.0, -_DECADES, _DECADES
    clearly = delta + minimum(delta, (1 - delta) / 2)
    for _ in range(_HALVES):
        middle = (low + high) / 2
        try:
            least = ball(10**middle)
            often = loss.tail(least)
            seen = -(count * (-often).log1p()).expm1() if often < 1 else often
        except (LossUnknown, ArithmeticError, ValueError):
            break
        if seen > clearly:
            bound = ((seen - delta) / (count * often)).log() + least
            best, low = max(best, down(bound) if bound.is_finite() else 0.0), middle
        else:
            high = middle
    return best
