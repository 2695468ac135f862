"""Replaced records on contours: their moments, cumulants and decay against flint's integrals, whole answers against
closed forms, golden values and the lattice engine.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses.engines import lattice
from bursar.losses.engines.contour.factors import Care, NoContour
from bursar.losses.engines.contour.replaced_factor import ReplacedFactor
from bursar.losses.engines.contour.replaced_growth import replaced_growth
from bursar.losses.engines.contour.replaced_integral import ReplacedIntegral
from bursar.losses.engines.contour.replaced_line import ShiftedLine
from bursar.losses.engines.contour.solve import delta_at, deltas_at, epsilon_at
from bursar.losses.laws.replaced_gaussian import ReplacedGaussian
from bursar.numerics.arrays import Array
from bursar.numerics.balls import working
from bursar.numerics.trusted import log_normal_cdf
from support import oracle

# σ, q, count, δ and ε: from an independent evaluation in floats
GOLDEN = [
    ("0.5", "0.01", 10**3, "1e-6", 3.214230967),
    ("0.5", "0.01", 10**4, "1e-6", 11.95685772),
    ("1", "0.01", 10**3, "1e-6", 1.374493373),
    ("1", "0.01", 10**5, "1e-6", 19.51387046),
    ("1", "0.01", 10**6, "1e-6", 97.25082944),
    # by this engine, against later changes
    ("0.5", "0.01", 30, "1e-6", 0.7879339904),
    ("0.5", "0.01", 100, "1e-30", 7.955419732),
    ("50", "0.3", 10**9, "1e-300", 25027.82705),
]


def _factor(sigma: float | str, rate: float | str, count: int, delta: float = 1e-6) -> ReplacedFactor:
    return ReplacedGaussian(arb(sigma), arb(rate)).contour_factor(count, math.log(delta))


def _exact(factor: ReplacedFactor) -> oracle.Replaced:
    """The same law, cut in the same way, by flint's integration."""
    integral = factor.replaced
    return oracle.Replaced(integral.exact[0] / 2, integral.exact[1], integral.cut, integral.soft)


def _random(rng: random.Random) -> tuple[float, float]:
    return math.exp(rng.uniform(math.log(0.15), math.log(20))), math.exp(rng.uniform(math.log(1e-4), math.log(0.9)))


def check_moments(seed: int) -> None:
    """Cumulants and moments of one random law against flint's integrals."""
    rng = random.Random(seed)
    (sigma, rate), count = _random(rng), int(math.exp(rng.uniform(0, 5)))
    tau, reach = math.exp(rng.uniform(-1.5, 2)), math.exp(rng.uniform(0, 6))
    with working():
        factor = _factor(sigma, rate, count)
        law = _exact(factor)
        found = factor.moments(tau, np.arange(200) * (reach / 199))
        start = law.log_moment(acb(tau)).real
        (known,) = factor.cumulants([tau])
        assert known.overlaps(count * start), (seed, sigma, rate, count, tau)
        for j in (1, rng.randrange(2, 100), 199):
            s = j * (reach / 199)
            exact = count * (law.log_moment(acb(tau, s)) - start)
            turned = (exact - acb(found.log_size[j], found.drift * s + arb(found.turn[j]))).exp() - 1
            assert not abs(turned) > arb(found.error[j]).expm1(), (seed, sigma, rate, count, tau, s)


def check_line(seed: int) -> bool:
    """Moments along a shifted line against flint's integrals, from small frequencies to large ones; whether many digits
    were known.
    """
    rng = random.Random(seed)
    (sigma, rate), tau = _random(rng), math.exp(rng.uniform(-1.5, 2))
    with working():
        factor = _factor(sigma, rate, 20)
        law = _exact(factor)
        (start,) = (known / 20 for known in factor.cumulants([tau]))
        mean = factor.rough(tau)[1] / 20
        line = ShiftedLine(factor.replaced, tau, start, mean)
        step = math.exp(rng.uniform(-3, 3))
        values, errors = line.sums(step, 3, 70)
        for j in (3, 20, 70):
            exact = (law.log_moment(acb(tau, j * step)) - start - acb(0, arb(mean) * (j * step))).exp()
            off = abs(exact - acb(complex(values[j - 3])))
            assert not off > arb(float(errors[j - 3])), (seed, sigma, rate, tau, j * step)
    return bool(errors.max() < 1e-9)


def test_moments_are_enclosed() -> None:
    """At random tilts and frequencies the errors cover flint's integrals."""
    for seed in range(6):
        check_moments(seed)


def test_shifted_lines_are_enclosed() -> None:
    """The same along lines off the real one, where errors hardly grow with the frequency."""
    assert [check_line(seed) for seed in range(8)].count(True) >= 6


def test_coarse_lines_say_so() -> None:
    """With few nodes the sums along a shifted line are off by much more than rounding, and within their errors."""
    with working():
        factor = _factor("0.8", "0.05", 20)
        (start,) = (known / 20 for known in factor.cumulants([2.0]))
        fine, errors = ShiftedLine(factor.replaced, 2.0, start, 0.1).sums(0.7, 1, 60)
        factor.replaced.tolerance = 7.0
        coarse, doubts = ShiftedLine(factor.replaced, 2.0, start, 0.1).sums(0.7, 1, 60)
    off = np.abs(fine - coarse)
    assert np.all(off <= errors + doubts)
    assert float(off.max()) > 1e-8


@pytest.mark.soak
def test_many_moments_are_enclosed() -> None:
    """The same over hundreds of laws."""
    for seed in range(1000, 1200):
        check_moments(seed)
    assert [check_line(seed) for seed in range(1000, 1200)].count(True) >= 150


@pytest.mark.parametrize("count", [1, 30, 10**4])
@pytest.mark.parametrize(("sigma", "rate", "tau"), [("0.5", "0.01", 3.0), ("1.5", "0.3", 1.0), ("0.3", "0.002", 0.7)])
def test_decay_bounds_hold(sigma: str, rate: str, tau: float, count: int) -> None:
    """No modulus exceeds the bound at any smaller frequency; with one copy the shifted line says much far out."""
    with working():
        factor, law = _factor(sigma, rate, count), ReplacedGaussian(arb(sigma), arb(rate))
        places = np.geomspace(0.5, 400.0, 8) / math.sqrt(factor.rough(tau)[2])
        start = law.cumulant(arb(tau)).real
        sizes = [float((count * (law.cumulant(acb(tau, s)).real - start)).lower()) for s in places[:6].tolist()]
        # flint says nothing of the logarithm of what may be 0
        later = np.maximum.accumulate(np.nan_to_num(sizes, nan=-np.inf)[::-1])[::-1]
        for care in Care:
            bounds = factor.decay(tau, care)(places)
            assert np.all(np.diff(bounds) <= 1e-9)
            assert np.all(later <= bounds[:6] + 1e-9)
    assert count > 1 or bounds[-1] < -0.5


def _tilted(integral: ReplacedIntegral, tau: float) -> tuple[Array, Array]:
    """Many places, and ln of the tilted law there."""
    x = np.linspace(-60 * integral.sigma - 2, integral.window(tau)[1] + 60 * integral.sigma, 400_001)
    height = integral.height(x, tau)[0] + log_normal_cdf(np.maximum(integral.inside(x), -29.0))
    return x, np.where(integral.inside(x) < -29, -np.inf, height)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("sigma", "rate", "tau", "reach"),
    [
        (0.5, 0.01, 4.0, 20.0),
        (0.2, 0.3, 1.5, 6.0),
        (3.0, 0.9, 2.0, 30.0),
        (1.0, 0.001, 30.0, 400.0),
        (5.0, 0.5, 30.0, 2.0),
    ],
)
def test_lines_off_the_real_one(sigma: float, rate: float, tau: float, reach: float, sign: int) -> None:
    """What the modulus grows or shrinks by on each line is at most the bound, and not far below it."""
    with working():
        integral = ReplacedIntegral(arb(sigma), arb(rate), 100, math.log(1e-6))
        bounds = replaced_growth(integral, tau, np.array([reach]), sign=sign)[:, 0]
        still, growths = integral.power_growth(tau, integral.thetas), []
    x, height = _tilted(integral, tau)
    weights = np.exp(height - height.max())
    weights /= weights.sum()
    for theta, quiet in zip(integral.thetas.tolist(), still.tolist(), strict=True):
        odds = rate * np.exp((2 * x - 1) / (2 * integral.sigma**2) + 1j * theta) + 1 - rate
        other = rate * np.exp((-2 * x - 1) / (2 * integral.sigma**2) + 1j * theta) + 1 - rate
        power = -tau * np.log(np.abs(other) / (rate * np.exp((-2 * x - 1) / (2 * integral.sigma**2)) + 1 - rate))
        turn = np.angle(odds) + np.angle(other)
        with np.errstate(over="ignore"):
            growths.append(math.log(float(weights @ np.exp(np.minimum(power + sign * reach * turn, 600.0)))))
        assert math.log(float(weights @ np.exp(power))) <= quiet
    assert np.all(np.array(growths) <= bounds + 1e-9)
    assert np.all(np.array(growths)[:3] >= bounds[:3] - 1.5 - 0.3 * np.abs(bounds[:3]))


@pytest.mark.parametrize(("sigma", "rate", "count", "delta", "epsilon"), GOLDEN)
def test_golden_values(sigma: str, rate: str, count: int, delta: str, epsilon: float) -> None:
    """The interval holds the value, up to its digits, and is narrower than a millionth."""
    what = b.PoissonSampled(b.Gaussian(sigma, relation="replace_one"), rate) * count
    (row,) = b.account(what, delta=delta, theorems=["numerical"]).theorems
    assert row.bound is not None
    assert "contour" in row.bound.because
    assert row.bound.lower <= epsilon * (1 + 1e-9)
    assert row.bound.upper >= epsilon * (1 - 1e-9)
    assert row.bound.upper - row.bound.lower <= 1e-6 * row.bound.upper


def test_one_copy_has_a_closed_form() -> None:
    """δ of a single release, from noise of .1 to 10 and rates from .0025 to .999: between the ends at every ε."""
    served = 0
    for seed in range(24):
        rng = random.Random(seed)
        sigma = math.exp(rng.uniform(-2.3, 2.3))
        rate = 1 - math.exp(rng.uniform(math.log(1e-3), -0.1)) if seed % 2 else math.exp(rng.uniform(-6, -1))
        with working():
            law = ReplacedGaussian(arb(sigma), arb(rate))
            try:
                epsilon = epsilon_at([(law, 1)], arb(10) ** -rng.uniform(2, 12)).upper
                found = delta_at([(law, 1)], arb(epsilon))
            except (NoContour, ArithmeticError):
                continue
            exact = law.profile(epsilon)
            assert found.lower <= exact <= found.upper, (seed, sigma, rate, epsilon)
            served += 1
    assert served >= 16


def check_engines(seed: int) -> str:
    """One random composition by both engines, which know nothing of each other."""
    rng = random.Random(seed)
    (sigma, rate), count = _random(rng), int(math.exp(rng.uniform(0, 14)))
    delta = arb(10) ** -rng.uniform(2, 40)
    with working():
        losses = [(ReplacedGaussian(arb(sigma), arb(rate)), count)]
        if rng.random() < 0.3:
            losses.append((b.Gaussian(2.5).losses().remove, 3))
        try:
            found = epsilon_at(losses, delta)
            other = lattice.epsilon_at(losses, delta, 1e-2, 1 << 14)
        except (NoContour, lattice.NoLattice, ArithmeticError):
            return "not served"
    assert found.lower <= other.upper, (seed, sigma, rate, count, found, other)
    assert other.lower <= found.upper, (seed, sigma, rate, count, found, other)
    return "compared"


def test_both_engines_agree() -> None:
    """Counts to a million, δ to 1e-40, some beside Gaussians: no two intervals exclude each other."""
    assert [check_engines(seed) for seed in range(12)].count("compared") >= 6


@pytest.mark.soak
def test_both_engines_agree_often() -> None:
    """The same over three hundred compositions."""
    assert [check_engines(seed) for seed in range(1000, 1300)].count("compared") >= 100


def test_both_tails_of_the_law_are_alike() -> None:
    """The cumulant at −1 − t is that at t."""
    with working():
        factor, law = _factor("0.6", "0.05", 500), ReplacedGaussian(arb("0.6"), arb("0.05"))
        for tilt in (0.3, 2.0):
            exact = 500 * law.cumulant(arb(-1 - tilt)).real
            assert factor.mirror(arb(tilt)) >= exact - 2 * factor.given_up
            assert factor.mirror(arb(tilt)) <= exact + arb("1e-6")


def test_both_sides_of_the_cut_are_given_up() -> None:
    """The mass outside a narrow cut, by a sum, is what the closed form says."""
    with working():
        integral = _factor("0.6", "0.4", 500).replaced
        integral.cut = 1.5
        closed = float(integral._beyond_cut())
        x = np.linspace(-12.0, 12.0, 20_001)
        law = np.exp(integral.height(x, 0.0)[0]) * (x[1] - x[0]) / (integral.sigma * math.sqrt(2 * math.pi))
        kept = sum(side * np.exp(log_normal_cdf((side * 1.5 - x) / integral.soft)) for side in (1, -1))
    assert abs(float(law @ (1 - kept)) - closed) <= 1e-12


def test_rates_near_one_are_served() -> None:
    """At a rate of .999 the answer lies just below that of the plain Gaussian."""
    plain = b.account(b.Gaussian("2", relation="replace_one") * 100, delta=1e-6).epsilon.lower
    for rate in ("0.999", "0.99"):
        what = b.PoissonSampled(b.Gaussian("2", relation="replace_one"), rate) * 100
        found = b.account(what, delta=1e-6).epsilon
        assert float(rate) ** 2 * plain < found.lower <= found.upper < plain


def test_many_frequencies_take_few_nodes() -> None:
    """Ten thousand frequencies with a reach of thousands: each is known to seven digits, or to be next to nothing."""
    with working():
        factor = _factor("0.5", "0.01", 10)
        found = factor.moments(2.0, np.arange(10_000) * 0.5)
        assert factor._line is not None
        assert len(factor._line[1].real) < 1000
        assert np.all((found.error < 1e-7) | (found.log_size < -50))


def test_curves_are_served() -> None:
    """δ at several ε's falls, and the ends stay close."""
    with working():
        answers = list(deltas_at([(ReplacedGaussian(arb(1), arb("0.01")), 10**4)], [2.0, 3.0, 4.0, 5.0]))
    assert all(answer.upper - answer.lower <= 1e-6 * answer.upper for answer in answers)
    assert all(later.upper < answer.lower for answer, later in pairwise(answers))
