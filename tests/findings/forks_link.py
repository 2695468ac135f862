"""A stale copy opened through a symbolic link found no anchor: 190 of 100 were admitted."""

from __future__ import annotations

import os
from pathlib import Path

from shared import judged

import bursar as b


def spent(path: str, most: int) -> tuple[int, str]:
    """How many charges of 1/100 are admitted, and what the next one is told."""
    with b.Ledger(f"sqlite:///{path}", alert=None) as ledger:
        for number in range(most):
            try:
                ledger.spend("data", "laplace(scale=100)")
            except b.BursarError as refused:
                return number, type(refused).__name__
    return most, "nothing"


def main() -> tuple[bool, str]:
    """95 on the file, a backup in its place, 95 through the link; and the other way round."""
    found, worst = [], 0
    for name, ways in (("after", ("real/after.db", "after.db")), ("before", ("before.db", "real/before.db"))):
        Path("real").mkdir(exist_ok=True)
        real = f"real/{name}.db"
        with b.Ledger(f"sqlite:///{real}", alert=None) as ledger:
            ledger.open("data", epsilon=1)
            ledger.backup("copy.db")
        os.symlink(real, f"{name}.db")
        first, _ = spent(ways[0], 95)
        os.replace("copy.db", real)
        second, said = spent(ways[1], 95)
        worst = max(worst, first + second)
        found.append(f"through the link {name} that: {first} + {second} of 100 admitted, then: {said}")
    return worst <= 100, "; ".join(found)


if __name__ == "__main__":
    judged(main)
