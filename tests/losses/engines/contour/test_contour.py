"""The contour engine against golden compositions, against an independent evaluation in balls, and piece by piece."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

import bursar as b
from bursar.losses.engines.contour.factors import Care, NoContour
from bursar.losses.engines.contour.saddle import choose_tilt
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.solve import delta_at, epsilon_at
from bursar.numerics.balls import ball, working
from bursar.numerics.trusted import ULPS
from bursar.theorems import Bound
from support import oracle
from support.where import GOLDEN

COMPOSITIONS = json.loads((GOLDEN / "compositions.json").read_text())
# Served by other theorems, or left to a lattice: nothing in them decays fast enough along a line.
ATOMIC = {"rr-100", "rr-1e4", "rr-eps1-100", "leaky-20", "laplace-10", "laplace-50", "laplace-100", "pure-12"}
SMOOTH = [case for case in COMPOSITIONS if case["id"] not in ATOMIC]


@pytest.mark.parametrize("case", SMOOTH[::4], ids=lambda case: f"{case['id']} {case['delta']}")
def test_delta_and_epsilon_are_inverse(case: dict[str, str]) -> None:
    """Asked at the certified ends of ε, the engine's δ is on the right side of the δ asked before."""
    what = b.parse(case["composition"])
    ends = _numerical(b.account(what, delta=case["delta"], theorems=["numerical"]))
    above = _numerical(b.account(what, epsilon=Fraction(ends.upper), theorems=["numerical"]))
    below = _numerical(b.account(what, epsilon=Fraction(ends.lower), theorems=["numerical"]))
    assert above.lower <= float(case["delta"])
    assert below.upper >= float(case["delta"]) * (1 - 1e-15)


def _numerical(report: b.Report) -> Bound:
    (row,) = report.theorems
    assert row.bound is not None, row.reason
    return row.bound


def check_case(seed: int) -> str:
    """One random sampled Gaussian, perhaps with a Gaussian beside it, against the oracle; says what happened."""
    rng = random.Random(seed)
    sigma, rate = f"{math.exp(rng.uniform(-1.2, 3)):.3f}", f"{math.exp(rng.uniform(-13.8, -0.7)):.2e}"
    count, removed = int(math.exp(rng.uniform(4, 20.7))), rng.random() < 0.5
    delta = f"{math.exp(-rng.choice([rng.uniform(1, 15), rng.uniform(1, 60), rng.uniform(10, 690)])):.2e}"
    beside = f"{math.exp(rng.uniform(-1, 5)):.2f}" if rng.random() < 0.3 else None
    losses = [(b.PoissonSampled(b.Gaussian(sigma), rate).losses(), count)]
    losses += [(b.Gaussian(beside).losses(), 1)] if beside else []
    one = [(pair.remove if removed else pair.add, k) for pair, k in losses]
    with working():
        try:
            found = epsilon_at(one, arb(delta))
        except (NoContour, ArithmeticError):
            return "not served"
        if found.upper == 0 or found.nodes > 40:
            return "not compared"
        factors = [loss.contour_factor(k, math.log(float(delta))) for loss, k in one]
        tau, _ = choose_tilt(factors, math.log(float(delta)))
        spread = math.sqrt(sum(factor.rough(tau)[2] for factor in factors))
    with ctx.workprec(128):
        parts = [(oracle.Sampled(arb(sigma), arb(rate), count, math.log(float(delta)), removed=removed), count)]
        parts += [(oracle.Gauss(1 / arb(beside)), 1)] if beside else []
        tilt, slack = tau * rng.uniform(0.9, 1.05), arb("1e-14")
        at_upper = oracle.delta(parts, arb(found.upper), tilt, spread)
        at_lower = oracle.delta(parts, arb(found.lower), tilt, spread)
        # far losses may explode where the oracle cuts them off late: then another tilt says something else
        other = oracle.delta(parts, arb(found.upper), 0.93 * tilt, spread)
    if not abs(at_upper - other) < abs(other) * arb("1e-9"):
        return "oracle unsure"
    target = ball(Fraction(delta))
    assert not at_upper > target * (1 + slack), (seed, sigma, rate, count, delta, removed, beside)
    assert not at_lower < target * (1 - slack), (seed, sigma, rate, count, delta, removed, beside)
    assert found.upper - found.lower <= 1e-6 * found.upper, (seed, sigma, rate, count, delta, removed, beside, found)
    return "compared"


def test_random_compositions_agree_with_balls() -> None:
    """Counts to 1e9, rates from 1e-6, σ from 0.3, δ to 1e-300: no end is on the wrong side of an independent value."""
    outcomes = [check_case(seed) for seed in range(40)]
    assert outcomes.count("compared") >= 15


@pytest.mark.soak
def test_many_random_compositions_agree_with_balls() -> None:
    """The same over a thousand cases."""
    outcomes = [check_case(seed) for seed in range(1000, 2000)]
    assert outcomes.count("compared") >= 400


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "added"])
@pytest.mark.parametrize(
    ("sigma", "rate", "count"),
    [("1", "0.01", 10**4), ("0.5", "0.001", 10**5), ("4", "0.0003", 10**4), ("0.8", "0.2", 50)],
)
def test_moments_and_decay_bounds_hold(sigma: str, rate: str, count: int, removed: bool) -> None:
    """Off the real line the moments enclose flint's own integrals, and no frequency exceeds the bound on decay."""
    pair = b.PoissonSampled(b.Gaussian(sigma), rate).losses()
    with working():
        factor = (pair.remove if removed else pair.add).contour_factor(count, math.log(1e-6))
        tau, _ = choose_tilt([factor], math.log(1e-6))
        scale = 1 / math.sqrt(factor.rough(tau)[2])
        frequencies = [j * 0.4 * scale for j in range(14)]
        decay = np.min([factor.decay(tau, care)(np.array(frequencies[1:])) for care in Care], axis=0)
        found = factor.moments(tau, np.array(frequencies))
        (start,) = factor.cumulants([tau])
        moments = [
            start + acb(arb(x, e), found.drift * s + arb(y, e))
            for s, x, y, e in zip(frequencies, found.log_size, found.turn, found.error, strict=True)
        ]
        truth = oracle.Sampled(arb(sigma), arb(rate), count, math.log(1e-6), removed=removed)
        for s, moment in zip(frequencies, moments, strict=True):
            exact = count * truth.log_moment(arb(tau) + arb(s) * oracle.I)
            turned = (exact - moment).exp() - 1  # logarithms agree up to whole turns
            assert abs(turned).lower() <= (2 * factor.given_up + arb("1e-25")).upper() or turned.contains(0)
        for i, s in enumerate(frequencies[1:]):
            size = moments[i + 1].real - moments[0].real
            assert size.lower() <= arb(float(decay[i])) + arb("1e-9"), (s, size, decay[i])


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sin", "cos", "erfc"])
def test_trusted_functions_are_as_exact_as_assumed(name: str) -> None:
    """The floats that the engine trusts stay within a quarter of the assumed error, on points of all sizes."""
    rng = np.random.default_rng(7)
    size = 20_000
    x = rng.choice([-1, 1], size) * np.exp(rng.uniform(-40, 6, size))
    if name == "log1p":
        x = np.where(x <= -1, -x, x)
    if name == "log":
        x = np.abs(x)
    if name == "erfc":
        x = np.clip(x, -9, 20)
    got = [math.erfc(v) for v in x] if name == "erfc" else getattr(np, name)(x)
    worst = 0.0
    with working(200):
        for value, result in zip(x.tolist(), np.asarray(got).tolist(), strict=True):
            exact = getattr(arb(value), name)()
            if 1e-300 < abs(result) < 1e300:
                worst = max(worst, float(abs((arb(result) - exact) / exact).upper()) * 2**53)
    assert worst <= ULPS / 4 * 2  # in units of 2⁻⁵³, half an ulp


@pytest.mark.parametrize("name", ["hypot", "arctan2", "logaddexp"])
def test_trusted_functions_of_two_numbers(name: str) -> None:
    """The same for functions of two numbers; a sum of exponentials absolutely, in units of its size plus one."""
    rng = np.random.default_rng(8)
    x, y = (rng.choice([-1, 1], 5000) * np.exp(rng.uniform(-20, 5, 5000)) for _ in range(2))
    exact = {
        "hypot": lambda a, c: (a * a + c * c).sqrt(),
        "arctan2": arb.atan2,
        "logaddexp": lambda a, c: (a.exp() + c.exp()).log(),
    }[name]
    worst = 0.0
    with working(400):
        for a, c, result in zip(x.tolist(), y.tolist(), getattr(np, name)(x, y).tolist(), strict=True):
            truth = exact(arb(a), arb(c))
            size = 1 + abs(truth) if name == "logaddexp" else abs(truth)
            worst = max(worst, float((abs(arb(result) - truth) / size).upper()) * 2**53)
    assert worst <= ULPS / 2


def test_quadrature_looks_beyond_the_window() -> None:
    """Far right of the nodes the phase may lift the integrand by e^{800}: the bound on the quadrature counts that."""
    with working():
        integral = SampledIntegral(arb(1), arb("1e-6"), 1, math.log(1e-6), removed=False)
        lifted = integral.growth(1.0, 2e4) - integral.growth(1.0, 0.0)
    assert lifted[0] >= 808.8


def test_atoms_alone_are_left_to_the_envelope() -> None:
    """Atoms alone do not decay along a line: the contour engine says so, and the envelope engine answers."""
    what = b.RandomizedResponse(epsilon="0.3") * 5 + b.RandomizedResponse(epsilon="0.1") * 4
    with working(), pytest.raises(NoContour, match="atoms"):
        epsilon_at([(term.mechanism.losses().remove, term.count) for term in what.terms], arb("1e-6"))
    assert "envelope" in _numerical(b.account(what, delta=1e-6, theorems=["numerical"])).because


def test_large_counts_cost_nothing_and_stay_tight() -> None:
    """From a hundred thousand to a billion steps the nodes stay few and the interval narrow."""
    for power in range(5, 10):
        with working():
            pair = b.PoissonSampled(b.Gaussian("1"), "0.001").losses()
            found = epsilon_at([(pair.remove, 10**power)], arb("1e-6"))
            assert found.nodes < 4000
            assert found.upper - found.lower <= 1e-6 * found.upper
            again = delta_at([(pair.remove, 10**power)], arb(found.upper))
            assert again.lower <= 1e-6 <= again.upper * (1 + 1e-6)
