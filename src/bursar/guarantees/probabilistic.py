"""Probabilistic differential privacy, the loss-tail form of (ε, δ), and how it relates to the usual one.

**Down** (the lecture's Lemma 1.4): if P(L > ε) ≤ δ for every ordered pair of neighbours, the mechanism is (ε, δ)-DP.
Not conversely.

**Up**: (ε, δ)-DP implies P(L > ε + η) ≤ δ/(1 − e^{−η}) for every η > 0, because on {L > ε + η} at
least the share 1 − e^{−η} of P's mass counts towards δ(ε) = E_P[(1 − e^{ε−L})₊].
"""

from __future__ import annotations

from dataclasses import dataclass

from bursar.errors import InputError, described
from bursar.guarantees._base import rounded_up
from bursar.guarantees.approx import ApproxDP
from bursar.numerics.balls import ball, up_fraction
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import probability, real
from bursar.written import Written


@dataclass(frozen=True, init=False, repr=False)
class ProbabilisticDP(Written):
    """P(L > ε) ≤ δ: with probability 1 − δ the privacy loss stays within ε."""

    epsilon: Real
    delta: Real
    name = "probabilistic_dp"

    def __init__(self, epsilon: Number, delta: Number) -> None:
        self._set(epsilon=real(epsilon=epsilon, at_least=0), delta=probability(delta=delta))

    def approximate(self) -> ApproxDP:
        """The (ε, δ)-DP that it implies (Lemma 1.4)."""
        return ApproxDP(self.epsilon, self.delta)


def probabilistic(promise: ApproxDP, *, eta: Number) -> ProbabilisticDP:
    """The probabilistic promise that an (ε, δ) promise implies at ε + η."""
    if not isinstance(promise, ApproxDP):
        raise InputError(f"promise must be an ApproxDP, not {described(promise)}", argument="promise")
    step = real(eta=eta, above=0)
    tail = ball(promise.delta) / -(-ball(step)).expm1()
    delta = Real(0) if promise.delta == 0 else rounded_up(tail) if tail < 1 else Real(1)
    return ProbabilisticDP(Real(up_fraction(ball(promise.epsilon) + ball(step))), delta)
