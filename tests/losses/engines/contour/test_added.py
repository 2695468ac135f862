"""Adding a record, bounded in closed form: against integrals in balls and against the contour engine."""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines.contour import added
from bursar.losses.engines.contour.factors import NoContour, uniform_decay
from bursar.losses.engines.contour.sampled_cut import rough_variance
from bursar.losses.engines.contour.sampled_factor import without_record
from bursar.losses.engines.contour.solve import at_most, delta_at, epsilon_at
from bursar.numerics.balls import ball, up, working

TRAINING = [("0.01", "1", 10_000), ("0.001", "0.8", 100_000), ("0.004267", "1.1", 14_040)]


@pytest.mark.parametrize("seed", range(3))
def test_four_moments_bound_the_cumulant(seed: int) -> None:
    """Over a wide range of σ, q and tilts the bound lies above the integral in balls, and never above two moments'."""
    rng = random.Random(seed)
    with working():
        for _ in range(12):
            sigma, rate = ball(rng.uniform(0.4, 6.0)), ball(10 ** rng.uniform(-4, -0.4))
            tilt = 10 ** rng.uniform(-1, 1.6)
            bound = added.by_four_moments(sigma, rate, tilt)
            law = b.PoissonSampled(b.Gaussian(repr(float(sigma))), repr(float(rate))).losses().add
            assert not law.cumulant(tilt).real > bound + arb("1e-18")
            assert bound <= without_record((sigma, rate), tilt)


def test_the_third_moment_pays() -> None:
    """In a training the bound loses less than a quarter of what two moments lose."""
    with working():
        for rate, sigma, steps in TRAINING:
            law = b.PoissonSampled(b.Gaussian(sigma), rate).losses().add
            exact = law.cumulant(4.0).real
            four, two = added.by_four_moments(arb(sigma), arb(rate), 4.0), without_record((arb(sigma), arb(rate)), 4.0)
            assert four - exact < (two - exact) / 4, steps


@pytest.mark.parametrize(("rate", "sigma", "steps"), TRAINING)
def test_trainings_are_told_without_nodes(rate: str, sigma: str, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the ε that removing a record costs, adding one is seen to cost less in closed form."""
    with working():
        pair = b.PoissonSampled(b.Gaussian(sigma), rate).losses()
        epsilon = epsilon_at([(pair.remove, steps)], arb("1e-6")).upper
        monkeypatch.setattr("bursar.losses.engines.contour.solve.factors_of", None)
        assert at_most([(pair.add, steps)], epsilon, arb("1e-6"), 5.0)


@pytest.mark.parametrize("seed", range(3))
def test_no_truth_is_denied(seed: int) -> None:
    """Whatever the parameters, δ is never said to be at most what it provably exceeds."""
    rng = random.Random(10 + seed)
    said = compared = 0
    with working():
        for _ in range(30):
            sigma, rate = repr(round(rng.uniform(0.45, 4.0), 4)), repr(round(10 ** rng.uniform(-3.5, -0.35), 6))
            steps = int(10 ** rng.uniform(1, 5))
            law = b.PoissonSampled(b.Gaussian(sigma), rate).losses().add
            variance = rough_variance(float(sigma), float(rate), steps)
            epsilon = variance / 2 + rng.uniform(1, 9) * variance**0.5
            with suppress(NoContour, ArithmeticError):
                least = arb(delta_at([(law, steps)], arb(epsilon)).lower)
                assert not added.at_most(law.sigma, law.rate, steps, epsilon, least * arb("0.9999"))
                said += added.at_most(law.sigma, law.rate, steps, epsilon, 20 * least)
                compared += 1
    assert compared > 15
    assert said > 5


@pytest.mark.parametrize(("rate", "sigma", "steps"), [*TRAINING, ("0.3", "0.6", 50), ("0.02", "5", 10**6)])
def test_pieces_lie_below_the_tilted_density(rate: str, sigma: str, steps: int) -> None:
    """Their shares stay below 1, and no modulus of the characteristic function exceeds what they say of it."""
    with working():
        pair = b.PoissonSampled(b.Gaussian(sigma), rate).losses()
        factor = pair.add.contour_factor(steps, -14.0)
        spread = factor.rough_variance() ** 0.5
        for tilt in (1.0, 2 / spread + 1, 5 / spread + 1):
            most = up(added.by_four_moments(arb(sigma), arb(rate), tilt))
            pieces = added._pieces(float(sigma), float(rate), tilt, most)
            assert 0.1 < float(pieces[:, 0].sum()) < 1
            frequencies = np.arange(40) * (0.25 / spread)
            sizes = factor.moments(tilt, frequencies)
            bound = uniform_decay([pieces], steps)(frequencies)
            assert np.all(sizes.log_size - sizes.error <= bound + 1e-12)
