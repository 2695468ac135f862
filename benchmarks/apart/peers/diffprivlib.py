"""diffprivlib: a budget accountant that knows (ε, δ) alone."""

from __future__ import annotations

from collections.abc import Iterator

from said import Row, asked, say

import bursar as b

REQUIRES = ["diffprivlib", "scikit-learn<1.6"]  # newer ones lack what it imports
DELTA = 1e-6


def theirs(epsilon: float, count: int) -> str:
    """The total of so many releases, by the best of its three formulas."""
    from diffprivlib import BudgetAccountant

    accountant = BudgetAccountant(slack=DELTA)
    for _ in range(count):
        accountant.spend(epsilon, 0)
    return f"{float(accountant.total()[0]):.7g}"


def rows() -> Iterator[Row]:
    """Equal pure promises."""
    for epsilon, count in ((0.1, 100), (0.01, 1000)):
        yield asked(
            f"{count} releases of ε = {epsilon:g}, δ = {DELTA:g}",
            lambda e=epsilon, n=count: b.account(b.Declared(b.PureDP(e)) * n, delta=DELTA).epsilon,
            lambda e=epsilon, n=count: theirs(e, n),
        )


if __name__ == "__main__":
    say(rows())
