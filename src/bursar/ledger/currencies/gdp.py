"""Gaussian differential privacy: squares add up.

Statement: admit while Σμᵢ² ≤ μ²; then the whole is μ-GDP, however the releases were chosen.
Source: Koskela, Tobaben and Honkela 2022; Smith and Thakurta 2022.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.guarantees import GDP
from bursar.ledger.amounts import written
from bursar.ledger.currencies._base import ALL, Currency, Line, Price, State, additive
from bursar.ledger.release import Release


class Gdp(Currency):
    """Σμ²."""

    name = "gdp"

    def __init__(self, mu: Fraction) -> None:
        super().__init__((Line("mu2", mu * mu, "Σμ²"),))
        self.mu = mu

    def terms(self) -> dict[str, str]:
        """The limit."""
        return {"mu": written(self.mu)}

    def ask(self, release: Release, state: State) -> Price:
        """The μ² of each release."""
        return Price({ALL: {"mu2": additive(release, GDP, lambda p: Fraction(p.mu) ** 2, self.lines["mu2"])}})
