"""(ε, δ) by sums: both add up.

Statement: admit while Σεᵢ ≤ ε and Σδᵢ ≤ δ; then the whole is (ε, δ)-DP, however the releases were chosen.
Source: basic composition, conditioned step by step (proofs/residue.md §1).
Concurrent: by Haney et al. 2023, for filters over (ε, δ).

A composition declared in advance may be charged as one release, at a δ of its own: its ε there is the best theorem's,
numerical accounting included. Such a price cannot be split, so nothing of it is given back.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.errors import CostInvalid
from bursar.guarantees import ApproxDP
from bursar.jobs.account import account
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import ALL, Line, Stateless, additive, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release


class Sums(Stateless):
    """Σε and Σδ."""

    name = "sums"

    def __init__(self, epsilon: Fraction, delta: Fraction) -> None:
        super().__init__((Line("epsilon", epsilon, "Σε"), Line("delta", delta, "Σδ")))
        self.epsilon, self.delta = epsilon, delta

    def terms(self) -> dict[str, str]:
        """The limits ε and δ, as text."""
        return {"epsilon": written(self.epsilon), "delta": written(self.delta)}

    def ask(self, release: Release) -> Price:
        """Each release's own point, or the whole at the δ that was given."""
        line_e, line_d = self.lines["epsilon"], self.lines["delta"]
        if release.delta is not None:
            epsilon = certified_epsilon(release)
            paid = {"epsilon": line_e.price(epsilon), "delta": line_d.price(release.delta)}
            return Price({ALL: paid}, fixed=frozenset(paid))
        try:
            units = {
                "epsilon": additive(release, ApproxDP, lambda p: Fraction(p.epsilon), line_e),
                "delta": additive(release, ApproxDP, lambda p: Fraction(p.delta), line_d),
            }
        except CostInvalid as problem:
            raise CostInvalid(f"{problem}; say at which δ it is to be priced: delta=…") from None
        return summed(release, units)


def certified_epsilon(release: Release) -> Fraction:
    """The ε of the whole composition at its δ, by the best theorem."""
    assert release.delta is not None
    report = account(release.composition, delta=release.delta)
    upper = report.epsilon.upper
    if upper == float("inf"):
        raise CostInvalid(f"no finite ε is proved for {release.text} at δ = {written(release.delta)}")
    return Fraction(upper)
