"""A mechanism of one's own whose table of losses leaves out half of the mass was believed: its δ is half of the truth."""

from __future__ import annotations

from flint import arb
from support import judged

import bursar as b
from bursar.losses import TableLoss
from bursar.losses.table import Row, both_directions


class Short(b.RandomizedResponse):
    """Says only what happens half of the time."""

    name = "short"

    def losses(self) -> object:
        """One row, of mass 1/2."""
        return both_directions(TableLoss((Row(arb(1) / 2, arb(1) / 4, arb(2).log()),)))


def main() -> tuple[bool, str]:
    """Two of them."""
    try:
        found = b.account(Short(epsilon=1) * 2, epsilon=0).delta
    except b.InputError as refused:
        return "table of losses" in str(refused), f"refused: {str(refused)[:120]}"
    return False, f"believed: δ(0) in [{found.lower:.4g}, {found.upper:.4g}]"


if __name__ == "__main__":
    judged(main)
