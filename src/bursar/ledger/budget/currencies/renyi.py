"""Rényi divergence at one order, fixed when the scope is opened.

Statement: admit while ΣD_α ≤ γ at that α; then the whole has D_α ≤ γ, however the releases were chosen. With
γ = ε − ln((α−1)/α) + (ln δ + ln α)/(α−1) that is (ε, δ)-DP.
Source: Feldman and Zrnic 2021, Theorem 4.3; the conversion is Canonne, Kamath and Steinke 2020, Proposition 12.
Concurrent: by Haney et al. 2023, for filters at one Rényi order.

Admitting while *some* order of several is within its budget is not a filter
(tests/ledger/budget/test_counterexamples.py).
"""

from __future__ import annotations

from fractions import Fraction

from bursar.errors import ConversionRefused, CostInvalid, InputError
from bursar.guarantees import Renyi as Promise
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release
from bursar.numerics.balls import ball, down_fraction, finite, up_fraction, working


class Renyi(Stateless):
    """ΣD_α at one α."""

    name = "renyi"

    def __init__(self, order: Fraction, limit: Fraction, epsilon: Fraction | None, delta: Fraction | None) -> None:
        super().__init__((Line("renyi", limit, f"ΣD_α at α = {written(order)}"),))
        self.order, self.limit, self.epsilon, self.delta = order, limit, epsilon, delta

    def terms(self) -> dict[str, str]:
        """The order with its limit, or with the (ε, δ) it comes from."""
        if self.epsilon is None or self.delta is None:
            return {"order": written(self.order), "renyi": written(self.limit)}
        return {"order": written(self.order), "epsilon": written(self.epsilon), "delta": written(self.delta)}

    def ask(self, release: Release) -> Price:
        """D_α of each release, rounded up."""
        try:
            return summed(release, {"renyi": tuple(map(self._unit, release.promises(Promise)))})
        except ConversionRefused as refusal:
            raise CostInvalid(str(refusal)) from None

    def _unit(self, promise: Promise) -> int:
        with working():
            value = promise.at(ball(self.order))
            if not finite(value):
                raise CostInvalid(f"there is no finite Rényi divergence at order {self.order}")
            return self.lines["renyi"].price(up_fraction(value.max(ball(0))))


def order_limit(order: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest D_α that proves (ε, δ), rounded down."""
    with working():
        alpha = ball(order)
        limit = ball(epsilon) - ((alpha - 1) / alpha).log() + (ball(delta).log() + alpha.log()) / (alpha - 1)
        if not limit > 0:
            raise InputError(
                f"order {written(order)} proves no ({float(epsilon):g}, {float(delta):g}): choose a larger order",
                argument="order",
            )
        return down_fraction(limit)
