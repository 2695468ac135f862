"""(ε, δ) with the rates of advanced composition, for releases chosen adaptively.

Statement: admit while √(2 ln(1/δ′)·Σεᵢ²) + ½Σεᵢ² ≤ ε and Σδᵢ ≤ δ″; then the whole is (ε, δ′ + δ″)-DP. That is a limit
on ½Σεᵢ², namely (√(ln(1/δ′) + ε) − √ln(1/δ′))².
Source: Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 2.
Concurrent: by Haney et al. 2023, for filters over (ε, δ).
"""

from __future__ import annotations

from fractions import Fraction

from bursar.errors import CostInvalid
from bursar.guarantees import ApproxDP
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless, additive, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release
from bursar.numerics.balls import ball, down_fraction, working


class Advanced(Stateless):
    """½Σε² and Σδ."""

    name = "advanced"

    def __init__(self, epsilon: Fraction, delta: Fraction, leak: Fraction) -> None:
        limit = square_limit(epsilon, delta - leak)
        super().__init__((Line("half_squares", limit, "½Σε²"), Line("delta", leak, "Σδ of leaks")))
        self.epsilon, self.delta, self.leak = epsilon, delta, leak

    def terms(self) -> dict[str, str]:
        """The target and the share of δ for leaks."""
        return {"epsilon": written(self.epsilon), "delta": written(self.delta), "leak": written(self.leak)}

    def ask(self, release: Release) -> Price:
        """½ε² and δ of each release."""
        squares, leak = self.lines["half_squares"], self.lines["delta"]
        try:
            units = {
                "half_squares": additive(release, ApproxDP, lambda p: Fraction(p.epsilon) ** 2 / 2, squares),
                "delta": additive(release, ApproxDP, lambda p: Fraction(p.delta), leak),
            }
        except CostInvalid as problem:
            raise CostInvalid(f"{problem}; the currency 'concentrated' takes such releases") from None
        return summed(release, units)


def square_limit(epsilon: Fraction, delta: Fraction) -> Fraction:
    """(√(ln(1/δ) + ε) − √ln(1/δ))², rounded down."""
    with working():
        depth = -ball(delta).log()
        root = (depth + ball(epsilon)).sqrt() - depth.sqrt()
        return down_fraction(root * root)
