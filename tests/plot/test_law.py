"""The law that a picture draws is the law: against closed forms, and against the laws' own distribution functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bursar as b
from bursar.plot._law import TotalLaw, total


def law_of(what: str, side: str = "remove") -> TotalLaw:
    """The drawn law of a composition, in one direction."""
    return total([(getattr(mechanism.losses(), side), count) for mechanism, count in b.parse(what).terms])


def mass(law: TotalLaw) -> float:
    """Everything that is drawn, and what is at infinity."""
    step = law.x[1] - law.x[0] if len(law.x) else 0.0
    return float(law.density.sum() * step + law.masses.sum() + law.infinite)


@pytest.mark.parametrize("count", [1, 50, 100_000])
def test_gaussians_are_normal(count: int) -> None:
    """n Gaussian losses are one normal law, at every place that is drawn."""
    law = law_of(f"gaussian(sigma=20)*{count}")
    variance = count / 400
    exact = np.exp(-((law.x - variance / 2) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    assert np.max(np.abs(law.density - exact)) < 3e-3 * exact.max()
    assert not len(law.places)


def test_randomized_responses_are_binomial() -> None:
    """k responses are k + 1 stems with the binomial's probabilities."""
    law = law_of("randomized_response(epsilon=1)*10")
    truth = math.e / (1 + math.e)
    order = np.argsort(law.places)
    assert law.places[order] == pytest.approx([2 * i - 10 for i in range(11)])
    exact = [math.comb(10, i) * truth**i * (1 - truth) ** (10 - i) for i in range(11)]
    assert law.masses[order] == pytest.approx(exact)
    assert not len(law.x)


def test_two_laplaces() -> None:
    """Two Laplace losses: the atoms at the ends and in the middle, and between them the density by hand.

    With ε = 1 the loss is 1 with probability 1/2, −1 with probability e⁻¹/2, and else has density e^{(x−1)/2}/4: the
    sum has twice the density of an atom with a continuous part, and that of two continuous parts.
    """
    law = law_of("laplace(scale=1)*2")
    order = np.argsort(law.places)
    assert law.places[order] == pytest.approx([-2, 0, 2])
    assert law.masses[order] == pytest.approx([math.exp(-2) / 4, math.exp(-1) / 2, 1 / 4])
    for x in (-1.5, -0.5, 0.5, 1.5):
        atom = math.exp(-1) / 2 if x < 0 else 1 / 2
        single = math.exp((x + 1 - 1 if x < 0 else x - 1 - 1) / 2) / 4
        exact = 2 * atom * single + math.exp(x / 2 - 1) / 16 * (2 - abs(x))
        assert np.interp(x, law.x, law.density) == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize(
    "what",
    [
        "laplace(scale=2)*5",
        "poisson(gaussian(sigma=1), rate=0.1)*20",
        "gaussian(sigma=3)*2 + laplace(scale=4)*3",
        "discrete_gaussian(sigma=2)*3",
        "name_and_shame(delta=0.01)*5",
        "exponential(epsilon=0.5)*2",
        "gaussian(sigma=20)*10_000_000_000",
    ],
)
@pytest.mark.parametrize("side", ["remove", "add"])
def test_nothing_is_lost(what: str, side: str) -> None:
    """All of the probability is drawn, and the mean is the sum of the laws' own means."""
    law = law_of(what, side)
    assert mass(law) == pytest.approx(1, abs=1e-3)
    means = [float(getattr(m.losses(), side).mean()) * count for m, count in b.parse(what).terms]
    if not law.infinite:
        assert law.mean == pytest.approx(sum(means), rel=5e-3)


def test_a_single_release_follows_its_distribution_function() -> None:
    """Sampled in both directions, with different laws: the drawn mass up to a place is the law's own."""
    for side in ("remove", "add"):
        law = law_of("poisson(gaussian(sigma=1), rate=0.2)", side)
        own = getattr(b.parse("poisson(gaussian(sigma=1), rate=0.2)").terms[0].mechanism.losses(), side)
        step = law.x[1] - law.x[0]
        for x in (-0.15, 0.0, 0.2, 0.6):
            drawn = np.interp(x, law.x + step / 2, np.cumsum(law.density) * step)
            assert drawn == pytest.approx(float(own.cdf(x)), abs=1e-3)


def test_what_takes_too_long_is_said() -> None:
    """A law whose every point takes a second is refused in a sentence, and account is named."""
    with pytest.raises(b.InputError, match=r"takes too long to draw: account\(\)"):
        b.plot.loss_figure("allocated(gaussian(sigma=1), steps=20)")
    with pytest.raises(b.InputError, match="nothing is released"):
        b.plot.loss_figure("nothing")
