"""PLD-accounting: random allocation by convolution of discretised laws, both ends (Feldman and Shenfeld 2026)."""

from __future__ import annotations

from collections.abc import Iterator

from said import Row, asked, say

import bursar as b
from bursar.losses.allocation.sides import forget
from bursar.theorems import Bound

REQUIRES = ["PLD-accounting"]
DELTA = 1e-6
CASES = [(1.0, 10, 1), (1.0, 100, 1), (0.5, 100, 1), (1.0, 10, 10), (1.0, 1000, 1), (1.0, 100, 10)]


def theirs(sigma: float, steps: int, epochs: int) -> str:
    """Their interval, as narrow as they like it."""
    from PLD_accounting import gaussian_allocation_epsilon_range

    upper, lower = gaussian_allocation_epsilon_range(delta=DELTA, sigma=sigma, num_steps=steps, num_epochs=epochs)
    return f"[{lower:.6g}, {upper:.6g}]"


def ours(sigma: float, steps: int, epochs: int) -> Bound:
    """Our interval, with nothing remembered."""
    forget()
    return b.account(b.Allocated(b.Gaussian(sigma), steps=steps) * epochs, delta=DELTA).epsilon


def rows() -> Iterator[Row]:
    """One step of so many, some epochs with fresh draws."""
    for case in CASES:
        sigma, steps, epochs = case
        question = f"random allocation, one of {steps} steps, σ = {sigma:g}, {epochs} epochs, δ = {DELTA:g}"
        yield asked(question, lambda case=case: ours(*case), lambda case=case: theirs(*case))


if __name__ == "__main__":
    say(rows())
