"""(ε, δ) by sums: both add up.

Statement: admit while Σεᵢ ≤ ε and Σδᵢ ≤ δ; then the whole is (ε, δ)-DP, however the releases were chosen.
Source: basic composition, conditioned step by step (proofs/residue.md §1).
Concurrent: by Haney et al. 2023, for filters over (ε, δ).

A composition declared in advance may be charged as one release, at a δ of its own: its ε there is the best theorem's,
numerical accounting included. Such a price cannot be split, so nothing of it is given back.
"""

from __future__ import annotations

import math
from fractions import Fraction

from bursar.errors import CostInvalid
from bursar.guarantees import ApproxDP
from bursar.jobs.account import account
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless, additive, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.body import Basis


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
            basis = self._basis(release, release.delta)
            paid = {"epsilon": line_e.price(Fraction(ends_in(basis)[1])), "delta": line_d.price(release.delta)}
            return Price(paid, fixed=frozenset(paid), bases=(basis,))
        try:
            units = {
                "epsilon": additive(release, ApproxDP, lambda p: Fraction(p.epsilon), line_e),
                "delta": additive(release, ApproxDP, lambda p: Fraction(p.delta), line_d),
            }
        except CostInvalid as problem:
            raise CostInvalid(f"{problem}; say at which δ it is to be priced: delta=…") from None
        return summed(release, units)

    def _basis(self, release: Release, delta: Fraction) -> Basis:
        """An interval that holds the ε of the whole composition at a δ: by the best theorem, or as a journal has it."""
        if self.bases is None:
            return interval_of(release, delta)
        for basis in self.bases:
            if (basis.what, basis.at) == (release.text, written(delta)):
                return basis
        raise CostInvalid(f"its entry does not say on which ε the price of {release.text[:60]} rests")


def interval_of(release: Release, delta: Fraction) -> Basis:
    """What the theorems prove of a composition's ε, as the journal has it."""
    found = account(release.composition, delta=delta).epsilon
    if found.upper == math.inf:
        raise CostInvalid(f"no finite ε is proved for {release.text} at δ = {written(delta)}")
    return Basis(release.text, written(delta), 1, f"{found.lower!r} {found.upper!r}")


def ends_in(basis: Basis) -> tuple[float, float]:
    """Both ends of an interval that the journal has."""
    try:
        lower, upper = map(float, basis.numbers.split())
    except ValueError as problem:
        raise CostInvalid(f"the interval that its price rests on is damaged: {problem}") from problem
    if not 0 <= lower <= upper < math.inf:
        raise CostInvalid(f"the interval that its price rests on is damaged: {basis.numbers[:60]}")
    return lower, upper
