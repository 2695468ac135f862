"""Samples of discrete Gaussians between samples of two Gaussians, against sums over all outputs."""

from __future__ import annotations

import random

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.losses._directions import symmetric
from bursar.losses.engines import simpler
from bursar.losses.engines.answer import Answer, Losses, Precision
from bursar.losses.laws import discrete_gaussian
from bursar.losses.laws.discrete_gaussian import DiscreteGaussianLoss
from bursar.losses.laws.laplace import LaplaceLoss
from bursar.losses.laws.sampled import SampledAdd, SampledRemove
from bursar.losses.twins import Twins
from bursar.numerics.balls import Ball, working


def exact_profile(square: int, shift: int, rate: mpmath.mpf, epsilon: mpmath.mpf, *, removed: bool) -> Ball:
    """δ(ε) of one sample by its definition."""
    reach, total = 120, mpmath.mpf(0)
    norm = sum(mpmath.exp(-mpmath.mpf(y * y) / (2 * square)) for y in range(-400, 401))
    for y in range(-reach, reach + 1):
        without = mpmath.exp(-mpmath.mpf(y * y) / (2 * square)) / norm
        within = mpmath.exp(-mpmath.mpf((y - shift) ** 2) / (2 * square)) / norm
        mixed = (1 - rate) * without + rate * within
        p, q = (mixed, without) if removed else (without, mixed)
        total += max(p - mpmath.exp(epsilon) * q, mpmath.mpf(0))
    return arb(mpmath.nstr(total, 50))


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("square", "shift", "rate"), [(30, 7, "0.3"), (50, 20, "0.02"), (12, 3, "0.9")])
def test_twins_enclose_a_sample(
    monkeypatch: pytest.MonkeyPatch, square: int, shift: int, rate: str, *, removed: bool
) -> None:
    """At every ε the profile of a sample lies between those of the two, up to the slack, however little is added."""
    monkeypatch.setattr(discrete_gaussian, "_MOST_ADDED", 1)
    rng, apart = random.Random(f"{square} {shift}"), 0.0
    with mpmath.workdps(60), working():
        base = symmetric(DiscreteGaussianLoss(arb(square), shift))
        law = (SampledRemove if removed else SampledAdd)(base, arb(rate))
        for added in (0.3, 1, 2):
            monkeypatch.setattr(discrete_gaussian, "_ADDED", added)
            twins = law.twins()
            assert twins is not None
            for _ in range(8):
                x = rng.uniform(-0.5, 1.5) * shift**2 / (2 * square) * float(rate)
                truth = exact_profile(square, shift, mpmath.mpf(rate), mpmath.mpf(x), removed=removed)
                low = (-twins.slack).exp() * twins.low.profile(arb(x) + 2 * twins.slack)
                high = twins.slack.exp() * twins.high.profile(arb(x) - 2 * twins.slack)
                assert low <= truth + arb("1e-40")
                assert truth <= high + arb("1e-40")
                apart = max(apart, float(high - low))
    assert apart > 1e-6


@pytest.mark.parametrize(("sigma", "sensitivity", "rate", "count"), [("2e4", 5000, "0.01", 300), ("1e9", 7, "0.3", 9)])
def test_samples_of_a_large_sigma_cost_what_gaussian_ones_cost(
    sigma: str, sensitivity: int, rate: str, count: int
) -> None:
    """The interval is narrow and meets that of the continuous noise, from which it differs by about 1/σ²."""
    discrete = b.PoissonSampled(b.DiscreteGaussian(sigma=sigma, sensitivity=sensitivity), rate) * count
    smooth = b.PoissonSampled(b.Gaussian(sigma=float(sigma) / sensitivity), rate) * count
    found, other = b.account(discrete, delta="1e-20").epsilon, b.account(smooth, delta="1e-20").epsilon
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-6)
    assert found.lower <= other.upper * (1 + 1e-9)
    assert other.lower <= found.upper * (1 + 1e-9)


def test_nothing_is_shown_to_cost_nothing() -> None:
    """Where δ covers even ε = 0, the slack does not turn 0 into more."""
    what = b.parse("poisson(discrete_gaussian(sigma=1e20), rate=1e-10)*5")
    found = b.account(what, delta="1e-20").epsilon
    assert (found.lower, found.upper) == (0, 0)


def test_ends_are_moved_by_the_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slack that is put in by hand reaches both ends, and both δ's that are asked at."""
    asked: list[Ball] = []

    def solve(losses: Losses, delta: Ball, precision: Precision) -> Answer:
        asked.append(delta)
        return Answer(1.0, 1.0, (), "contour", 1, 1.0)

    law = LaplaceLoss(arb(1))
    monkeypatch.setattr(LaplaceLoss, "twins", lambda self: Twins(law, LaplaceLoss(arb(2)), arb("0.01")))
    with working():
        found = simpler.epsilon_at([(law, 3)], arb("1e-1"), Precision(), solve)
        assert found is not None
        assert found.lower < 1 - 0.0599
        assert found.upper > 1 + 0.0599
        assert asked[0] > arb("0.103")
        assert asked[1] < arb("0.097")
