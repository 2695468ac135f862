"""A subclass of a catalogue's mechanism that honestly claims twice the cost is charged as the catalogue's, half of it.

`Release` was cached by text, and the text of `class Twice(b.Laplace)` is that of a Laplace.
"""

from __future__ import annotations

from shared import judged

import bursar as b
from bursar.guarantees import Claim


class Twice(b.Laplace):
    """Two Laplace releases in one, so its ε is 2/scale."""

    def claims(self) -> tuple[Claim, ...]:
        """As it is."""
        return (Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)

    def losses(self) -> object:
        """Not known."""
        raise b.LossUnknown("two at once")


def main() -> tuple[bool, str]:
    """Charge a Laplace, then twenty of the double ones, on ε = 1: what they admit to is 2·20/40 + 1/40."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", b.Laplace(scale=40))
        admitted, said = 0, ""
        for _ in range(39):
            try:
                ledger.spend("data", Twice(scale=40))
                admitted += 1
            except b.BursarError as refused:
                said = type(refused).__name__
                break
        charged = float(ledger.show("data").line("epsilon").spent)
    claimed = (1 + 2 * admitted) / 40
    said = f"; the next one: {said}" if said else ""
    return (
        charged >= claimed,
        f"{admitted} subclass releases admitted, ε claimed {claimed:g}, charged {charged:g}{said}",
    )


if __name__ == "__main__":
    judged(main)
