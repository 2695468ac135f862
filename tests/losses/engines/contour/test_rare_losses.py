"""Few large losses among many tiny ones: the split of the sampled Gaussian, and the whole range of its parameters."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb, ctx

import bursar as b
from bursar.losses.engines import contour, lattice
from bursar.losses.engines.answer import Answer
from bursar.losses.engines.contour.engine import Contour
from bursar.losses.engines.contour.factors import Care, NoContour
from bursar.losses.engines.contour.rare_factor import RareFactor
from bursar.losses.engines.contour.rare_split import LARGE, SMALL
from bursar.losses.engines.contour.saddle import choose_tilt
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.numerics.balls import working

LOG_DELTA = math.log(1e-6)
CASES = [
    ("0.1", "1e-6", 10**6, 320.0),
    ("0.3", "1e-4", 1000, 10.0),
    ("0.3", "1e-6", 1000, 1.5),
    ("0.1", "0.01", 1000, 1250.0),
]


def factor_for(sigma: str, rate: str, count: int, floor: float) -> RareFactor:
    """Compositions with at least one large loss."""
    integral = SampledIntegral(arb(sigma), arb(rate), count, LOG_DELTA, removed=True)
    return RareFactor(integral, count, floor, LOG_DELTA)


def part_moment(factor: RareFactor, part: int, t: acb) -> acb:
    """∫ φ_σ·A^{1+t}·χ·χ_j by flint's adaptive integration."""
    sigma, rate = factor.integral.exact
    square, scale = 2 * sigma * sigma, 1 / (sigma * (2 * arb.pi()).sqrt())
    cut, blunt = arb(factor.integral.cut), arb(factor.integral.soft) * arb(2).sqrt()
    place, soft, side = arb(factor.split.place), arb(factor.split.soft) * arb(2).sqrt(), -1 if part == LARGE else 1

    def integrand(x: acb, analytic: bool) -> acb:
        odds = 1 - rate + rate * ((2 * x - 1) / square).exp()
        kept = (side * (x - place) / soft).erfc() / 2 * ((x - cut) / blunt).erfc() / 2
        return ((1 + t) * odds.log(analytic=analytic) - x * x / square).exp() * scale * kept

    ends = [-14 * sigma, place - 6 * soft, place, place + 6 * soft, cut + 4 * blunt, 2 + cut + 14 * blunt]
    breaks = sorted(ends, key=float)
    parts = [acb.integral(integrand, x, y, rel_tol=arb(2) ** -80, abs_tol=arb(2) ** -120) for x, y in pairwise(breaks)]
    return sum(parts, acb(0))


@pytest.mark.parametrize(("sigma", "rate", "count", "floor"), CASES)
def test_moments_of_large_losses_enclose_flints(sigma: str, rate: str, count: int, floor: float) -> None:
    """(F₀ + F₁)^k − F₀^k off the real line, and no frequency exceeds the bound on decay."""
    with working():
        factor = factor_for(sigma, rate, count, floor)
        tau, _ = choose_tilt([factor], LOG_DELTA)
        frequencies = np.arange(25) * (1.7 / math.sqrt(factor.rough(tau)[2]))
        found = factor.moments(tau, frequencies)
        (start,) = factor.cumulants([tau])
        bounds = factor.decay(tau, Care.LEAST)(frequencies)
    with ctx.workprec(128):
        lead = None
        for s, size, turn, error, bound in zip(
            frequencies.tolist(), found.log_size, found.turn, found.error, bounds, strict=True
        ):
            t = acb(arb(tau), arb(s))
            small, large = (part_moment(factor, part, t) for part in (SMALL, LARGE))
            exact = small**count * (count * (large / small).log1p()).expm1()
            if lead is None:
                lead = exact.real
                assert start.exp().overlaps(lead)
                assert float(start.rad()) < 1e-7
            near = acb(arb(float(size)), found.drift * arb(s) + arb(float(turn))).exp()
            apart = abs(exact / lead - near)
            allowed = abs(near) * arb(float(error)).expm1() + arb("1e-20")
            assert apart.lower() <= allowed.upper(), (s, apart, allowed)
            assert (abs(exact) / lead).lower() <= arb(float(bound)).exp(), (s, abs(exact) / lead, bound)


@pytest.mark.parametrize(("sigma", "rate", "count", "floor"), CASES)
def test_where_the_split_lies_does_not_matter(sigma: str, rate: str, count: int, floor: float) -> None:
    """Other splits give overlapping intervals, each inside that of the lattice engine."""
    loss = b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove
    with working():
        found = contour.epsilon_at([(loss, count)], arb("1e-6"))
        assert found.width < 1e-6
        for lower in (floor, 0.8 * floor):
            factor = factor_for(sigma, rate, count, lower)
            tau, _ = choose_tilt([factor], LOG_DELTA)
            other = Contour([factor], arb(0), found.upper, LOG_DELTA, tau)
            assert not other.evaluate(found.upper)[0] > arb("1e-6")
            assert not other.evaluate(found.lower)[1] < arb("1e-6")
        coarse = lattice.epsilon_at([(loss, count)], arb("1e-6"), 1e-3, 1 << 17)
    assert coarse.lower <= found.upper
    assert found.lower <= coarse.upper


def test_small_losses_are_bounded_from_the_floor_on_only() -> None:
    """Below it what the small losses may add is not known, and nothing is answered."""
    with working():
        factor = factor_for("0.3", "1e-4", 1000, 10.0)
        tau, guess = choose_tilt([factor], LOG_DELTA)
        nodes = Contour([factor], arb(0), guess, LOG_DELTA, tau)
        with pytest.raises(NoContour, match="so small an ε"):
            nodes.evaluate(9.9)
        assert not nodes.precise(9.9)


COMMON = [
    ("0.028", "0.0873", 5800, "1e-8", 400603.307),
    ("0.0442", "0.0107", 41705, "1e-4", 131990.910),
    ("0.0457", "0.000649", 861075, "1e-2", 142115.251),
    ("0.0415", "0.0275", 17988, "1e-7", 175333.450),
]
"""Hundreds of large losses, where the split has no place; ε by an inversion of another kind (long doubles, its own cut
and tilt)."""


@pytest.mark.parametrize(("sigma", "rate", "count", "delta", "truth"), COMMON)
def test_common_large_losses_are_not_taken_for_rare(
    sigma: str, rate: str, count: int, delta: str, truth: float
) -> None:
    """The bound on decay must not be cut off from above: these were once certified beside the truth."""
    found = b.account(b.PoissonSampled(b.Gaussian(sigma), rate) * count, delta=delta).epsilon
    shown = 1e-7 * truth  # the digits that are shown of it
    assert found.lower - shown <= truth <= found.upper + shown
    assert found.upper - found.lower <= 1e-6 * truth
    found = b.account(b.PoissonSampled(b.Gaussian("0.0451"), "0.0631") * 5698, epsilon=106413).delta
    assert found.lower <= 1.3838e-5 <= found.upper * 1.0001


@pytest.mark.parametrize("tau", [0.0015, 0.0021, 0.003, 0.0039])
def test_every_tilt_agrees_or_refuses(tau: float) -> None:
    """σ = 0.1, rate 0.01, 57 000 steps: hundreds of large losses, at tilts on both sides of where they are too many."""
    with working():
        loss = b.PoissonSampled(b.Gaussian("0.1"), "0.01").losses().remove
        near = contour.epsilon_at([(loss, 57_000)], arb("1e-6")).upper
        factor = factor_for("0.1", "0.01", 57_000, 0.9 * near)
        try:
            lower, upper, _ = Contour([factor], arb(0), near, LOG_DELTA, tau).evaluate(near)
        except NoContour:
            return
        assert not lower > arb("1e-6") * (1 + arb("1e-6"))
        assert not upper < arb("1e-6") * (1 - arb("1e-6"))


def test_impossible_intervals_are_refused() -> None:
    """Ends that contradict each other, or are no numbers, never become an answer."""
    for lower, upper in ((1.0, 0.5), (-1.0, 0.5), (math.nan, 1.0), (0.0, math.nan)):
        with pytest.raises(ArithmeticError, match="contradict"):
            Answer(lower, upper, (), "contour", 1, 1.0)


@pytest.mark.parametrize("count", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("sigma", ["0.1", "0.3", "1", "10", "1000"])
@pytest.mark.parametrize("rate", ["1e-6", "1e-4", "0.01", "0.5", "1"])
def test_the_whole_range_is_certified(rate: str, sigma: str, count: int) -> None:
    """Rates 1e-6 to 1, σ from 0.1 to 1000, to a billion steps: a millionth or better at δ = 1e-6, except one cell
    whose ε is below a millionth itself.
    """
    found = b.account(b.PoissonSampled(b.Gaussian(sigma), rate) * count, delta="1e-6").epsilon
    assert 0 <= found.lower <= found.upper < math.inf
    tiny = (rate, sigma, count) == ("1e-6", "10", 1000)
    assert found.upper - found.lower <= (2e-5 if tiny else 1e-6) * found.upper
