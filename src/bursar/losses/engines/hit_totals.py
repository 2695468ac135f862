"""Copies of one release whose hits show themselves: how many hits matter, how likely they are, and δ over all numbers.

Numbers of hits from which on δ_n is all but 1 are summed by their chances alone: one more hit only adds to the loss, so
the least of them bounds all from below, and 1 from above (proofs/hits.md §2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.hit_parts import Hits, missed
from bursar.losses.engines.hit_profiles import plain_profile, quick_profile
from bursar.numerics.balls import Ball, hull, positive_part

_CLEAR = (40.0, -math.inf)  # how far, in logarithms and beyond ln k, hits and misses lie from where they are one
_NEGLIGIBLE = 1e9  # how many times smaller than a hit's loss what all misses may add must be, at the least
_SPARE = arb(10) ** -10  # of δ: what may be left out
_DOUBT = 1e-4  # of δ: by how much a sum may be off
MOST = 800  # numbers of hits whose δ is asked for
_LISTED = 30_000  # numbers of hits whose chances are listed
_CERTAIN = 1 - arb(2) ** -50  # a δ that is as good as 1
Profile = Callable[[Loss, int, Ball], Ball]


class TooMany(Exception):
    """More numbers of hits matter than are summed."""


class _Chances(NamedTuple):
    """That so many copies are hits, and that so many or more are, from the largest number down."""

    exactly: list[Ball]
    at_least: list[Ball]


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

    def around(self, epsilon: Ball, profile: Profile | None = None, enough: Ball | None = None) -> Ball:
        """A ball that holds δ(ε); where δ(ε) exceeds what is ``enough``, one that lies below it does."""
        found = profile or self._plain
        first, low, high = self._certain(epsilon)
        high += self.tail(self.top)
        for position, n in enumerate(range(first - 1, -1, -1)):
            if enough is not None and low > enough:
                return low
            if position > MOST or self.top - n >= len(self.chances_from_top.exactly):
                raise TooMany
            self.summed = max(self.summed, position + 1)
            value = self._of(n, epsilon, found)
            # fewer hits cost less: all of these together are at most twice as likely to exceed ε as n are
            if n < self.top and 2 * value <= self.spare:
                high += 2 * value.upper()
                break
            certain = n * (-self.parts.short_hit).log1p() + (self.count - n) * (-self.parts.short_miss).log1p()
            chance = self.chances_from_top.exactly[self.top - n]
            high += chance * (n * self.more).exp() * value.upper()
            low += chance * certain.exp() * positive_part(value.lower())
        return hull(positive_part(low.lower()), (self.slack.exp() * high).upper())

    def _plain(self, base: Loss, n: int, x: Ball) -> Ball:
        return plain_profile(base, n, x, self.spare)

    def _certain(self, epsilon: Ball) -> tuple[int, Ball, Ball]:
        """A number of hits from which on δ is as good as 1, and the least and the most that all of these add."""
        low, high, least = max(self.top + 1 - len(self.chances_from_top.exactly), 1) - 1, self.top + 1, arb(0)
        while high - low > 1:
            middle = (low + high) // 2
            value = self._of(middle, epsilon, quick_profile).lower()
            if value >= _CERTAIN:
                high, least = middle, value
            else:
                low = middle
        if high > self.top:
            return high, arb(0), arb(0)
        chance = self.chances_from_top.at_least[self.top - high]
        # weights fall with the number of hits, those from above rise
        certain = self.top * (-self.parts.short_hit).log1p() + self.count * (-self.parts.short_miss).log1p()
        return high, chance * certain.exp() * least, chance * (self.top * self.more).exp()

    @cached_property
    def chances_from_top(self) -> _Chances:
        """How likely numbers of hits are, as many as are listed."""
        k, q = self.count, self.parts.rate
        chance = total = self.chance(self.top)
        odds, exactly, at_least = (1 - q) / q, [chance], [chance]
        for n in range(self.top, max(self.top - _LISTED, 0), -1):
            chance = chance * odds * n / (k - n + 1)
            total = total + chance
            exactly.append(chance)
            at_least.append(total)
        return _Chances(exactly, at_least)

    def _of(self, n: int, epsilon: Ball, profile: Callable[[Loss, int, Ball], Ball]) -> Ball:
        """δ of n hits and all misses."""
        x = epsilon - self.offset(n)
        if n == 0:
            return missed(x, self.slack, quiet=self.parts.quiet)
        return profile(self.parts.base, n, x + arb(0, self.slack.upper()))
