"""What a ledger's price of each sampling scheme costs: the first time, again, and on scopes of other limits."""

from __future__ import annotations

import time

import bursar as b
from bursar.losses.allocation.sides import forget

_KINDS = {
    "allocated(gaussian(sigma=1), steps=1000)": "add_remove",
    "allocated(gaussian(sigma=1), steps=100000)": "add_remove",
    "allocated(gaussian(sigma=1), steps=1000, times=10)": "add_remove",
    "truncated_poisson(gaussian(sigma=1), rate=0.01, most=15, population=1000)": "add_remove",
    "gaussian_mixture(sigma=1, shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01])": "add_remove",
    "fixed_size(gaussian(sigma=1, relation=replace_one), sample=10, population=1000)": "replace_one",
    "fixed_size(gaussian(sigma=1, relation=zero_out), sample=10, population=1000)": "zero_out",
    "with_replacement(gaussian(sigma=1, relation=replace_one), draws=10, population=1000)": "replace_one",
    "truncated_poisson(gaussian(sigma=1, relation=zero_out), rate=0.01, most=15, population=1000)": "zero_out",
    "truncated_poisson(gaussian(sigma=1, relation=replace_one), rate=0.01, most=15, population=1000)": "replace_one",
    "shuffled(gaussian(sigma=1, relation=zero_out), steps=1000)": "zero_out",
    "allocated(gaussian(sigma=1, relation=replace_one), steps=1000)": "replace_one",
}


_SCOPES = {"first": ("50", "1e-5"), "limit": ("20", "1e-5"), "delta": ("50", "1e-7")}
"""ε and δ of each scope. The law behind a price depends on δ, so that a scope with another one looks for it anew."""


def prices() -> list[str]:
    """Processor time of charges to scopes in memory; asked are 50 ms once the curve is known."""
    told = [f"ε = {epsilon}, δ = {delta}" for epsilon, delta in _SCOPES.values()]
    heads = ("release", f"first time, {told[0]}", "again", f"then {told[1]}", f"then {told[2]}", "asked")
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for text, relation in _KINDS.items():
        forget()
        times = []
        with b.Ledger("memory://", alert=None) as ledger:
            for name, (epsilon, delta) in _SCOPES.items():
                ledger.open(name, epsilon=epsilon, delta=delta, relation=relation)
            for name in ("first", "first", "limit", "delta"):
                begun = time.process_time()
                ledger.spend(name, b.parse(text))
                times.append(f"{1e3 * (time.process_time() - begun):.1f} ms")
        rows.append(f"| {text} | {' | '.join(times)} | 50 ms |")
    return rows
