"""Means of powers and logarithms of the mean of t likelihood ratios, from both sides.

For convex f with f(1) = f′(1) = 0, E f(R) is an integral of the two profiles with positive weights,

    E f(R) = ∫₀^∞ f″(e^ε)·e^ε·δ_remove(ε) dε + ∫₀^∞ f″(e^{−ε})·e^{−2ε}·δ_add(ε) dε,

so laws on either side of R in convex order bound it; what their lists leave out counts in full up to some ε, and from
there on Markov's inequality bounds the profiles (proofs/allocation.md §6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from flint import arb, arb_series, ctx

from bursar.errors import LossUnknown
from bursar.losses.allocation.sides import Side, Sides
from bursar.numerics.arrays import Array, dot
from bursar.numerics.balls import Ball, down, infinity, up
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

MOST = 256
"""The largest power that is computed exactly."""
_ROUNDING = 64 * UNIT


def around(both: Sides, f: Callable[[Array], Array], beyond: Ball) -> Ball:
    """E f(R) for a convex f ≥ 0 with f(1) = 0, given what the lists leave out at most."""
    return _total(both.below, f).lower().union((_total(both.above, f) + beyond).upper()).nonnegative_part()


def _total(side: Side, f: Callable[[Array], Array]) -> Ball:
    values = f(side.ratios)
    share = side.mass_error + UNIT * (4 * ULPS + len(values))
    # f is convex, so its slopes next to a place are at most those over 1 % on either side
    wide = np.abs(f(side.ratios * 1.01) - values) + np.abs(values - f(side.ratios / 1.01))
    moved = 102 * side.ratio_error * wide
    slack = dot(side.masses, np.abs(values) * share + moved + _ROUNDING * (1 + side.ratios))
    return arb(dot(side.masses, values), SAFETY * slack)


def first_and_second(both: Sides, mu: Ball, *, removed: bool) -> tuple[Ball, Ball]:
    """The mean of the loss, and of its square."""
    log = np.log
    reach = 60.0 + float(mu * mu)
    own, other = (both.above.lost_mean, both.above.lost) if removed else (both.above.lost, both.above.lost_mean)
    tail = (mu * mu).exp() / 4 * (-arb(reach)).exp()
    mean_rest = arb(reach) * own + other + tail
    square_rest = arb(reach) * (reach + 2) * own + 2 * other + (2 * arb(reach) + 4) * tail
    if removed:
        mean = around(both, lambda x: np.maximum(x * log(x) - x + 1, 0.0), mean_rest)
        square = around(both, lambda x: x * np.square(log(x)) + _dip(x), square_rest)
        dip = around(both, _dip, arb(2 * other))
    else:
        mean = around(both, lambda x: np.maximum(x - 1 - log(x), 0.0), mean_rest)
        square = around(both, lambda x: np.square(log(x)) + _rise(x), square_rest)
        dip = around(both, _rise, arb(2 * other))
    return mean, square - dip


def _dip(x: Array) -> Array:
    """What makes x·ln²x convex: below 1/e, where it is concave, its distance from the tangent there."""
    low = np.minimum(x, 1 / math.e)
    found: Array = np.maximum(2 / math.e - low - low * np.square(np.log(low)), 0.0)
    return found


def _rise(x: Array) -> Array:
    """What makes ln²x convex: above e, where it is concave, its distance from the tangent there."""
    high = np.maximum(x, math.e)
    found: Array = np.maximum(2 * high / math.e - 1 - np.square(np.log(high)), 0.0)
    return found


def log_power(both: Callable[[], Sides], mu: Ball, steps: int, p: Ball) -> Ball:
    """ln E R^p for real p: exact for whole p ≥ 0, else between chords of a convex function that is 0 at 0 and 1."""
    jensen = (mu * mu * p * (p - 1) / 2).upper()  # powers beyond [0, 1] are convex, so one ratio has larger ones
    if p < 0:
        try:
            low, high = (_negative(both(), mu, steps, s) for s in (down(-p), up(-p)))  # the logarithm rises with −p
        except LossUnknown:  # no lists
            return arb(0).union(jensen)
        return low.lower().max(arb(0)).union(high.upper().min(jensen))
    if not p >= 1:
        # above the tangents at 0 and 1, whose slopes are the two means; wherever the ball lies, at least −μ²/4
        inside = (-mu * mu / 2 * p.min(1 - p)).lower() if p >= 0 and p <= 1 else (-mu * mu / 4).lower()
        return inside.union(jensen.max(arb(0)))
    if not p <= MOST:
        return arb(0).union(jensen)
    if p.rad() > 0:  # beyond 1 the logarithm rises
        return log_power(both, mu, steps, p.lower()).lower().union(log_power(both, mu, steps, p.upper()).upper())
    known, k = powers(mu, steps), int(float(p.floor()))
    if p == k:
        return known[k]
    right = min(k + 1, MOST)
    share = p - k
    over = known[k] + share * (known[right] - known[k]) if right > k else jensen
    left = known[k] + share * (known[k] - known[k - 1])
    low = left
    if k + 2 <= MOST:
        low = low.max(known[k + 1] - (1 - share) * (known[k + 2] - known[k + 1]))
    return low.lower().union(over.upper())


def powers(mu: Ball, steps: int) -> tuple[Ball, ...]:
    """ln E R^k for k = 0, 1, …: E (Y₁ + … + Y_t)^k is k! times a coefficient of the t-th power of Σ E[Y^j]·x^j/j!."""
    key = tuple(int(x) for part in (mu.mid(), mu.rad()) for x in part.man_exp())
    return _powers(key, steps, ctx.prec)


@lru_cache(maxsize=32)
def _powers(key: tuple[int, ...], steps: int, bits: int) -> tuple[Ball, ...]:
    mu = arb(arb(key[0]) * arb(2) ** key[1], arb(key[2]) * arb(2) ** key[3])
    terms, factor = [arb(1)], arb(1)
    for j in range(1, MOST + 1):
        factor *= j
        terms.append((mu * mu * (j * (j - 1)) / 2).exp() / factor)
    before = ctx.cap
    ctx.cap = MOST + 1
    try:
        whole = (arb_series(terms, MOST + 1).log() * steps).exp()
    finally:
        ctx.cap = before
    found, factor = [arb(0), arb(0)], arb(1) / steps
    for k in range(2, MOST + 1):
        factor = factor * k / steps
        found.append((whole[k] * factor).log())
    return tuple(found)


def _negative(both: Sides, mu: Ball, steps: int, s: float) -> Ball:
    """ln E R^{−s}: 1 + E[R^{−s} − 1 + s(R − 1)], the bracket being convex and 0 at 1."""
    if s * (float(np.abs(np.log(both.above.ratios)).max()) + 0.02) > 600:
        return arb(0).union(infinity())
    lost, square, order, rest = arb(both.above.lost), mu * mu, arb(s), infinity()
    for reach in (2.0, 5.0, 10.0, 20.0, 40.0):
        known = lost * (order + 1) * (order * reach).exp() + order * both.above.lost_mean
        for v in (order + 4 / mu, 2 * order + 1, 2 * order + 10, 4 * order + 40):
            log_mean = (square * v * (v + 1) / 2).min(square * v / 2 + square * v * v / (2 * steps))
            far = order * (order + 1) * (log_mean + (order - v) * reach).exp() / (v - order)
            rest = rest.min((known + far).upper())
    found = around(both, lambda x: np.maximum(np.exp(-s * np.log(x)) - 1 + s * (x - 1), 0.0), rest)
    return (1 + found).log()
