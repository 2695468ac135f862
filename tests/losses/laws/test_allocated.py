"""Random allocation: every value of the theory sheet, quadrature for two and three steps, and its own two sides."""

from __future__ import annotations

import itertools
import json
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy.special import ndtr

import bursar as b
from bursar.losses import AllocatedGaussian, allocated_gaussian
from bursar.losses.allocation.sides import sides
from bursar.losses.engines import lattice, meet
from bursar.losses.engines.answer import Precision
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import ball, down, up, working
from bursar.numerics.search import crossing
from support.where import GOLDEN

SHEET = {row["id"]: row for row in json.loads((GOLDEN / "allocation_values.json").read_text())}
DELTAS = [name for name in SHEET if re.match(r"T4\.t\d+\.(rem|add)\.", name)]
EPSILONS = [name for name in SHEET if name.startswith("R4.epsilon")]


def given(name: str) -> dict[str, str]:
    """The parameters of a row."""
    return dict(re.findall(r"(\w+)=(\S+)", SHEET[name]["parameters"]))


def direction(pair: b.losses.Directions, name: str) -> Any:
    """The law that a row speaks of."""
    return pair.remove if ".rem" in name else pair.add


@pytest.mark.parametrize("name", DELTAS)
def test_profiles_of_the_sheet(name: str) -> None:
    """Each δ of the sheet lies inside, in an interval narrower than 3e-4 of itself."""
    at, truth = given(name), Fraction(SHEET[name]["value"])
    with working():
        found = direction(allocated_gaussian(ball(Fraction(at["sigma"])), int(at["t"])), name).profile(
            Fraction(at["eps"])
        )
        spare = truth * Fraction(1, 10 ** (SHEET[name]["digits"] - 2))
        assert Fraction(down(found)) <= truth + spare
        assert truth - spare <= Fraction(up(found))
        assert up(found) - down(found) < 3e-4 * float(truth)


@pytest.mark.parametrize("name", EPSILONS)
def test_epsilons_of_the_sheet(name: str) -> None:
    """Each ε of the sheet, of one epoch or more, lies inside, in an interval narrower than 1e-4 of itself (3e-4 for
    a δ of 1e-20).
    """
    at, truth = given(name), float(SHEET[name]["value"])
    delta, epochs = ball(Fraction(at["delta"])), int(at["epochs"])
    with working():
        loss = direction(allocated_gaussian(ball(Fraction(at["sigma"])), int(at["t"])), name)
        if epochs == 1:
            suited = loss.suited(float(delta.log()))
            found: Any = crossing(lambda x: suited.profile(arb(x)), delta, guess=truth)
        else:
            found = lattice.epsilon_at([(loss, epochs)], delta, 1e-5)
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper
    assert found.upper - found.lower < (1e-4 if delta > 1e-13 else 3e-4) * truth


TWICE = {("rem", "1"): 0.0157623347626, ("rem", "2"): 3.44908661082e-4, ("add", "1"): 0.00906613812885}


@pytest.mark.parametrize(("side", "epsilon"), TWICE)
def test_two_epochs_of_the_sheet(side: str, epsilon: str) -> None:
    """δ of two epochs of ten steps, by two other methods: inside, in a narrow interval that lies in the sheet's own."""
    truth, sheet = TWICE[side, epsilon], SHEET[f"T4.t10.E2.{side}.{epsilon}"]["value"]
    least, most = (float(end) for end in re.findall(r"[\d.e-]+", sheet))
    with working():
        loss = direction(allocated_gaussian(arb(1), 10), f".{side}")
        found = meet.delta_at([[(loss, 2)]], ball(Fraction(epsilon)), Precision())
    assert least <= found.lower <= truth * (1 + 1e-11)
    assert truth * (1 - 1e-11) <= found.upper <= most
    assert found.width < 1e-4


def put(mu: float, strike: Array) -> Array:
    """E(K − Y)₊ for one ratio."""
    x = np.log(np.maximum(strike, 1e-300)) / mu + mu / 2
    return np.where(strike > 0, strike * ndtr(x) - ndtr(x - mu), 0.0)


def sum_put(mu: float, steps: int, strike: Array) -> Array:
    """E(K − Y₁ − … − Y_t)₊ by one integral for each step but the last."""
    if steps == 1:
        return put(mu, strike)
    roots, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros_like(strike)
    top = np.log(strike) / mu + mu / 2
    ends = (12.0, 8.0, 6.0, 4.5, 3.0, 2.0, 1.0, 0.5, 0.2, 0.05, 0.0)
    for first, last in itertools.pairwise(ends):
        x = top[..., None] - (first + last) / 2 + (first - last) / 2 * roots
        rest = strike[..., None] - np.exp(mu * x - mu * mu / 2)
        inside = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * sum_put(mu, steps - 1, np.maximum(rest, 1e-280))
        total += inside @ weights * (first - last) / 2
    return total


@pytest.mark.parametrize(
    ("sigma", "steps", "epsilon"), [(1, 2, 0.3), (0.5, 2, 2.0), (3, 2, 0.1), (1, 3, 0.7), (2, 3, 0.2), (0.7, 3, 1.5)]
)
def test_two_and_three_steps_by_quadrature(sigma: float, steps: int, epsilon: float) -> None:
    """δ of both directions by integrals over all steps but one, for which there is a closed form."""
    mu, c = 1 / sigma, math.exp(epsilon)
    removed, added = (float(sum_put(mu, steps, np.array([steps * k]))[0]) / steps for k in (c, 1 / c))
    with working():
        pair = allocated_gaussian(1 / ball(mu), steps)
        for truth, loss in ((1 - c + removed, pair.remove), (c * added, pair.add)):
            found = loss.profile(Fraction(epsilon))
            assert down(found) <= truth * (1 + 1e-8)
            assert truth * (1 - 1e-8) <= up(found)
            assert up(found) - down(found) < 1e-4 * truth


def transform(s: Complexes, mu: float) -> Complexes:
    """E e^{−sY}, along a line on which only |s| grows large: the trapezoid rule."""
    turn, step = -np.angle(s) / mu, min(0.05, 0.25 / mu)
    z = np.arange(-12, 12 + mu, step) + 1j * turn[:, None]
    inside = np.exp(-z * z / 2 - s[:, None] * np.exp(mu * z - mu * mu / 2))
    total: Complexes = step / math.sqrt(2 * math.pi) * inside.sum(axis=1)
    return total


def inverted(mu: float, steps: int, strike: float) -> float:
    """E(K − S)₊ by inverting the transform of S along a vertical line, at the least of its sizes there."""
    deviation = math.sqrt(steps * math.expm1(mu * mu))
    at = np.geomspace(0.02 / deviation, 60 / deviation, 80)
    sizes = at * strike + steps * np.log(np.maximum(transform(at + 0j, mu).real, 1e-300)) - 2 * np.log(at)
    c = float(at[np.argmin(sizes)])
    width = 2 * math.pi / (strike + 45 / c)
    s = c + 1j * width * np.arange(1600)
    terms = np.exp(s * strike + steps * np.log(transform(s, mu))) / s**2
    assert abs(terms[-1]) < 1e-12 * abs(terms[0])
    return float(width / math.pi * (terms.real.sum() - terms[0].real / 2))


CELLS = [("1.83", 2236, "0.0104"), ("0.67", 696, "0.2491"), ("1.09", 37, "0.576"), ("2.46", 302, "0.0901")]


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [*CELLS, ("0.96", 1029, "0.1234"), ("1.06", 12, "1.1644")])
def test_any_number_of_steps_by_transforms(sigma: str, steps: int, epsilon: str) -> None:
    """δ of both directions by a Laplace transform, for numbers of steps that are no powers of two."""
    mu, c = 1 / float(sigma), math.exp(float(epsilon))
    removed, added = (inverted(mu, steps, steps * k) / steps for k in (c, 1 / c))
    with working():
        pair = allocated_gaussian(ball(Fraction(sigma)), steps)
        for truth, loss in ((1 - c + removed, pair.remove), (c * added, pair.add)):
            found = loss.profile(Fraction(epsilon))
            assert down(found) - 1e-12 <= truth <= up(found) + 1e-12
            assert up(found) - down(found) < 3e-4 * truth


def test_the_exact_pair_of_two_steps_is_between_the_sides() -> None:
    """The two lists have the same masses, mean 1, and the second moment of the ratio between theirs."""
    for sigma, steps in ((1, 2), (0.5, 7), (2, 100)):
        both = sides(arb(1) / arb(sigma), steps, 60.0)
        exact = 1 + math.expm1(1 / sigma**2) / steps
        seconds = []
        for side in (both.below, both.above):
            assert math.isclose(float(side.masses.sum()), 1, rel_tol=1e-9)
            assert math.isclose(float(side.masses @ side.ratios), 1, rel_tol=1e-9)
            seconds.append(float(side.masses @ np.square(side.ratios)))
        assert seconds[0] < exact < seconds[1]
        assert seconds[1] - seconds[0] < 1e-4 * (exact - 1)


def test_one_step_is_the_gaussian() -> None:
    """One step of one is plain noise; one of many in the limit of much noise costs what its variance says."""
    with working():
        one, plain = allocated_gaussian(arb(2), 1), b.Gaussian(2).losses()
        assert one.remove.profile(0.3).overlaps(plain.remove.profile(0.3))


def test_it_costs_less_than_poisson_and_more_than_its_mean() -> None:
    """t = 100, σ = 1, ε = ½: far below Poisson sampling at rate 1/100 in a hundred steps, as the sheet says."""
    allocated = b.account(b.parse("allocated(gaussian(sigma=1), steps=100)"), epsilon=0.5).delta
    poisson = b.account(b.parse("poisson(gaussian(sigma=1), rate=0.01)*100"), epsilon=0.5).delta
    assert 4.4e-5 < allocated.lower < allocated.upper < 4.42e-5
    assert poisson.lower > 1.2e-4


def test_deep_tails() -> None:
    """Far below any float's rounding δ is still known to a tenth of itself, and a deeper list proves the same."""
    with working():
        loss = AllocatedGaussian(arb(1), 10, False)
        found = loss.profile(6)
        assert down(found) > 0
        assert up(found) - down(found) < 0.1 * up(found) < 1e-30
        near = loss.profile(Fraction(1, 2))
        deep = loss.suited(-300).profile(Fraction(1, 2))
        assert near.overlaps(deep)


def test_negative_epsilons_are_those_of_the_other_direction() -> None:
    """δ(−ε) = 1 − e^{−ε} + e^{−ε}·δ′(ε), and it falls with ε through 0."""
    with working():
        pair = allocated_gaussian(arb(1), 5)
        values = [pair.remove.profile(Fraction(k, 10)) for k in range(-4, 5)]
        assert all(up(second) < up(first) for first, second in itertools.pairwise(values))
        other = 1 - arb("-0.3").exp() + arb("-0.3").exp() * pair.add.profile(Fraction(3, 10))
        assert other.overlaps(pair.remove.profile(Fraction(-3, 10)))


def simulated(mu: float, steps: int, size: int) -> np.ndarray[Any, Any]:
    """Ratios drawn without the record."""
    rng = np.random.default_rng(7)
    return np.exp(mu * rng.standard_normal((size, steps)) - mu * mu / 2).mean(axis=1)


def test_moments_by_simulation_and_closed_forms() -> None:
    """Means, variances, distribution functions and power means lie where a million draws say, and where sums say."""
    ratio = simulated(1.0, 8, 400_000)
    log = np.log(ratio)
    with working():
        pair = allocated_gaussian(arb(1), 8)
        for loss, weight, sign in ((pair.remove, ratio, 1), (pair.add, np.ones_like(ratio), -1)):
            mean = float((weight * sign * log).mean())
            spread = float((weight * log * log).mean()) - mean**2
            assert abs(float(loss.mean()) - mean) < 0.004
            assert up(loss.mean()) - down(loss.mean()) < 1e-5
            assert abs(float(loss.variance()) - spread) < 0.01
            assert up(loss.variance()) - down(loss.variance()) < 1e-4
            chance = float((weight * (sign * log <= 0.2)).mean())
            assert abs(float(loss.cdf(Fraction(1, 5))) - chance) < 0.02
        second = 1 + arb(1).expm1() / 8
        assert pair.remove.cumulant(1).real.overlaps(second.log())
        third = (8 * arb(3).exp() + 3 * 8 * 7 * arb(1).exp() + 8 * 7 * 6) / 512
        assert pair.remove.cumulant(2).real.overlaps(third.log())
        between = pair.remove.cumulant(1.5).real
        assert second.log() < between.upper()
        assert between.lower() < third.log()
        for order in (-3.0, -1.5, -0.4, 1.7, arb(1.5, 0.01), arb(0, 0.01), arb(-1, 0.01)):
            found = pair.remove.cumulant(order).real
            assert found.overlaps(arb(math.log(float((ratio ** (1 + float(order))).mean())), 0.02))
        for s in (0.5, 1.0, 3.0):
            found = pair.add.cumulant(s).real
            assert abs(float(found) - math.log(float((ratio**-s).mean()))) < 0.02
            assert up(found) - down(found) < 1e-4
        with pytest.raises(b.errors.LossUnknown):
            pair.add.cumulant(1j)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("sigma", ["1e-30", "1e-9", "1e12", "1e20", "1e30"])
def test_noise_at_the_ends_of_what_is_accepted_has_an_answer(sigma: str, relation: str) -> None:
    """Where no list can be made, because ratios are all but infinite or all but 1, other theorems still answer."""
    one = b.parse(f"allocated(gaussian(sigma={sigma}, relation={relation}), steps=10)")
    told = b.account(b.Gaussian(sigma=sigma, relation=relation), delta=1e-6).epsilon
    assert 0 <= b.account(one, delta=1e-6).epsilon.upper <= told.upper
