"""ρ-zCDP: ρ's add up.

Statement: admit while Σρᵢ ≤ ρ (and Σδᵢ ≤ δ for promises that set mass aside); then the whole is (δ-approximate)
ρ-zCDP, however the releases were chosen.
Source: Feldman and Zrnic 2021, Remark 4.4; with leaks Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 1.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.errors import CostInvalid
from bursar.guarantees import ZCDP
from bursar.ledger.amounts import written
from bursar.ledger.currencies._base import ALL, Currency, Line, Price, State, additive
from bursar.ledger.release import Release


class Zcdp(Currency):
    """Σρ, and Σδ of leaks where there is room for any."""

    name = "zcdp"

    def __init__(self, rho: Fraction, delta: Fraction) -> None:
        leak = (Line("delta", delta, "Σδ of leaks"),) if delta else ()
        super().__init__((Line("rho", rho, "Σρ"), *leak))
        self.rho, self.delta = rho, delta

    def terms(self) -> dict[str, str]:
        """Both limits."""
        return {"rho": written(self.rho), "delta": written(self.delta)}

    def ask(self, release: Release, state: State) -> Price:
        """The ρ of each release."""
        return Price({ALL: concentrated(release, self.lines["rho"], self.lines.get("delta"))})


def concentrated(release: Release, rho: Line, leak: Line | None) -> dict[str, int]:
    """Σρ, and what leaks."""
    paid = {rho.name: additive(release, ZCDP, lambda p: Fraction(p.rho), rho)}
    if leak is not None:
        paid[leak.name] = additive(release, ZCDP, lambda p: Fraction(p.delta), leak)
    elif any(promise.delta > 0 for promise, _ in release.promises(ZCDP)):
        raise CostInvalid(f"{release.text} leaks with positive probability, and this scope has no δ for that")
    return paid
