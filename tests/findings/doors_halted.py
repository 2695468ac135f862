"""`show` of a halted ledger did not say that it is halted."""

from __future__ import annotations

import os

from shared import bursar, judged

import bursar as b


def main() -> tuple[bool, str]:
    """An older copy in the place of the ledger: all scopes, one scope, and as JSON."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup("old.db")
        ledger.spend("data", "laplace(scale=10)")
    os.replace("old.db", "budget.db")
    charge = bursar("ledger", "spend", "data", "laplace(scale=10)").returncode
    assert charge != 0
    shown = [bursar("ledger", "show", *more) for more in ([], ["data"], ["data", "--json"])]
    words = ["HALTED" in (one.stdout + one.stderr) or '"halted": "' in one.stdout for one in shown]
    return all(words), f"of three ways to show it {sum(words)} say that it is halted"


if __name__ == "__main__":
    judged(main)
