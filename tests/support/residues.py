"""The inequality behind every charge on a Gaussian allowance, in balls."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from bursar.guarantees.gdp import gaussian_delta
from bursar.numerics.balls import ball


def excess(losses: list[tuple[arb, arb]], before: Fraction, after: Fraction, x: float) -> arb:
    """Σ p·δ_{B′}(x − l) − δ_B(x) in balls."""
    big, small = ball(before).sqrt(), ball(after).sqrt()
    left = sum((mass * gaussian_delta(small, arb(x) - loss) for loss, mass in losses), arb(0))
    return left - gaussian_delta(big, arb(x))
