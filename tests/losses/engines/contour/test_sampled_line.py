"""Moments of sampled Gaussians on the shifted line: every value inside its bound, at every frequency."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from flint import acb, arb, ctx

from bursar.losses.engines.contour.complex_cut import complex_cut
from bursar.losses.engines.contour.line_sums import Line, log_of
from bursar.losses.engines.contour.sampled_factor import SampledFactor
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_line import line
from bursar.losses.engines.contour.sampled_members import Members, near_cut
from support.cut_moments import cut_moment

_PLACES = (1, 17, 400, 4000)


def moments_in_balls(integral: SampledIntegral, tau: float, frequencies: list[float]) -> list[acb]:
    """M(τ + is)/M(τ) of the cut law, in balls."""
    low, high = integral.window(tau)
    edges = (1.4 * low, 1.3 * high)
    cut = (arb(integral.cut), arb(integral.soft)) if integral.removed else None

    def at(t: acb) -> acb:
        return cut_moment(integral.sigma, integral.rate, t, cut, edges)

    start = at(acb(tau))
    return [at(acb(tau, s)) / start for s in frequencies]


def random_law(rng: random.Random, removed: bool) -> tuple[SampledIntegral, float]:
    """A random integral and a tilt."""
    sigma = math.exp(rng.uniform(math.log(0.2), math.log(30)))
    rate = math.exp(rng.uniform(math.log(1e-5), math.log(0.99)))
    tau = math.exp(rng.uniform(math.log(0.3), math.log(80)))
    count = rng.choice([1, 2, 8, 1000])
    return SampledIntegral(arb(sigma), arb(rate), count, -rng.uniform(3, 60), removed=removed), tau


def on_the_line(members: Members, tau: float) -> Line:
    """The line for these members."""
    return line(members, tau, near_cut(members, tau))


def check_line(members: Members, integral: SampledIntegral, tau: float, step: float) -> float:
    """Every value lies within its bound; the largest share of a bound that was used."""
    frequencies = np.arange(_PLACES[-1] + 1) * step
    shifted = on_the_line(members, tau)
    ((_, values, errors),) = shifted.blocks(frequencies)
    used = 0.0
    with ctx.workprec(150):
        exact = moments_in_balls(integral, tau, [float(frequencies[k]) for k in _PLACES])
        for k, value in zip(_PLACES, exact, strict=True):
            turned = acb(0, arb(float(shifted.mean[0])) * float(frequencies[k])).exp()
            found = acb(1 + arb(values[0][k].real), arb(values[0][k].imag)) * turned
            wanted = value if integral.removed else acb(value.real, -value.imag)
            off = float(abs(found - wanted).upper())
            assert off <= errors[0][k], (integral.exact, integral.removed, tau, step, k, off, errors[0][k])
            used = max(used, off / errors[0][k])
    return used


def test_the_cut_off_the_line_against_balls() -> None:
    """Φ(w − iv) lies within its bound, and closely."""
    rng = random.Random(1)
    for _ in range(20):
        v = rng.uniform(0.01, 2.9)
        w = np.array([rng.uniform(-30, 12) for _ in range(12)])
        shift, values, errors = complex_cut(w, v)
        for place, f, value, error in zip(w.tolist(), shift.tolist(), values.tolist(), errors.tolist(), strict=True):
            with ctx.workprec(200):
                exact = ((-acb(place, -v)) / arb(2).sqrt()).erfc() / 2 * (-arb(f)).exp()
                off = float(abs(acb(value.real, value.imag) - exact).upper())
            assert off <= error, (place, v, off, error)
            assert error < 1e-11


def test_a_cut_too_far_away_is_refused() -> None:
    """Outside the range that the bound is proved for nothing is returned."""
    for w, v in ((-31.0, 1.0), (0.0, 6.5), (0.0, 0.0)):
        with pytest.raises(ArithmeticError):
            complex_cut(np.array([w]), v)


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "added"])
def test_the_shifted_line_against_balls(removed: bool) -> None:
    """Random parameters, frequencies to thousands: every value within its bound, which stays small."""
    rng = random.Random(2 + removed)
    served = 0
    for _ in range(10):
        integral, tau = random_law(rng, removed)
        try:
            check_line(integral.members(), integral, tau, 2.0**-4 * rng.choice([1, 3, 9]))
        except ArithmeticError:
            continue
        served += 1
    assert served >= 8


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "added"])
def test_what_a_coarse_line_leaves_out_is_in_its_bound(removed: bool) -> None:
    """With nodes far apart the quadrature errs visibly, and its bound holds it."""
    rng = random.Random(4 + removed)
    used = []
    for _ in range(8):
        sigma, rate, tau = rng.uniform(0.5, 3), math.exp(rng.uniform(-5, -0.3)), rng.uniform(0.3, 6)
        integral = SampledIntegral(arb(sigma), arb(rate), 1, -20.0, removed=removed)
        used.append(check_line(replace(integral.members(), tolerance=rng.choice([7.0, 10.0])), integral, tau, 2.0**-6))
    assert max(used) > 1e-4  # rounding alone would use less


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "added"])
def test_moments_on_both_lines_against_balls(removed: bool) -> None:
    """Near 0 on the real line, far away on the shifted one: ln of the moments of all copies within the error."""
    for sigma, rate, tau, count in ((1.0, 0.01, 3.0, 2), (0.6, 0.2, 1.5, 8), (2.0, 0.3, 6.0, 1)):
        for step, shifted in ((2.0**-5, False), (1.0, True)):
            integral = SampledIntegral(arb(sigma), arb(rate), count, -15.0, removed=removed)
            factor = SampledFactor(integral, count)
            frequencies = np.arange(801) * step
            assert (factor._shifted(tau, float(frequencies[-1])) is not None) is shifted
            moments = factor.moments(tau, frequencies)
            some = [1, 30, 800]
            with ctx.workprec(150):
                exact = moments_in_balls(integral, tau, [float(frequencies[k]) for k in some])
                for k, value in zip(some, exact, strict=True):
                    angle = arb(moments.turn[k]) + arb(float(frequencies[k])) * moments.drift
                    found = acb(arb(moments.log_size[k]), angle).exp()
                    power = value**count
                    bound = math.expm1(moments.error[k]) * float(abs(found))
                    assert float(abs(found - power).upper()) <= bound, (sigma, rate, tau, count, step, k)


def test_errors_do_not_grow_with_the_frequency() -> None:
    """σ from .01 to 100, rates from 1e-6 to .999, both directions, s to 5000: an error of 1e-9 at most, few nodes."""
    frequencies = np.arange(10_001) * 0.5
    for sigma, tau in ((0.01, 0.05), (0.05, 0.2), (0.3, 1.0), (1.0, 4.0), (5.0, 20.0), (100.0, 200.0)):
        for rate in (1e-6, 1e-3, 0.05, 0.5, 0.999):
            for removed in (True, False):
                integral = SampledIntegral(arb(sigma), arb(rate), 4, -20.0, removed=removed)
                shifted = on_the_line(integral.members(), tau)
                far = shifted._errors(slice(0, 1), frequencies, 1 << 14)[0]
                # losses reach 1/(2σ²), and ln(1 − q) is no better known than q
                most = 1e-9 * max(1.0, 1 / sigma**2, 0.01 / (1 - rate))
                assert far[-1] < most, (sigma, rate, removed, far[-1])
                assert shifted.weights.shape[1] < 20_000, (sigma, rate, removed)


def test_where_nothing_is_known_the_size_counts() -> None:
    """A value smaller than its error becomes the largest that it may be, off by at most twice that."""
    size, _, doubt = log_of(np.array([-1 + 1e-12]), np.array([0.0]), np.array([1e-9]), 3.0)
    assert math.exp(size[0]) >= (1e-9) ** 3
    assert math.exp(size[0]) <= (1.01e-9 + 1e-12) ** 3
    assert doubt[0] >= math.log(3)
