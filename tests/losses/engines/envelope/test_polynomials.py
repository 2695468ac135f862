"""The polynomials around the repeated hockey stick, against the hockey stick itself."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import arb

from bursar.losses.engines.envelope.polynomials import Polynomial, above, below, gap, through
from bursar.numerics.arrays import Array
from bursar.numerics.balls import working
from bursar.numerics.lattice import short


def repeated(y: Array, tau: float, period: float) -> Array:
    """G(y) = Σ g(y + nB) by its closed form on one period, in balls: in floats its two terms cancel at large tilts."""
    places = np.mod(y, period).tolist()
    with working(256):
        first, second = -1 / (-arb(tau) * period).expm1(), -1 / (-(arb(tau) + 1) * period).expm1()
        values = [first * (-arb(tau) * x).exp() - second * (-(arb(tau) + 1) * x).exp() for x in map(arb, places)]
    return np.array([float(value) for value in values])


def evaluated(polynomial: Polynomial, step: float, y: Array) -> tuple[Array, float]:
    """T at each place, and what its coefficients leave unsure."""
    twice = np.full(len(polynomial.values), 2.0)
    twice[0] = 1.0
    turns = np.exp(1j * np.multiply.outer(y, step * np.arange(len(twice))))
    return (turns @ (twice * polynomial.values)).real, float(twice @ polynomial.errors)


def check(seed: int) -> None:
    """Both keep to their side at many places, around the kink and between the places where they touch."""
    rng = random.Random(seed)
    tau, degree = math.exp(rng.uniform(math.log(1e-4), math.log(1e7))), rng.choice([1, 2, 3, 8, 50, 400])
    period = math.exp(rng.uniform(math.log(1.0), math.log(60.0))) / tau ** rng.choice([1.0, 0.6])
    step = short(2 * math.pi / period, 24)
    period = 2 * math.pi / step
    places = np.random.default_rng(seed)
    y = np.concatenate([places.uniform(0, period, 120), places.uniform(-1, 1, 80) * period / degree, [0.0]])
    truth = repeated(y, tau, period)
    for find, side in ((above, 1), (below, -1)):
        values, unsure = evaluated(find(tau, step, degree, degree), step, y)
        off = side * (values - truth)
        slack = unsure + 1e-13 * float(truth.max())
        assert float(off.min()) >= -slack, (seed, tau, period, degree, side)


def test_each_polynomial_keeps_to_its_side() -> None:
    """T⁻ ≤ G ≤ T⁺ everywhere, for tilts from 1e-4 to 1e7 and degrees from 0."""
    for seed in range(60):
        check(seed)


@pytest.mark.soak
def test_each_polynomial_keeps_to_its_side_often() -> None:
    """The same a thousand times."""
    for seed in range(1000, 2000):
        check(seed)


@pytest.mark.parametrize(("tau", "period", "degree"), [(1.0, 12.0, 200), (0.05, 300.0, 900), (40.0, 2.0, 64)])
def test_the_gap_is_that_of_the_means(tau: float, period: float, degree: int) -> None:
    """What the choice of h goes by is the difference of the means, relative to the mean of G."""
    step = short(2 * math.pi / period, 24)
    period = 2 * math.pi / step
    difference = float((above(tau, step, degree, 1).values[0] - below(tau, step, degree, 1).values[0]).real)
    assert difference * period * tau * (tau + 1) == pytest.approx(gap(tau, period / degree), rel=1e-3)


@pytest.mark.parametrize("seed", range(30))
def test_no_coefficient_is_larger_than_it_says(seed: int) -> None:
    """The first few coefficients are those of the whole, and the bound for the others holds for all of them."""
    rng = random.Random(f"coefficients {seed}")
    tau, degree = math.exp(rng.uniform(math.log(1e-6), math.log(1e4))), rng.choice([2, 9, 300])
    step = short(2 * math.pi * tau ** rng.choice([1.0, 0.6]) / rng.uniform(1, 60), 24)
    for find in (above, below):
        whole, some = find(tau, step, degree, degree), find(tau, step, degree, 2)
        assert np.array_equal(whole.values[:2], some.values)
        assert float(np.abs(whole.values).max()) <= some.largest


@pytest.mark.parametrize("theta", [0.0, 0.3, 0.99])
def test_on_a_comb_the_polynomial_meets_the_hockey_stick(theta: float) -> None:
    """At every tooth it has the value of G, whatever it does between them."""
    tau, width, degree = 0.7, 1.3, 41
    half = through(tau, width, theta * width, degree).values
    n = np.arange(degree)
    turns = np.exp(2j * math.pi * np.multiply.outer(n, np.arange(len(half))) / degree)
    twice = np.full(len(half), 2.0)
    twice[0] = 1.0
    found = (turns @ (twice * half)).real
    assert found == pytest.approx(repeated(theta * width + n * width, tau, degree * width), rel=1e-11)
