"""Gaussian differential privacy: squares add up.

Statement: admit while Σμᵢ² ≤ μ²; then the whole is μ-GDP, however the releases were chosen.
Source: Koskela, Tobaben and Honkela 2022; Smith and Thakurta 2022.
Concurrent: by Haney et al. 2023, for filters over trade-off functions.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.guarantees import GDP
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless, additive, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release


class Gdp(Stateless):
    """Σμ²."""

    name = "gdp"

    def __init__(self, mu: Fraction) -> None:
        super().__init__((Line("mu2", mu * mu, "Σμ²"),))
        self.mu = mu

    def terms(self) -> dict[str, str]:
        """The limit μ, as text."""
        return {"mu": written(self.mu)}

    def ask(self, release: Release) -> Price:
        """The μ² of each release."""
        return summed(release, {"mu2": additive(release, GDP, lambda p: Fraction(p.mu) ** 2, self.lines["mu2"])})
