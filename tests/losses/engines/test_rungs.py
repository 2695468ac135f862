"""Noise that hardly ever moves an output: the chances of its sums, against sums over all outputs with many digits."""

from __future__ import annotations

import mpmath
import pytest
from flint import arb

from bursar.losses import DiscreteGaussianLoss
from bursar.numerics.balls import working

Steps = dict[int, mpmath.mpf]
REACH = 9


def steps(sigma: str, count: int) -> Steps:
    """The chance of each sum of so many outputs, by convolution."""
    s = mpmath.mpf(sigma) ** 2
    one = {y: mpmath.exp(-mpmath.mpf(y * y) / (2 * s)) for y in range(-REACH, REACH + 1)}
    norm = mpmath.fsum(one.values())
    total: Steps = {0: mpmath.mpf(1)}
    for _ in range(count):
        new: Steps = {}
        for x, p in total.items():
            for y, q in one.items():
                new[x + y] = new.get(x + y, mpmath.mpf(0)) + p * q / norm
        total = new
    return total


@pytest.mark.parametrize(("sigma", "count"), [("0.15", 5), ("0.1", 12), ("0.05", 3)])
def test_chances_of_rungs(sigma: str, count: int) -> None:
    """Every rung's chance lies between its bounds, which are close together."""
    with mpmath.workdps(400), working():
        exact = steps(sigma, count)
        ladder = DiscreteGaussianLoss(arb(sigma) ** 2, 3).rungs(count, 60.0)
        assert ladder is not None
        for n, rung in enumerate(ladder.rungs):
            log = mpmath.log(exact[n])
            assert mpmath.mpf(str(rung.least.lower().str(100, radius=False))) <= log + mpmath.mpf("1e-35")
            assert log <= mpmath.mpf(str(rung.most.upper().str(100, radius=False))) + mpmath.mpf("1e-35")
        beyond = mpmath.fsum(p for x, p in exact.items() if x >= len(ladder.rungs))
        assert beyond <= mpmath.mpf(str(ladder.beyond.str(100, radius=False))) * (1 + mpmath.mpf("1e-30"))
