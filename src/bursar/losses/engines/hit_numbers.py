"""Different samples that show themselves, with hits that cost all but the same each time: how many there are decides.

With n_i hits of the i-th kind, each of which costs between l_i and h_i but for chances that are small parts of δ and of
1, the loss lies between S⁻(n) and S⁺(n), sums of what hits and misses cost. So ε is a quantile of Σ n_i·(a hit's cost):

    Σ (chances of n with S⁻(n) ≥ ε + 25) > δ  ⇒  ε is no more than the answer,
    Σ (chances of n with S⁺(n) > ε) ≤ δ       ⇒  ε is no less,

up to those chances (proofs/hits.md §10). Hits may be of any kind, and far apart in size; all numbers are listed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Answer
from bursar.losses.engines.hit_counts import least_cost, most_cost
from bursar.losses.engines.hit_totals import Total
from bursar.numerics.arrays import Array, Integers
from bursar.numerics.balls import Ball, down, up

_MOST = 1_000_000  # combinations of numbers
_SPARE = arb(2) ** -40  # of δ, and of 1: what may lie beyond what a hit usually costs
_ROOM = 25  # e^{−25} is nothing beside 1
_USUAL = 9.0  # deviations: fewer hits than the mean less so many count as so many
_FLOAT = 1e-13  # relative: more than what a few operations on floats round by
_SUMS = 1e-8  # relative: more than what chances in floats, and sums of a million of them, are off by
_FEWEST = 1e-300  # of δ: what chances may lose that are too small for floats
_DEEPEST = 1e6  # ln(1/δ): beyond, logarithms of chances would lose digits that the sums need


def epsilon_at(totals: Sequence[Total], delta: Ball) -> Answer | None:
    """Both ends of the smallest ε ≥ 0 with δ(ε) ≤ δ; None where some kind has hits whose cost is not bounded, or where
    too many numbers matter.
    """
    if not -delta.log() < _DEEPEST or math.prod(total.top - _first(total) + 1 for total in totals) > _MOST:
        return None
    found = [_kind(total, delta) for total in totals]
    kinds = [kind for kind in found if kind is not None]
    if len(kinds) < len(found):
        return None
    slack = sum((kind.slack for kind in kinds), arb(0))
    beyond = sum((kind.beyond for kind in kinds), arb(0))
    # each end for the δ of the ball that is hardest for it: floats see no more of a ball than its middle
    lower = _least(kinds, slack, arb(delta.upper()))
    upper = _most(kinds, slack, arb((delta * (-slack).exp() - beyond).lower()))
    return Answer(min(lower, upper), upper, (), "hits", math.prod(len(kind.low) for kind in kinds), 0.0)


@dataclass(frozen=True)
class _Kind:
    """The numbers of hits of one kind that matter: what they cost and how likely they are, at least and at most."""

    low: Array
    high: Array
    log_least: Array
    log_most: Array
    beyond: Ball
    """What numbers and costs beyond these may add to δ."""
    slack: Ball


def _first(total: Total) -> int:
    """The least number of hits that is told from fewer: fewer are all but never seen."""
    usual = total.count * total.parts.rate
    return min(max(math.floor(float(usual - _USUAL * (usual + 1).sqrt())), 0), total.top)


def _kind(total: Total, delta: Ball) -> _Kind | None:
    parts, base, top = total.parts, total.parts.base, total.top
    if not (base.mean().is_finite() and base.variance().is_finite()):
        return None
    spare = _SPARE / (2 * top + 1)
    low, high = least_cost(base, spare), most_cost(base, spare * delta)
    # a hit costs more than a miss: then fewer hits cost less
    if not (high.is_finite() and low.is_finite() and low + parts.hit > parts.miss):
        return None
    first = _first(total)
    numbers = range(first, top + 1)
    hit, miss = (-parts.short_hit).log1p() + (-spare).log1p(), (-parts.short_miss).log1p()
    chances = [total.chance(n).log() for n in numbers]
    least = [log + n * hit + (total.count - n) * miss for n, log in zip(numbers, chances, strict=True)]
    most = [log + n * total.more for n, log in zip(numbers, chances, strict=True)]
    most[0] = first * total.more if first else most[0]  # as many or fewer
    # chances of all numbers of the other kinds together are at most 2
    beyond = 2 * (total.tail(top) + 2 * top * (spare * delta + base.infinite_mass()))
    return _Kind(
        np.array([down(n * low + total.offset(n)) for n in numbers]),
        np.array([up(n * high + total.offset(n)) for n in numbers]),
        np.array([down(log) for log in least]),
        np.array([up(log) for log in most]),
        beyond.upper(),
        total.slack.upper(),
    )


def _least(kinds: Sequence[_Kind], slack: Ball, delta: Ball) -> float:
    """An ε that so many costly combinations exceed by far that it is no more than the answer; 0 where there is none."""
    costs = _costs([kind.low for kind in kinds], -1)
    order, sums = _from_the_top(costs, [kind.log_least for kind in kinds], delta)
    found = np.flatnonzero(sums * (1 - _SUMS) * -math.expm1(-_ROOM) > 1)
    if not len(found):
        return 0.0
    return max(down(arb(float(costs[order[found[0]]])) - slack - _ROOM), 0.0)


def _most(kinds: Sequence[_Kind], slack: Ball, delta: Ball) -> float:
    """An ε that only so unlikely combinations exceed that it is no less than the answer; infinite where δ is 0."""
    if not delta > 0:
        return math.inf
    costs = _costs([kind.high for kind in kinds], 1)
    order, sums = _from_the_top(costs, [kind.log_most for kind in kinds], delta)
    # those before it are at most as likely as δ, and no other one costs more
    first = int(np.searchsorted(sums * (1 + _SUMS) + _FEWEST, 1, side="right"))
    if first == len(order):
        return 0.0
    return max(up(arb(float(costs[order[first]])) + slack), 0.0)


def _costs(columns: Sequence[Array], side: int) -> Array:
    """What each combination costs, rounded to a side: by more than floats may be off."""
    return _sums(columns) + side * _FLOAT * _sums([np.abs(column) for column in columns])


def _sums(columns: Sequence[Array]) -> Array:
    """The sums of one number of each column, for all combinations."""
    total: Array = np.zeros(1)
    for column in columns:
        total = np.add.outer(total, column).ravel()
    return total


def _from_the_top(costs: Array, log_chances: Sequence[Array], delta: Ball) -> tuple[Integers, Array]:
    """The combinations from the costliest on, and the chances up to each of them, over δ."""
    order = np.argsort(-costs, kind="stable")
    heights = _sums(log_chances)[order] - float(delta.log())
    return order, np.cumsum(np.exp(np.clip(heights, -740.0, 600.0)))
