"""Compositions in which some releases cost next to nothing beside the others.

With the losses split in two, L = A + B, and 0 < η < 1,

    ε_A(δ) ≤ ε(δ) ≤ ε_A((1−η)·δ) + ε_B(η·δ):

who sees less learns less, and δ_{A+B}(x + y) ≤ δ_A(x) + δ_B(y). So where B costs next to nothing, A decides. B's cost
is bounded release by release, by profiles of single releases: k copies cost at most k times what one does at the k-th
part of δ, and nothing where kδ₁(0) is a small part of δ, however large their losses are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses.engines.answer import Answer, Losses, asked_between, between
from bursar.numerics.balls import Ball, minimum, positive_part, up, working

_SHARE = arb(10) ** -9  # η
_SPARE = arb(2) ** -20  # of δ: for all but the costliest release
_HIDDEN = arb(10) ** -4  # of δ: what a kind of release may have to cost nothing
_PART = 0.1  # of the width asked: what the others may add
_MOST = 16  # different releases that are looked at
_BITS = 640  # for profiles that cancel
_DECADES, _HALVES = 80.0, 9  # of a search for a cost, and its steps

Solve = Callable[[Losses, Ball, float], Answer]


def epsilon_at(losses: Losses, delta: Ball, width: float, solve: Solve) -> Answer | None:
    """ε by the releases that matter and a bound of the others; None where all of them may matter."""
    if not 1 < len(losses) <= _MOST or not 0 < delta < 1:
        return None
    spare = _SHARE * delta / len(losses)
    least = [_single(loss, delta)[0] for loss, _ in losses]
    limit = _PART * width * max(least)
    if not limit > 0:
        return None
    covered = _covered(losses, delta)
    small = [
        count * _single(loss, spare / count)[1] if part is None else 0.0
        for (loss, count), part in zip(losses, covered, strict=True)
    ]
    return _without(losses, (small, covered), limit, (delta, width, solve))


def by_answers(losses: Losses, delta: Ball, width: float, solve: Solve) -> Answer | None:
    """The same with every release's own cost, as engines give it: it takes longer, and sees more."""
    if not 1 < len(losses) <= _MOST or not 0 < delta < 1:
        return None
    spare = _SHARE * delta / len(losses)
    covered = _covered(losses, delta)
    small = [_cost(one, spare, solve) if part is None else 0.0 for one, part in zip(losses, covered, strict=True)]
    return _without(losses, (small, covered), _PART * width * max(small), (delta, width, solve))


def nothing(losses: Losses, delta: Ball) -> Answer | None:
    """ε = 0 where δ covers all that can be seen at all: δ(0) is at most the sum of every release's own; else None."""
    if len(losses) > _MOST:
        return None
    seen = arb(0)
    for loss, count in losses:
        seen += count * _seen(loss)
        if not seen <= delta:
            return None
    return Answer(0.0, 0.0, (), "single event", 1, 0.0)


def _seen(loss: Loss) -> Ball:
    """A bound of δ(0): its own, or what leaks and 1 − e^{−l}, l the largest loss, which keeps its digits where that is
    tiny; 1 where nothing is known.
    """
    ways = [arb(1)]
    with suppress(LossUnknown, ArithmeticError, ValueError):
        ways.append(loss.profile(arb(0)))
    with suppress(LossUnknown, ArithmeticError, ValueError):
        ways.append(loss.infinite_mass() + positive_part(-(-loss.support()[1]).expm1()))  # the largest may be below 0
    return minimum(*(arb(way.upper()) for way in ways if way.is_finite() and way.upper() >= 0))


def alone(losses: Losses, delta: Ball) -> float:
    """What the costliest single release costs at the least, whoever forgets all others: where nobody says more."""
    with working(_BITS):
        return max((_single(loss, delta)[0] for loss, _ in losses[:_MOST]), default=0.0)


def at_most(losses: Losses, delta: Ball) -> Ball:
    """What all of these cost at most: each kind at its part of δ, its copies one by one; infinite where that is not
    known.
    """
    costs = [count * arb(_single(loss, delta / (len(losses) * count))[1]) for loss, count in losses[:_MOST]]
    return sum(costs, arb(0)).upper() if len(losses) <= _MOST else arb("inf")


def one_by_one(losses: Losses, delta: Ball, width: float, solve: Solve) -> Answer | None:
    """The last resort: from below what the costliest release costs alone, from above its cost and that of each of the
    others at a small part of δ.
    """
    if not 1 < len(losses) <= _MOST or not 0 < delta < 1:
        return None
    alone = [_ends(one, delta, width, solve) for one in losses]
    first = max(range(len(losses)), key=lambda i: (alone[i][0], alone[i][1]))
    spare = _SPARE * delta / (len(losses) - 1)
    parts = [delta * (1 - _SPARE) if i == first else spare for i in range(len(losses))]
    upper = sum((arb(_ends(one, part, width, solve)[1]) for one, part in zip(losses, parts, strict=True)), arb(0))
    lower, most = max(low for low, _ in alone), up(upper)
    none = Answer(0.0, math.inf, (), "one by one", 1, 0.0)
    return between(none, lower, most) if lower > 0 or most < math.inf else None


def _covered(losses: Losses, delta: Ball) -> list[Ball | None]:
    """For each kind of release the part of δ at which it costs nothing, kδ₁(0), where that is small; else None."""
    parts: list[Ball | None] = []
    for loss, count in losses:
        try:
            seen = (count * loss.profile(arb(0))).upper()
        except (LossUnknown, ArithmeticError, ValueError):
            seen = arb("nan")
        parts.append(seen if seen <= _HIDDEN * delta else None)
    return parts


def _without(
    losses: Losses, costs: tuple[list[float], list[Ball | None]], limit: float, asked: tuple[Ball, float, Solve]
) -> Answer | None:
    """The answer without the cheapest releases, as many as fit below the limit together."""
    (small, covered), (delta, width, solve) = costs, asked
    order = sorted(range(len(losses)), key=lambda i: small[i])
    left, rest = 0.0, []
    for i in order[:-1]:
        if not math.isfinite(small[i]) or left + small[i] > limit:
            break
        left = math.nextafter(left + small[i], math.inf)
        rest.append(i)
    if not rest:
        return None
    kept = [losses[i] for i in range(len(losses)) if i not in rest]
    hidden = sum((part for i in rest if (part := covered[i]) is not None), arb(0))
    found = asked_between(lambda at: solve(kept, at, width / 2), delta * (1 - _SHARE) - hidden, delta, width / 2)
    return replace(found, upper=up(arb(found.upper) + arb(left)))


def _single(loss: Loss, delta: Ball) -> tuple[float, float]:
    """Both ends of what one release costs, within a factor of two or so; 0 and infinity where that is not known."""
    low, high, a, b = 0.0, _largest(loss, delta), -_DECADES, _DECADES
    for _ in range(_HALVES):
        x = 10 ** ((a + b) / 2)
        try:
            value = loss.profile(arb(x))
        except (LossUnknown, ArithmeticError, ValueError):
            break
        if value <= delta:
            high, b = min(x, high), (a + b) / 2
        elif value > delta:
            low, a = x, (a + b) / 2
        else:
            break
    return low, high


def _largest(loss: Loss, delta: Ball) -> float:
    """The largest loss, at which δ is what a release leaks; infinity where that is not known or too much."""
    try:
        top, leak = loss.support()[1], loss.infinite_mass()
    except (LossUnknown, ArithmeticError, ValueError):
        return math.inf
    return up(top) if top.is_finite() and leak <= delta else math.inf


def _ends(one: tuple[Loss, int], delta: Ball, width: float, solve: Solve) -> tuple[float, float]:
    """Both ends of what one kind of release costs, as far as they are known."""
    try:
        found = solve([one], delta, width)
    except (LossUnknown, ArithmeticError, ValueError):
        return 0.0, math.inf
    return found.lower, found.upper


def _cost(one: tuple[Loss, int], delta: Ball, solve: Solve) -> float:
    try:
        return solve([one], delta, 0.1).upper
    except (LossUnknown, ArithmeticError, ValueError):
        return math.inf
