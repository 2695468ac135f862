"""ρ-zCDP: ρ's add up.

Statement: admit while Σρᵢ ≤ ρ (and Σδᵢ ≤ δ for promises that set mass aside); then the whole is (δ-approximate)
ρ-zCDP, however the releases were chosen.
Source: Feldman and Zrnic 2021, Remark 4.4; with leaks Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1.
Concurrent: without leaks, by Haney et al. 2023 at every order α at once, since Σαρᵢ ≤ αρ decides alike at all of them.
With leaks no theorem is known.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.errors import CostInvalid
from bursar.guarantees import ZCDP
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Line, Stateless, additive, summed
from bursar.ledger.budget.currencies._step import Price
from bursar.ledger.budget.release import Release


class Zcdp(Stateless):
    """Σρ, and Σδ of leaks where there is room for any."""

    name = "zcdp"

    def __init__(self, rho: Fraction, delta: Fraction) -> None:
        leak = (Line("delta", delta, "Σδ of leaks"),) if delta else ()
        super().__init__((Line("rho", rho, "Σρ"), *leak))
        self.rho, self.delta = rho, delta
        self.concurrent = not delta  # with leaks no theorem is known

    def terms(self) -> dict[str, str]:
        """The limits ρ and δ, as text."""
        return {"rho": written(self.rho), "delta": written(self.delta)}

    def ask(self, release: Release) -> Price:
        """The ρ of each release."""
        return concentrated(release, self.lines["rho"], self.lines.get("delta"))


def concentrated(release: Release, rho: Line, leak: Line | None) -> Price:
    """Σρ, and what leaks."""
    units = {rho.name: additive(release, ZCDP, lambda p: Fraction(p.rho), rho)}
    if leak is not None:
        units[leak.name] = additive(release, ZCDP, lambda p: Fraction(p.delta), leak)
    elif any(promise.delta > 0 for promise in release.promises(ZCDP)):
        raise CostInvalid(f"{release.text} leaks with positive probability, and this scope has no δ for that")
    return summed(release, units)
