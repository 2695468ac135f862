"""Samples that show themselves: where the outcome says all but certainly whether the record took part.

Then the loss of one release is one of two: a *miss* costs a constant, a *hit* the loss of the mechanism inside and
another constant. Of k releases n are hits with a binomial chance, so

    δ(ε) = Σ_n C(k, n)·q^n·(1−q)^{k−n}·δ_n(ε − n·(a hit's constant) − (k−n)·(a miss's)),

δ_n the profile of n releases without sampling; what is not certain is bounded (proofs/hits.md). Tilts are no use here:
a hit costs so much that e^{τL} sees nothing but the next hit, however unlikely.
"""

from __future__ import annotations

import math

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines import envelope
from bursar.losses.engines.answer import Answer, Losses
from bursar.losses.engines.envelope import NoEnvelope
from bursar.losses.engines.hit_profiles import between, engine_profile, plain_profile, with_patience
from bursar.losses.engines.hit_totals import MOST, TooMany, Total, total_of
from bursar.numerics.balls import Ball, down, up, working
from bursar.numerics.search import crossing

_CLOSE = 1e-3  # of the width asked: closer than this nobody looks
_FEW, _SEVERAL = 1, 8  # numbers of hits, each of which an engine is asked about: at once, and when others are wide
_KNOWN = 1e-6  # relative: a δ as close as this needs no engine
_BITS = 160


def epsilon_at(losses: Losses, delta: Ball, width: float) -> Answer | None:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of copies of one sampled release; None where hits and misses are not told apart,
    or where too many numbers of hits matter.
    """
    with working(_BITS):
        total = total_of(losses, delta)
        if total is None:
            return None
        try:
            return _answer(total, delta, width, _FEW)
        except TooMany:
            from bursar.losses.engines import hit_counts  # seldom needed

            return hit_counts.by_counts(total, delta)


def closer_epsilon_at(losses: Losses, delta: Ball, width: float) -> Answer | None:
    """The same where engines are asked about each number of hits that may decide; None where there are too many."""
    with working(_BITS):
        total = total_of(losses, delta)
        if total is None:
            return None
        with_patience(total.parts.base)
        try:
            return _answer(total, delta, width, _SEVERAL)
        except TooMany:
            return None


def _ends(total: Total, delta: Ball, width: float) -> tuple[float, float]:
    """Both ends of ε by profiles that cost nothing."""
    scale = total.scale()
    ends = crossing(lambda x: total.around(arb(x) * scale, enough=2 * delta), delta, close=_CLOSE * width)
    return down(arb(ends.lower) * scale), up(arb(ends.upper) * scale)


def _answer(total: Total, delta: Ball, width: float, few: int) -> Answer | None:
    """Both ends, closer by engines where so few numbers of hits decide; None where there is no upper one."""
    low, high = _ends(total, delta, width)
    if width * high < high - low < math.inf:
        low, high = _refined(total, (low, high), width, few)
    return Answer(low, high, (), "hits", total.summed, 0.0) if high < math.inf or low == high else None


def delta_at(losses: Losses, epsilon: Ball) -> Answer | None:
    """The ends of δ(ε) of copies of one sampled release; None as above."""
    with working(_BITS):
        total = total_of(losses, arb(10) ** -300)
        if total is None:
            return None
        try:
            found = total.around(epsilon, engine_profile)
        except TooMany:
            return None
        low, high = max(down(found), 0.0), min(up(found), 1.0)
    return Answer(low, high, (), "hits", total.summed, 0.0)


def _refined(total: Total, ends: tuple[float, float], width: float, few: int) -> tuple[float, float]:
    """The same ends, closer together, by profiles that take an engine: each number of hits suggests an ε of its own,
    and the largest is not far off. Nothing is gained where more than a few numbers may decide.
    """
    (low, high), near, profile = ends, 0.0, _Counted(4 * few)
    for n in _deciding(total, low, few):
        try:
            share = (total.delta / total.chance(n)).mid()
            answer = envelope.epsilon_at([(total.parts.base, n)], share, width)
        except (NoEnvelope, ArithmeticError, ValueError):
            continue
        near = max(near, float(answer.lower + total.offset(n)))
    for side in (-1, 1):
        for step in (0.3 * width * 4**tried for tried in range(few + 1)):
            x = near * (1 + side * step)
            if not low < x < high:
                break
            try:
                found = total.around(arb(x), profile, 2 * total.delta)
            except TooMany:
                break
            if side < 0 and found > total.delta:
                low = x
                break
            if side > 0 and found <= total.delta:
                high = x
                break
    return low, high


class _Counted:
    """Profiles by an engine, which is asked no more often than this."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, base: Loss, n: int, x: Ball) -> Ball:
        found = plain_profile(base, n, x)
        if n == 1 or found.rad() <= _KNOWN * found.mid():
            return found
        self.left -= 1
        if self.left < 0:
            raise TooMany
        return engine_profile(base, n, x)


def _deciding(total: Total, low: float, few: int) -> list[int]:
    """The numbers of hits that may decide, where ε is at least ``low``; none where there are more than a few."""
    found: list[int] = []
    for n in range(total.top, max(total.top - MOST, 0), -1):
        share = total.delta / total.chances_from_top.exactly[total.top - n]
        if share < 0.999 and between(total.parts.base, n, arb(low) - total.offset(n)).upper() > share / 100:
            found.append(n)
            if len(found) > few:
                return []
    return found
