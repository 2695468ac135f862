"""Samples that show themselves: where the outcome says all but certainly whether the record took part.

Then the loss of one release is one of two: a *miss* costs a constant, a *hit* the loss of the mechanism inside and
another constant. Of k releases n are hits with a binomial chance, so

    δ(ε) = Σ_n C(k, n)·q^n·(1−q)^{k−n}·δ_n(ε − n·(a hit's constant) − (k−n)·(a miss's)),

δ_n the profile of n releases without sampling; what is not certain is bounded (proofs/hits.md). Tilts are no use here:
a hit costs so much that e^{τL} sees nothing but the next hit, however unlikely.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines import envelope
from bursar.losses.engines.answer import Answer, Losses
from bursar.losses.engines.envelope import NoEnvelope
from bursar.losses.engines.hit_parts import Hits, missed
from bursar.losses.engines.hit_profiles import between, engine_profile, plain_profile
from bursar.numerics.balls import Ball, down, hull, positive_part, up, working
from bursar.numerics.search import crossing

_CLEAR = (40.0, -math.inf)  # how far, in logarithms and beyond ln k, hits and misses lie from where they are one
_NEGLIGIBLE = 1e9  # how many times smaller than a hit's loss what all misses may add must be, at the least
_SPARE = arb(10) ** -10  # of δ: what may be left out
_DOUBT = 1e-4  # of δ: by how much a sum may be off
_MOST = 800  # numbers of hits that are summed
_CLOSE = 1e-3  # of the width asked: closer than this nobody looks
_FEW = 8  # numbers of hits, each of which an engine is asked about
_BITS = 160


def epsilon_at(losses: Losses, delta: Ball, width: float) -> Answer | None:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of copies of one sampled release; None where hits and misses are not told apart,
    or where too many numbers of hits matter.
    """
    with working(_BITS):
        total = total_of(losses, delta)
        if total is None:
            return None
        scale = total.scale()
        try:
            if total.hopeless(delta):
                raise _TooMany
            ends = crossing(lambda x: total.around(arb(x) * scale, enough=2 * delta), delta, close=_CLOSE * width)
            low, high = (down(arb(ends.lower) * scale), up(arb(ends.upper) * scale))
            if (high - low) > width * high and math.isfinite(high):
                low, high = _refined(total, low, high, width)
        except _TooMany:
            from bursar.losses.engines import hit_counts  # seldom needed

            return hit_counts.by_counts(total, delta)
    return Answer(low, high, (), "hits", total.summed, 0.0) if high < math.inf or low == high else None


def delta_at(losses: Losses, epsilon: Ball) -> Answer | None:
    """The ends of δ(ε) of copies of one sampled release; None as above."""
    with working(_BITS):
        total = total_of(losses, arb(10) ** -300)
        if total is None:
            return None
        try:
            found = total.around(epsilon, engine_profile)
        except _TooMany:
            return None
        low, high = max(down(found), 0.0), min(up(found), 1.0)
    return Answer(low, high, (), "hits", total.summed, 0.0)


class _TooMany(Exception):
    """More numbers of hits matter than are summed."""


def total_of(losses: Losses, delta: Ball) -> Total | None:
    """Copies of one sample, where hits and misses are told apart well enough; None elsewhere."""
    if len(losses) != 1 or not 0 < delta < 1:
        return None
    ((loss, count),) = losses
    for clear in _CLEAR:
        parts = loss.hits(max(clear, 3.0) + math.log(count))
        if parts is not None and clear < 0:
            size = parts.base.mean() if parts.base.mean().is_finite() else parts.base.support()[1]
            parts = loss.hits(max(math.log(_NEGLIGIBLE) - float(abs(size + parts.hit).log()), 3.0) + math.log(count))
        if parts is not None:
            total = Total(parts, count, delta)
            if total.doubt < _DOUBT:
                return total
    return None


class Total:
    """``count`` copies of a release whose hits show themselves, at δ's of this size and above."""

    def __init__(self, parts: Hits, count: int, delta: Ball) -> None:
        self.parts, self.count, self.delta = parts, count, delta
        self.slack = count * parts.slack
        """How far a loss may lie from what hits and misses say."""
        between = (1 - parts.rate) * parts.short_miss + parts.rate * parts.short_hit
        self.more = (between / parts.rate).log1p() - (-parts.short_hit).log1p()
        """ln of by how much what is neither a hit nor a miss makes hits more likely, at the most."""
        self.spare = _SPARE * delta
        self.chances: dict[int, Ball] = {}
        self.weights: dict[int, tuple[Ball, Ball]] = {}
        self.summed = 0

    @property
    def doubt(self) -> Ball:
        """How far the sum may be off, relatively."""
        hit, miss = self.parts.short_hit, self.parts.short_miss
        return self.top * (self.more + hit) + self.count * miss + self.slack if hit < 0.5 and miss < 0.5 else arb(1)

    def chance(self, n: int) -> Ball:
        """That n of all copies are hits."""
        if n not in self.chances:
            k, q = self.count, self.parts.rate
            ways = arb(k + 1).lgamma() - arb(n + 1).lgamma() - arb(k - n + 1).lgamma()
            self.chances[n] = (ways + n * q.log() + (k - n) * (-q).log1p()).exp()
        return self.chances[n]

    def tail(self, n: int) -> Ball:
        """A bound of the chance of more than n hits or what may be taken for one: a geometric series."""
        if n >= self.count:
            return arb(0)
        ratio = (self.count - n - 1) * self.parts.rate / ((n + 2) * (1 - self.parts.rate)) * self.more.exp()
        return self.chance(n + 1) * ((n + 1) * self.more).exp() / (1 - ratio) if ratio < 1 else arb(1)

    @cached_property
    def top(self) -> int:
        """The least number of hits (or not many more) beyond which there is too little to matter."""
        low, high = -1, 1
        while high < self.count and not self.tail(high) <= self.spare:
            low, high = high, 2 * high
        high = min(high, self.count)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tail(middle) <= self.spare else (middle, high)
        return high

    def scale(self) -> Ball:
        """A power of two about as large as what the most hits cost."""
        mean, largest = self.parts.base.mean(), self.parts.base.support()[1]
        usual = mean if mean.is_finite() else largest
        size = max(self.top, 1) * (abs(usual) + abs(self.parts.hit)) + 1
        exponent = math.ceil(float(size.log()) / math.log(2)) if size.is_finite() else 0
        return arb(2) ** exponent

    def offset(self, n: int) -> Ball:
        """What n hits and all misses cost by their constants."""
        return n * self.parts.hit + (self.count - n) * self.parts.miss

    def around(
        self, epsilon: Ball, profile: Callable[[Loss, int, Ball], Ball] | None = None, enough: Ball | None = None
    ) -> Ball:
        """A ball that holds δ(ε); where δ(ε) exceeds what is ``enough``, one that lies below it does."""
        found = profile or plain_profile
        low, high = arb(0), self.tail(self.top)
        for position, n in enumerate(range(self.top, -1, -1)):
            if position > _MOST:
                raise _TooMany
            self.summed = max(self.summed, position + 1)
            value = self._of(n, epsilon, found)
            # fewer hits cost less: all of these together are at most twice as likely to exceed ε as n are
            if n < self.top and 2 * value <= self.spare:
                high += 2 * value.upper()
                break
            least, most = self._weights(n)
            high += most * value.upper()
            low += least * positive_part(value.lower())
            if enough is not None and low > enough:
                return low
        return hull(positive_part(low.lower()), (self.slack.exp() * high).upper())

    def hopeless(self, delta: Ball) -> bool:
        """Whether the numbers of hits that are summed never exceed 2δ, and those below them cost something: the sum at
        ε = 0 would only end where it is too long.
        """
        last = self.top - _MOST
        if last < 1 or not self.tail(last - 1) <= 2 * delta:
            return False
        return not 2 * self._of(last, arb(0), plain_profile) <= self.spare

    def _weights(self, n: int) -> tuple[Ball, Ball]:
        """The least and the most that n hits and otherwise misses weigh."""
        if n not in self.weights:
            certain = n * (-self.parts.short_hit).log1p() + (self.count - n) * (-self.parts.short_miss).log1p()
            self.weights[n] = (self.chance(n) * certain.exp(), self.chance(n) * (n * self.more).exp())
        return self.weights[n]

    def _of(self, n: int, epsilon: Ball, profile: Callable[[Loss, int, Ball], Ball]) -> Ball:
        """δ of n hits and all misses."""
        x = epsilon - self.offset(n)
        if n == 0:
            return missed(x, self.slack, quiet=self.parts.quiet)
        return profile(self.parts.base, n, x + arb(0, self.slack.upper()))


def _refined(total: Total, low: float, high: float, width: float) -> tuple[float, float]:
    """The same ends, closer together, by profiles that take an engine: each number of hits suggests an ε of its own,
    and the largest is not far off.
    """
    near, deciding = 0.0, _deciding(total, low)
    for n in deciding if len(deciding) <= _FEW else ():
        try:
            share = (total.delta / total.chance(n)).mid()
            answer = envelope.epsilon_at([(total.parts.base, n)], share, width)
        except (NoEnvelope, ArithmeticError, ValueError):
            continue
        near = max(near, float(answer.lower + total.offset(n)))
    for side in (-1, 1):
        step = 0.3 * width
        while step < 1e-2:
            x = near * (1 + side * step)
            if not low < x < high:
                break
            found = total.around(arb(x), engine_profile, 2 * total.delta)
            if side < 0 and found > total.delta:
                low = x
                break
            if side > 0 and found <= total.delta:
                high = x
                break
            step *= 4
    return low, high


def _deciding(total: Total, low: float) -> list[int]:
    """The numbers of hits that may decide, where ε is at least ``low``."""
    found = []
    for n in range(max(total.top - _MOST, 1), total.top + 1):
        share, alone = total.delta / total.chance(n), between(total.parts.base, n, arb(low) - total.offset(n))
        if share < 0.999 and alone.upper() > share / 100:
            found.append(n)
    return found
