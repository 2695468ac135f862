"""Announced pairs on contours: moments, cumulants and decay against flint's integrals, whole answers against the other
engines.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses import Loss, announced, sampled_gaussian
from bursar.losses.engines import contour, envelope
from bursar.losses.engines.contour.announced_factor import AnnouncedFactor
from bursar.losses.engines.contour.factors import Care
from bursar.numerics.balls import ball, working


def _pair(rng: random.Random) -> tuple[Loss, Loss]:
    """Two or three sampled Gaussians of different noise and rates, the first with most of the weight."""
    parts = [
        sampled_gaussian(arb(math.exp(rng.uniform(-0.5, 1))), arb(math.exp(rng.uniform(-5, -0.5))))
        for _ in range(rng.randint(2, 3))
    ]
    rest = [arb(math.exp(rng.uniform(-9, -1.2))) for _ in parts[1:]]
    pair = announced(list(zip([1 - sum(rest, arb(0)), *rest], parts, strict=True)))
    return pair.remove, pair.add


def _factor(loss: Loss, count: int, log_delta: float) -> AnnouncedFactor:
    factor = loss.contour_factor(count, log_delta)
    assert isinstance(factor, AnnouncedFactor)
    return factor


def test_cumulants_and_moments_are_enclosed() -> None:
    """At random tilts and frequencies, in both directions, the errors cover the law's own moments in balls: the cut of
    a removed record takes less than what is given up.
    """
    for seed in range(6):
        rng = random.Random(seed)
        with working():
            count, tau = rng.randint(5, 200), math.exp(rng.uniform(-1.5, 0.7))
            frequencies = np.arange(60) * (math.exp(rng.uniform(0, 2.5)) / 59)
            for loss, cut in zip(_pair(rng), (1e-6, 0.0), strict=True):
                factor = _factor(loss, count, math.log(1e-9))
                found, start = factor.moments(tau, frequencies), loss.cumulant(acb(tau)).real
                (known,) = factor.cumulants([tau])
                # where a record is removed the law has lost rare, large losses: far less than what is allowed here
                assert not abs(known - count * start) > cut, (seed, loss)
                for j in (1, 25, 59):
                    s = float(frequencies[j])
                    exact = count * (loss.cumulant(acb(tau, s)) - start)
                    shown = acb(found.log_size[j], found.turn[j]) + acb(0, 1) * s * found.drift
                    off = abs((exact - shown).exp() - 1)
                    assert not off > float(np.expm1(found.error[j])) + cut, (seed, j)


@pytest.mark.parametrize("care", list(Care))
def test_decay_bounds_the_modulus_from_there_on(care: Care) -> None:
    """|φ| never exceeds the bound at a smaller frequency."""
    rng = random.Random(11)
    with working():
        for _ in range(3):
            for loss in _pair(rng):
                count, tau = rng.randint(2, 50), math.exp(rng.uniform(-1, 0.7))
                bound = _factor(loss, count, math.log(1e-6)).decay(tau, care)
                places = np.array([0.05, 0.3, 1.0, 2.5, 6.0])
                start, limits = loss.cumulant(acb(tau)).real, bound(places)
                for i, s in enumerate(places.tolist()):
                    sizes = [float(count * (loss.cumulant(acb(tau, r)).real - start)) for r in (s, 1.2 * s, 1.7 * s)]
                    assert max(sizes) <= float(limits[i]) + 1e-6


def test_mirrored_cumulants_are_bounds() -> None:
    """K(−1 − t) of the whole law lies below what the parts' bounds add up to."""
    rng = random.Random(5)
    with working():
        for _ in range(4):
            remove, _ = _pair(rng)
            factor = _factor(remove, 7, math.log(1e-6))
            for tilt in (0.3, 1.0, 3.0):
                assert not 7 * remove.cumulant(acb(-1 - tilt)).real > factor.mirror(arb(tilt))


CASES = [(1, 0.01, 11, 1000, 400), (2, 0.1, 24, 200, 30)]


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize(("sigma", "rate", "most", "population", "count"), CASES)
def test_engines_agree_on_truncated_batches(
    sigma: int, rate: float, most: int, population: int, count: int, delta: float
) -> None:
    """The contour's ε lies within the envelope's interval, and is the narrower one."""
    pair = b.TruncatedPoisson(b.Gaussian(sigma), rate, most=most, population=population).losses()
    with working():
        for loss in (pair.remove, pair.add):
            fine = contour.epsilon_at([(loss, count)], ball(delta))
            coarse = envelope.epsilon_at([(loss, count)], ball(delta), 1e-6, 500_000)
            assert coarse.lower <= fine.upper
            assert fine.lower <= coarse.upper
            assert fine.width < 1e-6


def test_parts_that_nothing_feels_are_given_up() -> None:
    """A batch that is hardly ever full costs what a Poisson sample costs, and what is left out counts as leaked."""
    pair = b.TruncatedPoisson(b.Gaussian(1), "0.01", most=400, population=10_000)
    assert 0 < float(pair.losses().remove.parts[1][0]) < 1e-80  # type: ignore[attr-defined]
    with working():
        for loss in (pair.losses().remove, pair.losses().add):  # an added record is not cut: nothing else is given up
            factor = _factor(loss, 100, math.log(1e-6))
            assert len(factor.parts) == 1
            assert factor.given_up >= 100 * factor.left_out > 0
    plain = b.account(b.PoissonSampled(b.Gaussian(1), "0.01") * 100, delta=1e-6).epsilon
    cut = b.account(pair * 100, delta=1e-6).epsilon
    assert cut.lower <= plain.upper
    assert plain.lower <= cut.upper <= plain.upper * (1 + 1e-6)
