"""So many hits that how many there are decides, and what each of them costs is all but the same.

With n⁺ such that more hits are less likely than δ, and n⁻ such that as many are likelier,

    n⁻·(what a hit costs at least) ≤ ε ≤ n⁺·(what a hit costs at most), each with the misses' constants,

up to chances that are small parts of δ and of 1 (proofs/hits.md §9).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses.engines.answer import Answer
from bursar.numerics.balls import Ball, down, positive_part, up

if TYPE_CHECKING:
    from bursar.losses.engines.hit_totals import Total

_SHARE = arb(2) ** -10  # of δ, and of 1: what may lie beyond what a hit usually costs
_ROOM = 10  # 1 − e^{−10} is nearly 1
_SPANS = 8.0  # mean lengths of the tail that are summed
_STEPS = 260  # each a fourth of a doubling


def by_counts(total: Total, delta: Ball) -> Answer | None:
    """Both ends of ε by how many hits there are; None where a hit's cost is not bounded like that."""
    parts, base = total.parts, total.parts.base
    most = _last(total, lambda n: not total.tail(n) <= (1 - 2 * _SHARE) * delta) + 1
    if not 4 * most * base.infinite_mass() <= _SHARE * delta:  # what a hit costs is not bounded
        return None
    spare = _SHARE / (2 * most + 1)
    high = base.support()[1]
    if not high.is_finite():
        high = reach(base.mean(), base.variance().sqrt(), lambda x: bool(base.tail(x) <= spare * delta))
    # each of them, or all together; a hit costs more than a miss whatever it costs
    dearest = _together(base, most, _SHARE * delta / 2, 1)
    dearest = dearest.min(most * high) if high + parts.hit > parts.miss else dearest
    if not dearest.is_finite():
        return None
    upper = up(total.offset(most) + dearest + total.slack)
    least = _least(total, delta, 2 * most)
    if least == 0:
        return Answer(0.0, upper, (), "hits", 1, 0.0) if upper > 0 else None
    low = reach(base.mean(), -base.variance().sqrt(), lambda x: bool(base.below(x) <= spare))
    cheapest = _together(base, least, _SHARE / 2, -1)
    cheapest = cheapest.max(least * low) if low.is_finite() and low + parts.hit > parts.miss else cheapest
    lower = down(total.offset(least) + cheapest - total.slack - _ROOM) if cheapest.is_finite() else 0.0
    return Answer(min(max(lower, 0.0), upper), upper, (), "hits", 1, 0.0) if upper > 0 else None


def _together(base: Loss, n: int, spare: Ball, side: int) -> Ball:
    """What n copies exceed together with at most this chance, or for the other side stay below: by Markov's inequality
    at a tilt that floats choose; infinite where they have no say.
    """
    nothing, depth = arb("inf" if side > 0 else "-inf"), -float(spare.log())
    if base.takes_integrals():
        return nothing
    unit = 1 / float(abs(base.mean())) if base.mean().is_finite() and not base.mean().contains(0) else 1.0
    tilts = [unit * 10.0**power for power in range(-12, 29)]
    for spread in (1.0, 0.1, 0.01):
        values = [_rough(base, n, depth, side * tilt) for tilt in tilts]
        best = min(range(len(tilts)), key=lambda i: side * values[i] if math.isfinite(values[i]) else math.inf)
        tilts = [tilts[best] * 10 ** (spread * (i - 10) / 5) for i in range(21)]
    tilt = side * arb(tilts[10])
    found = (n * base.cumulant(tilt).real - spare.log()) / tilt
    return found if found.is_finite() else nothing


def _rough(base: Loss, n: int, depth: float, tilt: float) -> float:
    try:
        return (n * base.rough_cumulant(tilt) + depth) / tilt
    except (ArithmeticError, ValueError):
        return math.nan


def _least(total: Total, delta: Ball, limit: int) -> int:
    """A number of hits that is exceeded or met with a chance above δ; 0 where none is found, and any do."""
    n = _last(total, lambda n: bool(_at_least(total, n) > delta))
    if n > 0 and _at_least(total, n) > delta:
        return n
    # near the usual number the series is short of the truth; but a median is at least the mean, rounded down
    n, top, parts = math.floor(down(total.count * total.parts.rate)), total.top, total.parts
    sure = top * (-parts.short_hit).log1p() + total.count * (-parts.short_miss).log1p()
    usual = (arb(0.5) - total.tail(top)) * sure.exp() * (1 - 2 * _SHARE)
    return n if n <= top <= limit and usual > delta else 0


def _at_least(total: Total, n: int) -> Ball:
    """A lower bound of the chance of n hits or more, each of them certain and none cheap: of a geometric series whose
    ratio is the least of those that are summed.
    """
    parts, k = total.parts, total.count
    first = float(_ratio(total, n))
    if not 0 < first < 1:
        return arb(0)
    length = min(math.ceil(_SPANS / (1 - first)), k - n, n)
    r = _ratio(total, n + length)
    sure = (n + length) * (-parts.short_hit).log1p() + k * (-parts.short_miss).log1p()
    series = (1 - r**length) / (1 - r) if length > 0 else arb(1)
    return total.chance(n) * series * sure.exp() * (1 - 2 * _SHARE)


def _ratio(total: Total, n: int) -> Ball:
    """The chance of one hit more over that of n."""
    q = total.parts.rate
    return (total.count - n) * q / ((n + 1) * (1 - q))


def _last(total: Total, holds: Callable[[int], bool]) -> int:
    """The largest number of hits beyond the usual one with a property that is lost at some number; the usual one at the
    least.
    """
    low = min(math.floor((total.count + 1) * float(total.parts.rate)), total.count)
    high = total.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def least_cost(base: Loss, spare: Ball) -> Ball:
    """What a hit costs less than with at most the chance that is spare; not finite where that is not known."""
    return reach(base.mean(), -_spread(base), lambda x: bool(base.below(x) <= spare))


def most_cost(base: Loss, spare: Ball) -> Ball:
    """What a hit costs more than with at most the chance that is spare: its largest loss, or one that is so rare."""
    high = base.support()[1]
    return high if high.is_finite() else reach(base.mean(), _spread(base), lambda x: bool(base.tail(x) <= spare))


def _spread(base: Loss) -> Ball:
    """About a deviation, above 0: a variance that is all but 0 may not be told from a negative number."""
    return arb(positive_part(base.variance()).upper()).sqrt() + arb(2) ** -60 * abs(base.mean())


def reach(start: Ball, step: Ball, enough: Callable[[Ball], bool]) -> Ball:
    """A place so many steps from the start that little enough lies beyond; infinite where none is found."""
    with suppress(LossUnknown, ArithmeticError, ValueError):
        for power in range(_STEPS):
            x = start + step * arb(2.0 ** (power / 4))
            if enough(x):
                return x
    return arb("inf")
