"""Losses that are not large, by upper sums; and large ones at δ's so small that no float holds what they weigh."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx

import bursar as b
from bursar.losses.engines import contour
from bursar.losses.engines.contour.rare_bulk import Bulk
from bursar.losses.engines.contour.rare_split import softness
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.numerics.balls import working

CASES = [
    ("2.674", "4.5e-6", 1645, -440.0, 0.23, 75.0),
    ("1.47", "0.0018", 9, -590.0, 21.0, 20.0),
    ("0.3", "1e-4", 1000, -14.0, 10.0, 1.2),
    ("40", "0.002", 10**5, -200.0, 0.05, 4000.0),
    ("100", "0.05", 10**5, -200.0, 0.05, 60.0),
]


def bulk_of(sigma: str, rate: str, count: int, log_delta: float, floor: float) -> Bulk:
    """The copies of which none is large."""
    integral = SampledIntegral(arb(sigma), arb(rate), count, log_delta, removed=True)
    return Bulk(integral, count, softness(integral, floor), log_delta)


@pytest.mark.parametrize(("sigma", "rate", "count", "log_delta", "floor", "place"), CASES)
def test_upper_sums_lie_above_flints_integral(
    sigma: str, rate: str, count: int, log_delta: float, floor: float, place: float
) -> None:
    """∫ φ_σ·A^{1+a}·χ₀ up to the edge is at most 1 and the sum, and the sum is not wasteful."""
    with working():
        bulk = bulk_of(sigma, rate, count, log_delta, floor)
        edge = bulk.edge(place)
        tilts = np.array([0.5, 3.0, bulk.depth / floor, 3 * bulk.depth / floor])
        found = bulk.integrals(place, edge, tilts)
    q, square = arb(rate), 2 * arb(sigma) * arb(sigma)
    with ctx.workprec(256):
        for tilt, height in zip(tilts.tolist(), found.tolist(), strict=True):
            order = 1 + arb(tilt)

            def integrand(x: acb, analytic: bool, order: arb = order) -> acb:
                y = q * (((2 * x - 1) / square).exp() - 1)
                rest = (order * (1 + y).log(analytic=analytic)).exp() - 1 - order * y
                kept = ((x - arb(place)) / (arb(bulk.soft) * arb(2).sqrt())).erfc() / 2
                return (-x * x / square).exp() / (square * arb.pi()).sqrt() * rest * kept

            breaks = sorted([-40 * float(sigma), -8 * float(sigma), 0.5, *np.linspace(max(place / 2, 1), edge, 30)])
            close = {"abs_tol": arb(2) ** -2000, "rel_tol": arb(2) ** -40}
            exact = sum((acb.integral(integrand, x, y, **close).real for x, y in pairwise(breaks)), arb(0))
            assert exact.upper() <= arb(height).exp(), (tilt, exact, height)
            # Φ(−z) ≤ e^{−z²/2} wastes a factor of z√2π where χ₀ ends
            assert height <= float(exact.log()) + math.log(200)


def test_what_is_left_out_beyond_the_edge_counts_at_every_epsilon() -> None:
    """However large ε is: a copy beyond the edge may have any loss, and is not large with the chance χ₀ there."""
    with working():
        bulk = bulk_of("0.3", "1e-4", 1000, -14.0, 10.0)
        edge, sigma = bulk.edge(1.2), arb("0.3")
        seen = 1000 * arb("1e-4") * (((arb(edge) - 1) / sigma) / arb(2).sqrt()).erfc() / 2
        assert bulk.beyond(1.2, 1e9) >= seen * ((arb(edge) - arb("1.2")) / arb(bulk.soft) / arb(2).sqrt()).erfc() / 2


@pytest.mark.parametrize(
    ("sigma", "rate", "delta"),
    [("1.47", "0.001796", "1e-200"), ("0.7745", "2.637e-6", "1e-150"), ("3.02", "2.7e-4", "1e-80")],
)
def test_two_copies_agree_with_quadrature(sigma: str, rate: str, delta: str) -> None:
    """δ of two copies is an integral of one copy's closed profile: it crosses δ between the ends."""
    loss = b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove
    with working():
        found = contour.epsilon_at([(loss, 2)], arb(delta))
    assert found.width < 1e-5
    with mpmath.workdps(30):
        known = mpmath.mpf(sigma), mpmath.mpf(rate)
        assert two_copies(*known, found.lower) > mpmath.mpf(delta) * (1 - mpmath.mpf("2e-6"))
        assert two_copies(*known, found.upper) < mpmath.mpf(delta) * (1 + mpmath.mpf("2e-6"))


def two_copies(sigma: mpmath.mpf, rate: mpmath.mpf, epsilon: float) -> mpmath.mpf:
    """∫ φ_σ·A·δ₁(ε − ln A) dx, to a millionth."""

    def odds(x: mpmath.mpf) -> mpmath.mpf:
        return 1 - rate + rate * mpmath.exp((2 * x - 1) / (2 * sigma**2))

    def single(y: mpmath.mpf) -> mpmath.mpf:
        if mpmath.expm1(y) <= -rate:
            return -mpmath.expm1(y)
        inner = mpmath.log1p(mpmath.expm1(y) / rate)
        above = mpmath.ncdf(1 / (2 * sigma) - inner * sigma)
        return rate * (above - mpmath.exp(inner) * mpmath.ncdf(-1 / (2 * sigma) - inner * sigma))

    # where δ₁ has a kink: there the other copy's loss is ln(1 − q)
    kink = mpmath.mpf(1) / 2 + sigma**2 * mpmath.log1p(mpmath.expm1(epsilon - mpmath.log1p(-rate)) / rate)
    edges = (-12 * sigma, kink - min(1, sigma), kink, kink + 12 * sigma)
    places = [x for low, high in pairwise(edges) for x in mpmath.linspace(low, high, 41)[:-1]]
    return mpmath.quad(
        lambda x: mpmath.npdf(x, 0, sigma) * odds(x) * single(mpmath.mpf(epsilon) - mpmath.log(odds(x))),
        [*places, edges[-1]],
        maxdegree=4,
    )
