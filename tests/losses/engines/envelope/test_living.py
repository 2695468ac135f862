"""From which frequency on moments are as good as nothing: every one of them, looked at, is."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines.contour.factors import DEAD, GaussianFactor
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.living import live
from bursar.losses.engines.envelope.spectrum import weighed

LAWS = [
    "poisson(laplace(scale=0.05771), rate=0.3744)",
    "poisson(laplace(scale=0.02153), rate=4.818e-03)",
    "poisson(gaussian(sigma=0.06), rate=0.05412)",
    "laplace(scale=3)",
    "randomized_response(epsilon=1)",
    "poisson(discrete_gaussian(sigma=0.3, sensitivity=5), rate=0.3)",
]


@pytest.mark.parametrize("text", LAWS)
@pytest.mark.parametrize("copies", [40, 3_000, 10**7])
def test_no_moment_beyond_matters(text: str, copies: int) -> None:
    """At the last live frequency and everywhere beyond all copies' moment is below e^{−80}, by plain sums."""
    loss = b.parse(text).terms[0].mechanism.losses().remove
    factor = PointsFactor(loss.lattice_law(60.0), copies, arb(0))
    variance = factor.rough(0.01)[2] / copies
    rng = random.Random(f"{text} {copies}")
    for reach in (0.5, 30.0, 3000.0):
        count, step = 20_000, reach / np.sqrt(variance) / 20_000
        alive = factor.live(0.01, float(step), count)
        law = factor.weighed(0.01, float(step) * count)
        beyond = sorted(
            {alive, count - 1, *(rng.randrange(alive, count) for _ in range(60))} if alive < count else set()
        )
        for j in beyond:
            if j < count:
                size = abs(np.exp(1j * j * step * law.places) @ law.weights)
                assert copies * np.log(max(size, 1e-300)) <= DEAD


def test_few_of_many_moments_are_live() -> None:
    """With very many copies of a law that varies, some dozens of a hundred thousand frequencies are left."""
    loss = b.parse("poisson(laplace(scale=0.05771), rate=0.3744)").terms[0].mechanism.losses().remove
    factor = PointsFactor(loss.lattice_law(60.0), 10**8, arb(0))
    assert factor.live(1e-4, 1e-6, 100_000) < 1000


def test_two_equal_atoms_come_back() -> None:
    """A law on a lattice has moments of size 1 again and again: nothing beyond them is called dead."""
    law = weighed(np.array([0.0, 1.0]), np.zeros(2), np.log([0.5, 0.5]), np.zeros(2), 0.0)
    step, count = 1e-3, 20_000  # 20 is beyond 3 turns of 2π
    assert live(law, 10**6, step, count) * step >= 6 * np.pi


def test_gaussian_moments_die_by_their_formula() -> None:
    """The first frequency that is left out has at most e^{−80}."""
    factor = GaussianFactor(arb(4))
    alive = factor.live(0.3, 0.001, 10**6)
    assert -0.5 * 4 * (alive * 0.001) ** 2 <= DEAD < -0.5 * 4 * ((alive - 20) * 0.001) ** 2
