"""The distribution function of a loss of which only the profile is known."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from bursar.numerics.balls import Ball

_STEPS = (0.5, 0.15, 0.05, 0.015, 0.005)  # of the loss's deviation: over which the slope is taken


def cdf_by_slopes(profile: Callable[[Ball], Ball], at: Ball, deviation: Ball) -> Ball:
    """P(L ≤ x) = 1 − δ(x) − e^x·Q(L > x). In e^x the profile is convex with the slope −Q(L > x), so differences on
    either side enclose that.
    """
    threshold, here = at.exp(), profile(at)
    least, most = arb(0), arb(1)
    for share in _STEPS:
        before, after = (profile(at + way * share * deviation) for way in (-1, 1))
        least = least.max(((here - after) / (threshold * (share * deviation).expm1())).lower())
        most = most.min(((before - here) / (threshold * -(-share * deviation).expm1())).upper())
    return (1 - here - threshold * least.union(most)).max(arb(0)).min(arb(1))
