"""A class of one's own named "laplace" with a small claim, charged once, lets twenty real `Laplace(scale=1)` pass on
ε = 1, since releases were remembered by their text.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared import judged

import bursar as b
from bursar.guarantees import Claim, Tightness


@dataclass(frozen=True, init=False, repr=False)
class Cheap(b.Mechanism):
    """It has the catalogue's name, and claims next to nothing."""

    name = "laplace"
    scale: int
    relation = "add_remove"

    def __init__(self, scale: int) -> None:
        self._set(scale=scale)

    def claims(self) -> tuple[Claim, ...]:
        """ε = 1/100."""
        return (Claim(b.PureDP("0.01"), "declared", Tightness.BOUND),)


def main() -> tuple[bool, str]:
    """The cheap one first, then as many real ones as pass, at most twenty."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        try:
            ledger.spend("data", Cheap(scale=1))
            homonym = "admitted"
        except b.BursarError as refused:
            homonym = f"refused ({type(refused).__name__})"
        passed = 0
        try:
            for _ in range(20):
                ledger.spend("data", b.Laplace(scale=1))
                passed += 1
        except b.BudgetExceeded:
            pass
    return passed <= 1, f"homonym {homonym}; then {passed} real Laplace(scale=1) passed on ε = 1, where 1 fits"


if __name__ == "__main__":
    judged(main)
