"""Pure differential privacy: P(S) ≤ e^ε Q(S) for every event and every pair of neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from bursar.guarantees._base import Counted, Guarantee, largest, rounded_up, total
from bursar.numerics.balls import Ball, ball, maximum, positive_part
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import MAX_PROMISE, real


def shrunk(top: Ball, room: Ball) -> Ball:
    """max(top + ln(room), 0); 0 only where there is certainly no room, and the whole of top where nobody can tell."""
    if room <= 0:
        return arb(0)
    return positive_part(top + room.log()) if room > 0 else top


def amplified(epsilon: Real, rate: Ball) -> Real:
    """ln(1 + rate·(e^ε − 1)), what sampling leaves of ε, rounded up; ε itself where e^ε is beyond all numbers."""
    less = (rate * ball(epsilon).expm1()).log1p()
    return rounded_up(less) if less.is_finite() else Real(epsilon.high)


@dataclass(frozen=True, init=False, repr=False)
class PureDP(Guarantee):
    """ε-differential privacy. Its worst case is randomized response, and every conversion from here is tight for it."""

    epsilon: Real
    name = "pure_dp"

    def __init__(self, epsilon: Number) -> None:
        self._set(epsilon=real(epsilon=epsilon, at_least=0, largest=MAX_PROMISE))

    def delta_at(self, epsilon: Ball) -> Ball:
        """δ(x) = (e^ε − e^x)/(1 + e^ε) on [−ε, ε]: the profile of randomized response."""
        top = ball(self.epsilon)
        inside = (top.exp() - epsilon.exp()) / (1 + top.exp())
        return positive_part(maximum(inside, 1 - epsilon.exp()))

    def epsilon_at(self, delta: Ball) -> Ball:
        """The inverse of the profile: ln(e^ε − δ(1 + e^ε))."""
        top = ball(self.epsilon)
        if delta <= 0:
            return top
        return shrunk(top, 1 - delta * (1 + (-top).exp()))

    def renyi(self, alpha: Ball) -> Ball:
        """D_α of randomized response: ln[cosh((α − ½)ε)/cosh(ε/2)]/(α − 1)."""
        top = ball(self.epsilon)
        s = alpha - arb(1) / 2
        # cosh through its decaying exponential, so that nothing overflows
        ratio = ((1 + (-2 * s * top).exp()) / (1 + (-top).exp())).log() + (alpha - 1) * top
        return ratio / (alpha - 1)

    def rough_renyi(self, alpha: float) -> float:
        """The same in floats, for searching."""
        top = float(self.epsilon)
        return top + (math.log1p(math.exp(-(2 * alpha - 1) * top)) - math.log1p(math.exp(-top))) / (alpha - 1)

    @classmethod
    def compose(cls, promises: Counted) -> PureDP:
        """The sum of the ε's."""
        return cls(total([(promise.epsilon, count) for promise, count in promises]))

    @classmethod
    def worst(cls, promises: Sequence[PureDP]) -> PureDP:
        """The largest ε."""
        return cls(largest([promise.epsilon for promise in promises]))

    def group(self, size: int) -> PureDP:
        """size·ε."""
        return PureDP(self.epsilon.times(size))
