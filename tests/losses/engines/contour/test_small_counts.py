"""The contour engine where losses have two scales: few steps, most of them near 0, a few far away."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import acb, arb, ctx

import bursar as b
from bursar.losses.engines.chernoff import delta_at_most
from bursar.losses.engines.contour.factors import Care, NoContour
from bursar.losses.engines.contour.sampled_factor import without_record
from bursar.losses.engines.contour.scales import two_scales
from bursar.losses.engines.contour.solve import at_most, delta_at, epsilon_at
from bursar.numerics.balls import working
from support import oracle

SETTINGS = [("1", "0.01"), ("0.8", "0.001"), ("1.1", "0.00426666")]


def settles(sigma: str, rate: str, count: int, delta: str, beside: str | None = None) -> str:
    """ε of the removed direction against an independent evaluation that takes the tilt and the period its own way."""
    pairs = [(b.PoissonSampled(b.Gaussian(sigma), rate).losses(), count)]
    pairs += [(b.Gaussian(beside).losses(), 1)] if beside else []
    log_delta = math.log(float(delta))
    with working():
        factors = [pair.remove.contour_factor(k, log_delta) for pair, k in pairs]
        heavy = two_scales(factors, log_delta)
        if heavy == math.inf:
            return "one scale"
        try:
            found = epsilon_at([(pair.remove, k) for pair, k in pairs], arb(delta))
        except (NoContour, ArithmeticError):
            return "not served"
    if found.upper == 0 or found.nodes > 200:
        return "not compared"
    with ctx.workprec(128):
        parts = [(oracle.Sampled(arb(sigma), arb(rate), count, log_delta, removed=True), count)]
        parts += [(oracle.Gauss(1 / arb(beside)), 1)] if beside else []

        def at(epsilon: float, tilt: float) -> arb:
            period = 1.2 * (26 - log_delta) / tilt
            return oracle.delta(parts, arb(epsilon), tilt, period * 0.9 / (2 * math.pi * 9), small="1e-13")

        upper, lower, other = (
            at(epsilon, tilt * heavy) for epsilon, tilt in ((found.upper, 0.4), (found.lower, 0.4), (found.upper, 0.35))
        )
    slack = arb("1e-10")
    if not abs(upper - other) < abs(other) * slack:
        return "oracle unsure"
    assert upper < arb(delta) * (1 + slack), (sigma, rate, count, delta, beside, found)
    assert lower > arb(delta) * (1 - slack), (sigma, rate, count, delta, beside, found)
    return "compared" if found.width <= 1e-6 else "wide"


def _few(sigma: float, rate: float, depth: float, less: float) -> int:
    """So many steps that a Gaussian with their variance would be tilted to where far ones explode, or e^less fewer."""
    explodes, variance = 2 * sigma**2 * math.log(1 / rate), rate**2 * math.expm1(sigma**-2)
    return max(math.ceil(2 * depth / (explodes**2 * variance) * math.exp(-less)), 2)


def check_case(seed: int) -> str:
    """One random composition of two scales."""
    rng = random.Random(seed)
    sigma, rate = f"{rng.uniform(0.5, 2):.3f}", f"{math.exp(rng.uniform(-8, -2.5)):.2e}"
    depth = rng.uniform(5, 25)
    count, delta = _few(float(sigma), float(rate), depth, rng.uniform(0.1, 3.0)), f"{math.exp(-depth):.2e}"
    return settles(sigma, rate, count, delta, f"{rng.uniform(3, 60):.2f}" if rng.random() < 0.25 else None)


@pytest.mark.parametrize("count", [10**3, 3 * 10**3])
@pytest.mark.parametrize(("sigma", "rate"), SETTINGS)
def test_usual_settings_at_small_counts(sigma: str, rate: str, count: int) -> None:
    """Both ends of ε lie on their sides of an independent value, a millionth apart at most."""
    assert settles(sigma, rate, count, "1e-6") in ("compared", "one scale")


def test_random_small_counts_agree_with_balls() -> None:
    """No end is on the wrong side of an independent value."""
    outcomes = [check_case(seed) for seed in range(12)]
    assert outcomes.count("compared") >= 8
    assert "wide" not in outcomes


@pytest.mark.soak
def test_many_random_small_counts_agree_with_balls() -> None:
    """The same over three hundred cases."""
    assert [check_case(seed) for seed in range(1000, 1300)].count("compared") >= 100


@pytest.mark.parametrize(("sigma", "rate"), SETTINGS)
def test_few_nodes_serve_small_counts(sigma: str, rate: str) -> None:
    """A thousand steps take about as many nodes as a billion: a hundred, not a thousand."""
    with working():
        found = epsilon_at([(b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove, 1000)], arb("1e-6"))
        again = delta_at([(b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove, 1000)], arb(found.upper))
    assert found.nodes <= 130
    assert again.lower <= 1e-6
    assert again.upper >= 1e-6 * (1 - 1e-6)


@pytest.mark.parametrize("care", list(Care))
@pytest.mark.parametrize(("sigma", "rate"), SETTINGS)
def test_decay_holds_far_out(sigma: str, rate: str, care: Care) -> None:
    """Up to sixty standard deviations in frequency no modulus exceeds the bound at any smaller frequency."""
    with working():
        factor = b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove.contour_factor(1000, math.log(1e-6))
        tau = 0.3 * factor.heavy
        scale = 1 / math.sqrt(factor.rough(tau)[2])
        places = np.geomspace(0.5, 60.0, 16) * scale
        bounds = factor.decay(tau, care)(places)
        truth = oracle.Sampled(arb(sigma), arb(rate), 1000, math.log(1e-6), removed=True)
        start = truth.log_moment(acb(tau)).real
        sizes = [float((1000 * (truth.log_moment(acb(tau, s)).real - start)).upper()) for s in places.tolist()]
    later = np.maximum.accumulate(np.array(sizes)[::-1])[::-1]
    assert np.all(later <= bounds + 1e-9)
    assert care is Care.LEAST or bounds[8] < 0.3 * sizes[8]


@pytest.mark.parametrize(("sigma", "rate"), SETTINGS)
def test_moments_far_out_are_enclosed(sigma: str, rate: str) -> None:
    """At a hundred equispaced frequencies the tables' products stay within their errors of flint's integrals."""
    with working():
        factor = b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove.contour_factor(1000, math.log(1e-6))
        tau = 0.2 * factor.heavy
        step = 0.1 / math.sqrt(factor.rough(tau)[2])
        found = factor.moments(tau, np.arange(100) * step)
        truth = oracle.Sampled(arb(sigma), arb(rate), 1000, math.log(1e-6), removed=True)
        start = truth.log_moment(acb(tau)).real
        for j in (0, 1, 2, 9, 10, 11, 37, 64, 89, 90, 98, 99):
            s = j * step
            exact = 1000 * (truth.log_moment(acb(tau, s)) - start)
            turned = (exact - acb(found.log_size[j], found.drift * s + arb(found.turn[j]))).exp() - 1
            assert abs(turned).lower() <= arb(found.error[j]).expm1() + 4 * factor.given_up + arb("1e-25")


@pytest.mark.parametrize("tilt", [0.1, 1.0, 10.0, 150.0])
@pytest.mark.parametrize(("sigma", "rate"), [*SETTINGS, ("0.5", "0.3")])
def test_cumulants_below_are_bounded(sigma: str, rate: str, tilt: float) -> None:
    """The closed bound of ln E[A^{−t}] is one, and near where t is small."""
    with working():
        exact = oracle.Sampled(arb(sigma), arb(rate), 1, -10.0, removed=False).log_moment(acb(tilt)).real
        bound = without_record((arb(sigma), arb(rate)), tilt)
    assert not bound < exact
    assert rate == "0.3" or tilt > 1 or bound < 1.1 * exact


def test_the_cheaper_direction_is_seen_without_a_sum() -> None:
    """Where far losses decide, a Chernoff bound shows that adding a record is cheaper; it stays above δ itself."""
    with working():
        added = [(b.PoissonSampled(b.Gaussian("0.8"), "0.001").losses().add, 1000)]
        assert delta_at_most(added, 0.46) < arb("1e-6")
        assert at_most(added, 0.46, arb("1e-6"), 1.0)
        for epsilon in (0.05, 0.1, 0.19):
            assert delta_at_most(added, epsilon) >= delta_at(added, arb(epsilon)).lower
        assert delta_at_most([(b.Gaussian(1).losses().add, 1)], 3.0) == 1
