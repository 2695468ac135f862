"""A program that charges blocks and prints the keys that were admitted; it can kill itself at a named point.

python block_clients.py URL NUMBER CHARGES POINT
"""

from __future__ import annotations

import os
import random
import signal
import sys
from typing import Any

import bursar as b
from bursar.cohorts import BlockLedger, BlocksExhausted
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite.rows import Write


def die_at(point: str, ledger: Ledger) -> None:
    """Kill this process when it gets there."""

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if point == "after the commit":
        ledger.store.settled = die  # type: ignore[method-assign]
    elif point == "after the tiles":
        Write.flush = die  # type: ignore[method-assign]
    elif point == "between two tiles":
        written = Write.set_counters

        def half(self: Write, scope: str, line: str, rows: Any) -> None:
            written(self, scope, line, rows[:1])
            die()

        Write.set_counters = half  # type: ignore[method-assign]
    elif point == "between whole tiles and others":
        Write.set_counters = die  # type: ignore[method-assign]


def main(url: str, number: str, charges: str, point: str) -> None:
    """Charge a tenth of the limit to boxes that overlap with those of others."""
    chance = random.Random(int(number))
    with Ledger(url, alert=None) as ledger:
        blocks = BlockLedger(ledger, "ads")
        days = blocks.dimensions[0][1]
        for count in range(int(charges)):
            if count == 2:
                die_at(point, ledger)
            first = chance.randrange(days - 3)
            try:
                blocks.spend(b.Declared(b.ZCDP(rho="1/10")), day=(first, first + 3), key=f"{number}-{count}")
                print(f"{number}-{count}", flush=True)
            except BlocksExhausted:
                pass


if __name__ == "__main__":
    main(*sys.argv[1:])
