"""(ε, δ) by way of ρ-zCDP: sharper than advanced composition, and it takes every release that has a ρ.

Statement: admit while Σρᵢ ≤ ρ* and Σδᵢ ≤ δ″, where ρ* is the largest ρ whose zCDP proves (ε, δ′); then the whole is
(ε, δ′ + δ″)-DP. An ε-DP release has ρ = ε·tanh(ε/2).
Source: Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1, with the conversion of Canonne, Kamath and Steinke 2020.
Concurrent: no theorem is known for releases that leak, and such a scope admits them.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.guarantees.zcdp import concentrated_delta
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.currencies._target import largest
from bursar.ledger.budget.currencies.zcdp import concentrated
from bursar.ledger.budget.release import Release


class Concentrated(Stateless):
    """Σρ and Σδ."""

    name = "concentrated"
    concurrent = False  # a release that leaks is δ-approximate ρ-zCDP, for which no theorem is known

    def __init__(self, epsilon: Fraction, delta: Fraction, leak: Fraction) -> None:
        limit = largest(concentrated_delta, epsilon, delta - leak)
        super().__init__((Line("rho", limit, "Σρ"), Line("delta", leak, "Σδ of leaks")))
        self.epsilon, self.delta, self.leak = epsilon, delta, leak

    def terms(self) -> dict[str, str]:
        """The target and the share of δ for leaks."""
        return {"epsilon": written(self.epsilon), "delta": written(self.delta), "leak": written(self.leak)}

    def ask(self, release: Release) -> Price:
        """ρ and δ of each release."""
        return concentrated(release, self.lines["rho"], self.lines["delta"])
