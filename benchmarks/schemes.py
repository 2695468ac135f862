"""What a ledger's price of each sampling scheme costs: the first time, again, and on a scope with another limit."""

from __future__ import annotations

import time

import bursar as b
from bursar.losses.engines.allocation.sides import forget

_KINDS = {
    "allocated(gaussian(sigma=1), steps=1000)": "add_remove",
    "truncated_poisson(gaussian(sigma=1), rate=0.01, most=15, population=1000)": "add_remove",
    "gaussian_mixture(sigma=1, shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01])": "add_remove",
    "fixed_size(gaussian(sigma=1, relation=replace_one), sample=10, population=1000)": "replace_one",
    "fixed_size(gaussian(sigma=1, relation=zero_out), sample=10, population=1000)": "zero_out",
    "shuffled(gaussian(sigma=1, relation=zero_out), steps=1000)": "zero_out",
    "allocated(gaussian(sigma=1, relation=replace_one), steps=1000)": "replace_one",
}


def prices() -> list[str]:
    """Processor time of charges to scopes in memory; asked are 50 ms once the curve is known."""
    rows = ["| release | first time | again | another limit | asked |", "|---|---|---|---|---|"]
    for text, relation in _KINDS.items():
        forget()
        times = []
        with b.Ledger("memory://") as ledger:
            for name, limit in (("first", 50), ("second", 20)):
                ledger.open(name, epsilon=limit, delta="1e-5", relation=relation)
            for name in ("first", "first", "second"):
                begun = time.process_time()
                ledger.spend(name, b.parse(text))
                times.append(1e3 * (time.process_time() - begun))
        rows.append(f"| {text} | {times[0]:.0f} ms | {times[1]:.1f} ms | {times[2]:.1f} ms | 50 ms |")
    return rows
