"""prv_accountant's and riskcal's questions, put to bursar in their own shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

import bursar as b

prv = pytest.importorskip("prv_accountant")
riskcal = pytest.importorskip("riskcal")
pytestmark = pytest.mark.filterwarnings("ignore")


class PrvShaped:
    """`compute_epsilon` and `compute_delta` as (lower, estimate, upper), like prv_accountant's."""

    def __init__(self, what: b.Composition) -> None:
        self._what = what

    def compute_epsilon(self, delta: float) -> tuple[float, float, float]:
        """Both ends, and their middle."""
        found = b.account(self._what, delta=delta).epsilon
        return found.lower, (found.lower + found.upper) / 2, found.upper

    def compute_delta(self, epsilon: float) -> tuple[float, float, float]:
        """Both ends, and their middle."""
        found = b.account(self._what, epsilon=epsilon).delta
        return found.lower, (found.lower + found.upper) / 2, found.upper


def analytic(mu: float, epsilon: float) -> float:
    """δ of a Gaussian pair."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_gaussians_are_sandwiched(count: int, epsilon: float) -> None:
    """The analytic value lies between the ends, as their suite asks of theirs."""
    sigma = 2 * math.sqrt(count)
    lower, middle, upper = PrvShaped(b.Gaussian(sigma) * count).compute_delta(epsilon)
    truth = analytic(math.sqrt(count) / sigma, epsilon)
    assert lower * (1 - 1e-9) <= truth <= upper * (1 + 1e-9)
    assert lower <= middle <= upper


@pytest.mark.parametrize(("rate", "sigma", "count"), [(0.01, 0.8, 1000), (0.1, 2.0, 100), (0.001, 0.6, 5000)])
def test_sampled_gaussians_lie_within_theirs(rate: float, sigma: float, count: int) -> None:
    """Their interval contains ours, up to the errors that they allow themselves."""
    theirs = prv.PRVAccountant(
        prvs=[prv.PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)],
        max_self_compositions=[count],
        eps_error=0.01,
        delta_error=1e-10,
    )
    low, _, high = theirs.compute_epsilon(delta=1e-6, num_self_compositions=[count])
    lower, _, upper = PrvShaped(b.PoissonSampled(b.Gaussian(sigma), rate) * count).compute_epsilon(1e-6)
    assert low <= upper
    assert lower <= high
    assert upper - lower <= 1e-5 * upper


class RiskcalShaped:
    """Advantage and the error rates of the best attack, like riskcal's."""

    def __init__(self, what: b.Composition) -> None:
        self._curve = b.profile(what)

    def get_advantage(self) -> float:
        """Total variation, at most."""
        return float(self._curve.advantage().upper)

    def get_beta(self, alpha: float) -> float:
        """The false-negative rate at a false-positive rate, at least."""
        return 1 - float(self._curve.true_positive_rate(alpha).upper)


def test_a_gaussian_to_an_attacker() -> None:
    """Advantage and trade-off of a μ-GDP mechanism have closed forms, which riskcal's suite uses too."""
    shaped = RiskcalShaped(b.Gaussian(1) * 1)
    assert shaped.get_advantage() == pytest.approx(2 * norm.cdf(0.5) - 1, abs=1e-6)
    for alpha in np.linspace(0.05, 0.95, 7).tolist():
        truth = float(norm.cdf(norm.ppf(1 - alpha) - 1))
        assert shaped.get_beta(alpha) <= truth + 1e-12
        assert shaped.get_beta(alpha) == pytest.approx(truth, abs=5e-3)
