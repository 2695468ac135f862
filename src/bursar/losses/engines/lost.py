"""Samples whose hits are rarer than δ and cost more than everything else together: a hit is as good as a leak.

Let B be the releases of such kinds. All of them miss with a chance of at least π, and cost between c⁻ and c⁺ then; with
a chance of at least h some are hits, and B costs H or more. With δ_A for the other releases

    π·δ_A(ε − c⁻) + h·(1 − e^{(ε−H)/2}) ≤ δ(ε) ≤ 1 − π + π·δ_A(ε − c⁺)

(proofs/hits.md §11). So the others are asked at what hits leave of δ, and how much they cost does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.answer import Answer, Losses, asked_between
from bursar.losses.engines.hit_parts import Hits
from bursar.numerics.balls import Ball, down, up

_RARER = 0.999  # of δ: what all hits together may have
_RARE = 1e-9  # of δ: what is rarer than this is left out elsewhere
_SPARE = arb(2) ** -50  # of a hit: how rarely it costs less than it usually does
_CLEAR = (1000.0, 200.0, 40.0)  # how far, in logarithms, hits and misses lie from where they are one
_DOUBT = 1e-9  # of hits: how many may be taken for something else
_FAR = 60  # e^{−30} is nothing beside 1

Solve = Callable[[Losses, Ball], Answer]


class _Kind(NamedTuple):
    """Copies of one sample: what may be said of misses, and of hits."""

    missed: Ball
    """ln of the chance that all of them miss, at the least."""
    odds: Ball
    """k·ln(1 + a certain hit's chance over a certain miss's)."""
    least: Ball
    most: Ball
    """What misses cost."""
    more: Ball
    """By how much a hit costs more than a miss, at the least."""


def epsilon_at(losses: Losses, delta: Ball, width: float, solve: Solve) -> Answer | None:
    """Both ends of ε by the other releases; None where no hits are rare and dear enough."""
    if len(losses) < 2 or not 0 < delta < 1:
        return None
    kinds = [_kind(loss, count, delta) for loss, count in losses]
    floor = 0.0
    for _ in range(2):
        chosen = [i for i, kind in enumerate(kinds) if kind is not None and kind.more > floor + _FAR]
        if not chosen or len(chosen) == len(losses):
            return None
        others = [one for i, one in enumerate(losses) if i not in chosen]
        found, largest = _beside(
            [kind for i, kind in enumerate(kinds) if kind is not None and i in chosen], others, delta, width, solve
        )
        if found is None or largest:
            return found
        floor = found.upper  # some hits are not dear enough: without these
    return None


def _beside(kinds: list[_Kind], others: Losses, delta: Ball, width: float, solve: Solve) -> tuple[Answer | None, bool]:
    """The answer where these kinds are as good as lost, and whether their hits are dear enough for its lower end."""
    missed, odds = (sum(column, arb(0)) for column in ([kind.missed for kind in kinds], [kind.odds for kind in kinds]))
    least, most = (sum(column, arb(0)) for column in ([kind.least for kind in kinds], [kind.most for kind in kinds]))
    left = delta + missed.expm1()
    if not left > (1 - _RARER) * delta:
        return None, False
    dear = min((kind.more.lower() for kind in kinds), key=float) + least
    hit = missed.exp() * odds.expm1() * (1 - arb(-_FAR / 2).exp())
    ends = (left / missed.exp()).lower(), ((delta - hit) / missed.exp()).upper()
    if not 0 < ends[0] <= ends[1] < 1:
        return None, False
    found = asked_between(lambda at: solve(others, at), *ends, width)
    upper = max(up(arb(found.upper) + most), 0.0)
    lower = max(down(arb(found.lower) + least), 0.0) if found.lower > 0 else 0.0
    answer = Answer(min(lower, upper), upper, found.errors, found.engine, found.nodes, found.tilt)
    return answer, bool(dear > upper + _FAR)


def _kind(loss: Loss, count: int, delta: Ball) -> _Kind | None:
    """What is known of a kind, where its outcomes show who took part and hits are rarer than δ, but not much."""
    parts = _parts(loss, count)
    if parts is None:
        return None
    base, miss = parts.base, (-parts.rate).log1p() + (-parts.short_miss).log1p()
    seen = -(count * miss).expm1()
    if not _RARE * delta < seen < _RARER * delta or not (base.mean().is_finite() and base.variance().is_finite()):
        return None
    from bursar.losses.engines.hit_counts import least_cost  # seldom needed

    low = least_cost(base, _SPARE)
    if not low.is_finite():
        return None
    odds = parts.rate * (1 - parts.short_hit - _SPARE) / miss.exp()
    least, most = (count * (parts.miss + side * parts.slack) for side in (-1, 1))
    return _Kind(count * miss, count * odds.log1p(), least, most, low + parts.hit - parts.miss)


def _parts(loss: Loss, count: int) -> Hits | None:
    """Hits and misses told apart as far as they go: what misses may add must be small beside whatever others cost."""
    for clear in _CLEAR:
        parts = loss.hits(clear + math.log(count))
        if parts is not None and parts.short_hit < _DOUBT and parts.short_miss < _DOUBT * parts.rate:
            return parts
    return None
