"""Zero-concentrated differential privacy: D_α(P‖Q) ≤ ρα for every order α > 1, perhaps after setting aside mass δ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import arb

from bursar.errors import ConversionRefused
from bursar.guarantees._base import Counted, Guarantee, largest, total
from bursar.guarantees.approx import composed_leak
from bursar.guarantees.order import rough_simple_epsilon, rough_simple_log_delta, simple_delta, simple_epsilon
from bursar.numerics.balls import Ball, ball, infinity, minimum, positive_part
from bursar.numerics.real import Number, Real
from bursar.numerics.search import minimiser
from bursar.numerics.validate import MAX_PROMISE, probability, real

_NO_LEAK = Real(0)


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Guarantee):
    """ρ-zCDP, or δ-approximate ρ-zCDP. The conversion to (ε, δ) takes the best order of the simple conversion (CKS
    2020, Cor. 13).
    """

    rho: Real
    delta: Real = _NO_LEAK
    name = "zcdp"

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        self._set(rho=real(rho=rho, at_least=0, largest=MAX_PROMISE), delta=probability(delta=delta))

    def epsilon_at(self, delta: Ball) -> Ball:
        """The smallest ε over the orders, at what δ leaves after the leak."""
        rest = remaining(delta, self.delta)
        if not rest > 0:
            exhausted = self.rho.high == 0 and delta >= ball(self.delta)
            return arb(0) if exhausted else infinity()
        return concentrated_epsilon(ball(self.rho), rest)

    def delta_at(self, epsilon: Ball) -> Ball:
        """The smallest δ over the orders, plus the leak."""
        leak = ball(self.delta)
        return leak + (1 - leak) * concentrated_delta(ball(self.rho), epsilon)

    @classmethod
    def compose(cls, promises: Counted) -> ZCDP:
        """ρ's add up; leaks to 1 − Π(1 − δᵢ)."""
        leaks = [(promise.delta, count) for promise, count in promises]
        return cls(total([(promise.rho, count) for promise, count in promises]), composed_leak(leaks))

    @classmethod
    def worst(cls, promises: Sequence[ZCDP]) -> ZCDP:
        """The largest ρ with the largest leak."""
        return cls(largest([p.rho for p in promises]), largest([p.delta for p in promises]))

    def group(self, size: int) -> ZCDP:
        """size²·ρ; a leaking promise has no proved group form."""
        if self.delta > 0 and size > 1:
            raise ConversionRefused("no group form is proved for δ-approximate zCDP")
        return ZCDP(self.rho.times(size * size))


def remaining(delta: Ball, leak: Real) -> Ball:
    """δ' with leak + (1 − leak)δ' = δ."""
    return delta if leak.high == 0 else (delta - ball(leak)) / (1 - ball(leak))


def concentrated_epsilon(rho: Ball, delta: Ball, largest_order: float = math.inf) -> Ball:
    """ε at δ from D_α ≤ ρα for 1 < α ≤ largest_order."""
    if delta >= 1 or rho <= 0:
        return arb(0)
    near, log_delta = float(rho), float(delta.log())

    def rough(u: float) -> float:
        alpha = 1 + math.exp(u)
        return rough_simple_epsilon(alpha, near * alpha, log_delta)

    # Near the optimum (α − 1)²ρ ≈ ln(1/δ): look around there.
    centre = 0.5 * math.log(max(-log_delta, 1e-3) / near) if near > 0 else 0.0
    alpha = _order(rough, centre, largest_order)
    ways = [simple_epsilon(alpha, rho * alpha, delta)]
    if largest_order == math.inf:
        ways.append(rho + 2 * (rho * -delta.log()).sqrt())
    return minimum(*ways)


def concentrated_delta(rho: Ball, epsilon: Ball, largest_order: float = math.inf) -> Ball:
    """δ at ε from D_α ≤ ρα for 1 < α ≤ largest_order."""
    if rho <= 0:
        return positive_part(1 - epsilon.exp())
    near, e = float(rho), float(epsilon)

    def rough(u: float) -> float:
        alpha = 1 + math.exp(u)
        return rough_simple_log_delta(alpha, near * alpha, e)

    centre = math.log(max(e / (2 * near) - 0.5, 0.1)) if near > 0 else 0.0
    alpha = _order(rough, centre, largest_order)
    return simple_delta(alpha, rho * alpha, epsilon)


def _order(rough: Callable[[float], float], centre: float, largest_order: float) -> Ball:
    """The best order that a float search finds within the limit."""
    high = min(centre + 4.0, math.log(largest_order - 1)) if largest_order < math.inf else centre + 4.0
    low = min(centre - 4.0, high - 4.0)
    u = minimiser(rough, low, high, points=8, steps=30)
    return arb(min(1 + math.exp(u), largest_order))
