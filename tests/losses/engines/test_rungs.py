"""Noise that hardly ever moves an output, against sums over all outputs with many digits."""

from __future__ import annotations

import mpmath
import pytest
from flint import arb

import bursar as b
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


def brute(sigma: str, shift: int, count: int, epsilon: str, answers: int, delta: str) -> mpmath.mpf:
    """ε at δ of discrete Gaussians and randomized responses, by all outcomes and halving."""
    s, e = mpmath.mpf(sigma) ** 2, mpmath.mpf(epsilon)
    lie = 1 / (1 + mpmath.exp(e))
    law = [
        (count * shift**2 / (2 * s) + n * shift / s + (answers - 2 * j) * e, p * chance)
        for n, p in steps(sigma, count).items()
        for j in range(answers + 1)
        for chance in [mpmath.binomial(answers, j) * lie**j * (1 - lie) ** (answers - j)]
    ]
    low, high = mpmath.mpf(0), max(loss for loss, _ in law)
    for _ in range(200):
        x = (low + high) / 2
        value = mpmath.fsum(p * (1 - mpmath.exp(x - loss)) for loss, p in law if loss > x)
        low, high = (x, high) if value > mpmath.mpf(delta) else (low, x)
    return high


@pytest.mark.parametrize("delta", ["1e-3", "1e-12", "1e-25", "1e-60"])
@pytest.mark.parametrize("answers", [0, 6])
def test_rungs_are_enclosed(delta: str, answers: int) -> None:
    """Alone and beside other losses, small noise costs what all its outcomes say, to a millionth."""
    with mpmath.workdps(400):
        truth = brute("0.12", 2, 4, "0.7", answers, delta)
        what = b.DiscreteGaussian("0.12", sensitivity=2) * 4
        what = what + b.RandomizedResponse("0.7") * answers if answers else what
        found = b.account(what, delta=delta, theorems=["numerical"]).bound
        assert mpmath.mpf(found.lower) <= truth <= mpmath.mpf(found.upper)
    assert found.upper - found.lower <= 1e-6 * found.upper
