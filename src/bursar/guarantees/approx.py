"""Approximate differential privacy: P(S) ≤ e^ε Q(S) + δ for every event and every pair of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from bursar.guarantees._base import Counted, Guarantee, largest, rounded_up, total
from bursar.guarantees.pure import shrunk
from bursar.numerics.balls import Ball, ball, infinity, maximum, positive_part
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import MAX_PROMISE, probability, real


@dataclass(frozen=True, init=False, repr=False)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy. Its worst case is leaky randomized response (the simulation lemma)."""

    epsilon: Real
    delta: Real
    name = "approx_dp"

    def __init__(self, epsilon: Number, delta: Number) -> None:
        self._set(epsilon=real(epsilon=epsilon, at_least=0, largest=MAX_PROMISE), delta=probability(delta=delta))

    def delta_at(self, epsilon: Ball) -> Ball:
        """δ(x) = d + (1 − d)(e^ε − e^x)₊/(1 + e^ε) for x ≥ −ε: the best curve that one (ε, d) statement implies."""
        top, leak = ball(self.epsilon), ball(self.delta)
        inside = positive_part((top.exp() - epsilon.exp()) / (1 + top.exp()))
        return maximum(leak + (1 - leak) * inside, 1 - (1 - leak) * epsilon.exp())

    def epsilon_at(self, delta: Ball) -> Ball:
        """The inverse of that curve."""
        top, leak = ball(self.epsilon), ball(self.delta)
        if not delta >= leak:
            return infinity()
        if leak >= 1:
            return arb(0)
        rest = positive_part((delta - leak) / (1 - leak))
        return shrunk(top, 1 - rest * (1 + (-top).exp()))

    @classmethod
    def compose(cls, promises: Counted) -> ApproxDP:
        """ε's add up; the leaks to 1 − Π(1 − δᵢ), which is never more than their sum."""
        return cls(
            total([(promise.epsilon, count) for promise, count in promises]),
            composed_leak([(promise.delta, count) for promise, count in promises]),
        )

    @classmethod
    def worst(cls, promises: Sequence[ApproxDP]) -> ApproxDP:
        """The largest ε with the largest δ."""
        return cls(largest([p.epsilon for p in promises]), largest([p.delta for p in promises]))

    def group(self, size: int) -> ApproxDP:
        """(kε, δ(e^{kε} − 1)/(e^ε − 1)), at most δ = 1."""
        epsilon, delta = ball(self.epsilon), ball(self.delta)
        factor = (size * epsilon).expm1() / epsilon.expm1() if epsilon > 0 else size * (size * epsilon).exp()
        leak = delta * factor
        capped = rounded_up(leak) if leak < 1 else Real(1)
        return ApproxDP(self.epsilon.times(size), Real(0) if self.delta == 0 else capped)


def composed_leak(leaks: Sequence[tuple[Real, int]]) -> Real:
    """1 − Π(1 − δᵢ)^kᵢ rounded up; exactly 0 without leaks, exactly 1 with a certain one."""
    if all(leak.high == 0 for leak, _ in leaks):
        return Real(0)
    if any(leak.high == 1 and count for leak, count in leaks):
        return Real(1)
    return min(rounded_up(composed_leak_ball(leaks)), Real(1))


def composed_leak_ball(leaks: Sequence[tuple[Real, int]]) -> Ball:
    """1 − Π(1 − δᵢ)^kᵢ as a ball with every reading."""
    kept = arb(0)
    for leak, count in leaks:
        if leak.high == 1:
            return arb(1) if leak.low == 1 else positive_part(arb(0).union(arb(1)))
        kept += count * (-ball(leak)).log1p()
    return -kept.expm1()
