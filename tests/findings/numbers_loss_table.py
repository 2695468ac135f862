"""A mechanism of one's own whose table of losses leaves out half of the mass was believed, and so was its δ."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.losses.table import Row, both_directions
from flint import arb
from shared import judged

import bursar as b
from bursar.guarantees import Claim, Tightness
from bursar.losses import TableLoss


@dataclass(frozen=True, init=False, repr=False)
class Short(b.Mechanism):
    """A fair answer with probability 2/3; its table says only what happens half of the time."""

    name = "short"
    relation = "add_remove"

    def __init__(self) -> None:
        self._set()

    def claims(self) -> tuple[Claim, ...]:
        """ε = 7/10, a little above ln 2."""
        return (Claim(b.PureDP("7/10"), "declared", Tightness.BOUND),)

    def losses(self) -> object:
        """(2/3, 1/3) against (1/3, 2/3), both halved."""
        loss = arb(2).log()
        return both_directions(TableLoss((Row(arb(1) / 3, arb(1) / 6, loss), Row(arb(1) / 6, arb(1) / 3, -loss))))


def main() -> tuple[bool, str]:
    """Composed with nothing that matters."""
    try:
        found = b.account(Short() * 2, epsilon=0).delta
    except b.InputError as refused:
        return "table of losses" in str(refused), f"refused: {str(refused)[:90]}"
    return False, f"believed: δ(0) of two of them in [{found.lower:.4g}, {found.upper:.4g}], the truth is 0.3333"


if __name__ == "__main__":
    judged(main)
