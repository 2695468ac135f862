"""A lower end for samples of anything, where no engine says more: by how often the record is drawn.

With a record removed, k samples at rate q are a mixture over how many of them contain it, and n such have a loss of at
least Σu + n·ln q + (k−n)·ln(1−q), u the losses of what is sampled. So for every n, with δ_n the profile of n releases
without sampling,

    δ(ε) ≥ C(k, n)·q^n·(1−q)^{k−n}·δ_n(ε − n·ln q − (k−n)·ln(1−q)).

Of δ_n a closed form is used where there is one, and everywhere that Σu lies above nm − 2√(nv) four times out of five,
m and v the mean and the variance of u. The same holds for any k no larger than there are (proofs/hits.md §7).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.answer import Answer, Losses
from bursar.numerics.balls import Ball, down, positive_part, working
from bursar.numerics.search import crossing

_BITS = 160
_TRIED = 160  # numbers that are looked at in floats
_OFTEN = (1.0, 8.0)  # records among the releases that are looked at
_BACK = 60  # steps back from what floats say, until balls agree


def epsilon_at(losses: Losses, delta: Ball) -> Answer | None:
    """A lower end of ε of copies of one sampled release, and no upper one; None where nothing is proved."""
    if len(losses) != 1 or not 0 < delta < 1:
        return None
    ((loss, count),) = losses
    sample = loss.sample_of()
    if sample is None or not 0 < sample.rate < 1:
        return None
    with working(_BITS):
        # who forgets some releases learns less: so few that most have no record in them may prove more
        sizes = {count, *(min(count, math.ceil(often / float(sample.rate))) for often in _OFTEN)}
        tried = [Several(sample.base, sample.rate, size, delta) for size in sorted(sizes)]
        lower = max(bound for several in tried for bound in (several.usual(), several.closed()))
    return Answer(lower, math.inf, (), "drawn", 1, 0.0) if lower > 0 else None


class Several:
    """``count`` samples of one release, a record removed, at this δ."""

    def __init__(self, base: Loss, rate: Ball, count: int, delta: Ball) -> None:
        self.base, self.rate, self.count, self.delta = base, rate, count, delta
        self.logs = float(rate.log()), float((-rate).log1p())
        self.depth = float(delta.log())

    def rough(self, n: int) -> float:
        """ln of the chance that n samples contain the record, in floats."""
        k, (there, gone) = self.count, self.logs
        ways = math.lgamma(k + 1) - math.lgamma(n + 1) - math.lgamma(k - n + 1)
        return ways + n * there + (k - n) * gone

    def chance(self, n: int) -> Ball:
        """The same as a ball."""
        k, q = self.count, self.rate
        ways = arb(k + 1).lgamma() - arb(n + 1).lgamma() - arb(k - n + 1).lgamma()
        return (ways + n * q.log() + (k - n) * (-q).log1p()).exp()

    def offset(self, n: int) -> Ball:
        """n·ln q + (k−n)·ln(1−q)."""
        return n * self.rate.log() + (self.count - n) * (-self.rate).log1p()

    def most(self) -> int:
        """The largest number that is twice as likely as δ, in floats; 0 where there is none."""
        usual = min(math.floor((self.count + 1) * float(self.rate)), self.count)
        if self.rough(usual) <= self.depth + 1:
            return 0
        low, high = usual, self.count + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.rough(middle) > self.depth + 1 else (low, middle)
        return low

    def usual(self) -> float:
        """By the largest such number, and what so many releases cost four times out of five."""
        mean, variance = self.base.mean(), self.base.variance()
        n = self.most()
        if not (mean.is_finite() and variance.is_finite()):
            return 0.0
        for back in range(_BACK):
            at = n - back * (1 + n // 10**6)
            if at < 1:
                return 0.0
            if self.chance(at) > 2 * self.delta:  # ½ < ⅘·(1 − 1/e)
                spread = 2 * (at * positive_part(variance)).sqrt()
                return max(down(at * mean - spread - 1 + self.offset(at)), 0.0)
        return 0.0

    def closed(self) -> float:
        """By the number that suggests most, with the closed form of its profile."""
        if self.base.copies_profile(1, arb(0)) is None:
            return 0.0
        n = max(self._numbers(), key=self._suggested, default=0)
        if n < 1 or not (guess := self._suggested(n)) > 0:
            return 0.0
        return crossing(self._profile(n), self.delta, guess=guess).lower

    def _numbers(self) -> list[int]:
        top = max(self.most(), 1)
        while top < self.count and self.rough(top + 1) > self.depth:
            top = min(top + 1 + top // 16, self.count)
        return sorted({max(round(math.exp(math.log(top) * i / _TRIED)), 1) for i in range(_TRIED + 1)})

    def _suggested(self, n: int) -> float:
        """About the ε of n releases at δ over their chance, in floats, as for a Gaussian."""
        left = self.rough(n) - self.depth
        if left <= 0:
            return -math.inf
        spread = math.sqrt(max(n * float(self.base.variance()), 0.0))
        return n * float(self.base.mean()) + spread * math.sqrt(2 * left) + float(self.offset(n))

    def _profile(self, n: int) -> Callable[[float], Ball]:
        chance, offset = self.chance(n), self.offset(n)

        def falling(x: float) -> Ball:
            found = self.base.copies_profile(n, arb(x) - offset)
            return arb("nan") if found is None else chance * found

        return falling
