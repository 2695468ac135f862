"""Advertising measurement: a budget for every day × campaign × region, so that campaigns do not spend each other's.

An impression lies in one block. A report reads some blocks, and is charged to each of them before it runs. Run it:
``python examples/ad_measurement.py``.
"""

from __future__ import annotations

import bursar as b
from bursar.cohorts import BlockLedger, BlocksExhausted

REPORT = b.Gaussian(sigma=10)
"""A sum of conversions, with noise of ten times what one impression can add: ρ = 1/200."""


def weekly(blocks: BlockLedger, week: int, campaign: int) -> None:
    """One campaign's week, over all regions."""
    blocks.spend(REPORT, day=(7 * week, 7 * week + 7), campaign=campaign, key=f"week {week} of campaign {campaign}")


def main(ledger: b.Ledger) -> list[dict[str, int]]:
    """A month of reports, and one analyst who asks about the same days again and again: the blocks that end it."""
    blocks = BlockLedger.create(ledger, "ads", {"day": 28, "campaign": 50, "region": 12}, rho="1/50", unit="impression")
    for week in range(4):
        for campaign in range(50):
            weekly(blocks, week, campaign)
    for attempt in range(10):
        try:
            blocks.spend(REPORT, day=(5, 9), campaign=7, region=(0, 3), key=f"again {attempt}")
        except BlocksExhausted as refused:
            return refused.blocks
    return []


if __name__ == "__main__":
    with b.Ledger("memory://") as books:
        print(main(books))
        print(BlockLedger(books, "ads").worst(3))
