"""Moments and cumulants of listed places, against flint's own."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses import Loss
from bursar.losses.engines.contour.factors import Factor
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.gathering import factors_of
from bursar.numerics.balls import working


def table(rng: random.Random) -> b.Table:
    """Two random laws on a few outcomes."""
    rows = [[rng.randint(1, 999) for _ in range(rng.choice([2, 5]))] for _ in range(2)]
    size = min(map(len, rows))
    p, q = (row[:size] for row in rows)
    return b.Table(p=[f"{x}/{sum(p)}" for x in p], q=[f"{x}/{sum(q)}" for x in q])


LAWS: dict[str, Callable[[random.Random], b.Mechanism]] = {
    "laplace": lambda rng: b.Laplace(scale=f"{math.exp(rng.uniform(-3, 4)):.4g}"),
    "randomized_response": lambda rng: b.RandomizedResponse(epsilon=f"{math.exp(rng.uniform(-6, 2)):.4g}"),
    "kary": lambda rng: b.KaryRandomizedResponse(epsilon=f"{math.exp(rng.uniform(-4, 2)):.4g}", categories=7),
    "table": table,
    "discrete_laplace": lambda rng: b.DiscreteLaplace(scale=f"{math.exp(rng.uniform(-1, 3)):.4g}", sensitivity=9),
    "discrete_gaussian": lambda rng: b.DiscreteGaussian(sigma=f"{math.exp(rng.uniform(-0.5, 3)):.4g}", sensitivity=3),
    "sampled laplace": lambda rng: b.PoissonSampled(
        b.Laplace(scale=f"{math.exp(rng.uniform(-1, 2)):.4g}"), rate=f"{math.exp(rng.uniform(-8, -0.1)):.4g}"
    ),
    "sampled table": lambda rng: b.PoissonSampled(table(rng), rate=f"{math.exp(rng.uniform(-8, -0.1)):.4g}"),
}


def enclosed(factor: Factor, loss: Loss, count: int, tau: float, frequencies: list[float]) -> None:
    """K at the tilt and the moments at the frequencies contain what flint says."""
    (start,) = factor.cumulants([tau])
    found = factor.moments(tau, np.array(frequencies))
    assert (start - count * loss.cumulant(arb(tau)).real).contains(0)
    for j, s in enumerate(frequencies):
        truth = count * (loss.cumulant(acb(tau, s)) - loss.cumulant(arb(tau)).real)
        size, off = float(truth.real.exp()), float(np.expm1(found.error[j]))
        turned = acb(0, found.drift * s + arb(float(found.turn[j]))).exp() * math.exp(found.log_size[j])
        apart = abs(truth.exp() - turned)
        assert not apart > off * math.exp(found.log_size[j]) + 1e-13 * size, (s, apart, off)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [1, 17, 10**6])
def test_moments_contain_what_flint_says(law: str, count: int) -> None:
    """Both directions, small tilts and large ones, from frequency 0 to hundreds of turns."""
    for seed in range(3):
        rng = random.Random(f"{law} {count} {seed}")
        pair = LAWS[law](rng).losses()
        with working():
            for loss in (pair.remove, pair.add):
                # deep enough that nothing that matters is outside the window
                law_of = loss.lattice_law(400.0)
                assert law_of is not None
                factor = PointsFactor(law_of, count, loss.infinite_mass())
                spread = math.sqrt(max(factor.rough(0.0)[2] / count, 1e-12))
                tau = rng.choice([0.05, 0.5, 2.0]) / spread
                step = float(np.float32(rng.choice([0.01, 0.3]) / spread / math.sqrt(count)))
                enclosed(factor, loss, count, tau, [j * step for j in range(40)])


@pytest.mark.parametrize("kind", ["laplace", "randomized_response", "table", "kary"])
def test_crowds_are_the_sum_of_their_members(kind: str) -> None:
    """Many different losses of a kind, as one factor, have the moments of all of them together."""
    rng = random.Random(kind)
    pairs = [(LAWS[kind](rng).losses().remove, rng.randint(1, 30)) for _ in range(7)]
    with working():
        (crowd,) = factors_of(pairs, math.log(1e-6))
        assert not isinstance(crowd, PointsFactor)
        tau = 0.7 / math.sqrt(crowd.rough_variance())
        frequencies = [j * 0.5 * tau for j in range(30)]
        found = crowd.moments(tau, np.array(frequencies))
        (start,) = crowd.cumulants([tau])
        total = sum((k * loss.cumulant(arb(tau)).real for loss, k in pairs), arb(0))
        assert (start - total).contains(0)
        for j, s in enumerate(frequencies):
            truth = sum((k * (loss.cumulant(acb(tau, s)) - loss.cumulant(arb(tau)).real) for loss, k in pairs), acb(0))
            turned = acb(0, found.drift * s + arb(float(found.turn[j]))).exp() * math.exp(found.log_size[j])
            off = float(np.expm1(found.error[j])) * math.exp(found.log_size[j])
            assert not abs(truth.exp() - turned) > off + 1e-30, (j, s)
