"""Pure ε: losses add up.

Statement: admit while Σεᵢ ≤ ε; then the whole is ε-DP, however the releases were chosen.
Source: basic composition, conditioned step by step (the induction of proofs/residue.md §1).
Concurrent: by Haney et al. 2023, for filters over (ε, δ), here with δ = 0.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.guarantees import PureDP
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless, additive, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release


class Pure(Stateless):
    """Σε."""

    name = "pure"

    def __init__(self, epsilon: Fraction) -> None:
        super().__init__((Line("epsilon", epsilon, "Σε"),))
        self.epsilon = epsilon

    def terms(self) -> dict[str, str]:
        """The limit ε, as text."""
        return {"epsilon": written(self.epsilon)}

    def ask(self, release: Release) -> Price:
        """The ε of each release."""
        return summed(
            release, {"epsilon": additive(release, PureDP, lambda p: Fraction(p.epsilon), self.lines["epsilon"])}
        )
