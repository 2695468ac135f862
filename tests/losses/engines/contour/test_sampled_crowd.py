"""Many different sampled Gaussians as one factor: what singles say, what balls say, and what they cost together."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import acb, arb, ctx

import bursar as b
from bursar.losses.engines.contour import choice
from bursar.losses.engines.contour.choice import factors_of
from bursar.losses.engines.contour.factors import Care
from bursar.losses.engines.contour.sampled_crowd import MOST_COPIES, Sampled, SampledCrowd
from bursar.losses.engines.contour.sampled_factor import SampledFactor, without_record
from bursar.losses.engines.contour.sampled_group import Group
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_members import window
from bursar.losses.engines.contour.solve import epsilon_at
from bursar.numerics import normal
from bursar.numerics.balls import working
from support import oracle
from support.cut_moments import cut_moment

DIRECTIONS = pytest.mark.parametrize("removed", [True, False], ids=["removed", "added"])


def random_parts(rng: random.Random, n: int) -> list[Sampled]:
    """Different σ's and rates, a few copies of each."""
    return [
        Sampled(
            arb(math.exp(rng.uniform(math.log(0.4), math.log(5)))),
            arb(math.exp(rng.uniform(math.log(1e-3), math.log(0.5)))),
            rng.choice([1, 1, 2, 30]),
        )
        for _ in range(n)
    ]


def in_balls(group: Group, t: acb, tau: float) -> acb:
    """Σ count·ln M(t) of a group's own cut laws."""
    members, total = group.members, acb(0)
    low, high = window(members, tau, 0.0)
    for sigma, rate, count in zip(members.sigma.tolist(), members.rate.tolist(), group.counts.tolist(), strict=True):
        cut = (arb(sigma) * members.cut, arb(sigma) * members.soft) if members.removed else None
        edges = (1.4 * low * sigma, 1.3 * high * sigma)
        total += int(count) * cut_moment(sigma, rate, t, cut, edges).log()
    return total


@DIRECTIONS
def test_moments_and_cumulants_against_balls(removed: bool) -> None:
    """K and the moments of random crowds, near 0 and far away, lie within their errors, up to whole turns."""
    rng = random.Random(7 + removed)
    for _ in range(2):
        crowd = SampledCrowd(random_parts(rng, 5), -rng.uniform(5, 30), removed=removed)
        tau = rng.uniform(0.5, 5)
        frequencies = np.arange(301) * rng.choice([2.0**-4, 1.0])
        moments = crowd.moments(tau, frequencies)
        (found,) = crowd.cumulants([tau])
        with ctx.workprec(150):
            start = sum((in_balls(group, acb(tau), tau) for group in crowd.groups), acb(0)).real
            assert found.contains(start)
            assert float(found.rad()) < 1e-10
            for k in (1, 20, 300):
                s = float(frequencies[k])
                exact = sum((in_balls(group, acb(tau, s), tau) for group in crowd.groups), acb(0)) - start
                value = acb(arb(moments.log_size[k]), arb(moments.turn[k]) + moments.drift * s)
                off = float(abs((value - exact).exp() - 1).upper())
                assert off <= math.expm1(moments.error[k]), (removed, tau, k, off, moments.error[k])
                assert moments.error[k] < 1e-7 or moments.log_size[k] < -15


@DIRECTIONS
def test_a_crowd_is_the_sum_of_its_members(removed: bool) -> None:
    """Moments, rough values and cumulants are those of single factors, up to the errors of both and what cuts take."""
    rng = random.Random(11 + removed)
    parts = random_parts(rng, 12)
    crowd = SampledCrowd(parts, -15.0, removed=removed)
    singles = [
        SampledFactor(SampledIntegral(part.sigma, part.rate, part.count, -15.0, removed=removed), part.count)
        for part in parts
    ]
    tau, frequencies = 1.3, np.arange(65) * 0.25
    together, each = crowd.moments(tau, frequencies), [single.moments(tau, frequencies) for single in singles]
    drift = float(sum((part.drift for part in each), arb(0)) - together.drift)
    size = np.sum([part.log_size for part in each], axis=0)
    angle = np.sum([part.turn for part in each], axis=0) + drift * frequencies - together.turn
    unsure = together.error + np.sum([part.error for part in each], axis=0) + 1e-9
    assert np.all(np.abs(size - together.log_size) <= unsure)
    assert np.all(np.abs(np.exp(1j * angle) - 1) <= unsure)
    assert np.allclose(crowd.rough(tau), np.sum([single.rough(tau) for single in singles], axis=0), rtol=1e-7)
    assert math.isclose(float(crowd.cumulants([tau, 2.0])[1]), sum(float(s.cumulants([2.0])[0]) for s in singles))
    assert np.allclose(crowd.rough_cumulants(np.array([0.3, tau]))[1], crowd.rough(tau)[0])


def test_large_moments_are_sums_of_logarithms() -> None:
    """Where e^{τL} overflows the cumulant is that of a single factor still."""
    parts = [Sampled(arb(sigma), arb(0.3), 1) for sigma in (0.5, 0.51, 0.52, 0.6)]
    crowd = SampledCrowd(parts, -15.0, removed=False)
    tau = 900.0
    singles = [SampledFactor(SampledIntegral(p.sigma, p.rate, 1, -15.0, removed=False), 1) for p in parts]
    wanted = sum((single.cumulants([tau])[0] for single in singles), arb(0))
    (found,) = crowd.cumulants([tau])
    assert float(wanted) > 300
    assert found.overlaps(wanted)


def test_what_a_crowd_gives_up_covers_every_member() -> None:
    """The bound is at least the sum of all κ's, each of its own σ, q and cut."""
    crowd = SampledCrowd(random_parts(random.Random(3), 20), -15.0, removed=True)
    total = arb(0)
    with working():
        for group in crowd.groups:
            wide = (1 + arb(group.members.soft) ** 2).sqrt()
            for sigma, rate, count in zip(group.members.sigma, group.members.rate, group.counts, strict=True):
                near = normal.cdf((1 / arb(sigma) - arb(group.members.cut)) / wide)
                far = normal.cdf(-arb(group.members.cut) / wide)
                total += int(count) * ((1 - arb(rate)) * far + arb(rate) * near)
        assert crowd.given_up >= total > 0
        assert crowd.given_up < math.exp(-15.0) * 1e-9


def test_the_mirrored_bound_is_above_that_in_balls() -> None:
    """Floats rounded up: never below the sum of the closed forms, and close to it."""
    rng = random.Random(5)
    parts = [*random_parts(rng, 30), Sampled(arb(1), arb(1e-7), 3), Sampled(arb(2), arb(0.999), 1)]
    crowd = SampledCrowd(parts, -15.0, removed=True)
    for tilt in (1e-3, 0.4, 3.0, 50.0):
        exact = sum((part.count * without_record((part.sigma, part.rate), tilt) for part in parts), arb(0))
        found = crowd.mirror(arb(tilt))
        assert found >= exact.lower()
        assert found <= exact * (1 + 1e-6) + 1e-12


@DIRECTIONS
@pytest.mark.parametrize("care", list(Care))
def test_decay_holds_at_every_larger_frequency(removed: bool, care: Care) -> None:
    """The bound falls with s, and no certified value of |φ| at s or beyond lies above it."""
    rng = random.Random(13)
    for many in (4, 40, 400):
        parts = [
            Sampled(arb(rng.uniform(0.3, 2.0)), arb(math.exp(rng.uniform(-5, -0.7))), 1 + rng.randrange(2))
            for _ in range(many)
        ]
        crowd = SampledCrowd(parts, -15.0, removed=removed)
        tau = 0.7
        gap = 0.3 / math.sqrt(crowd.rough(tau)[2])
        frequencies = np.arange(1501) * gap
        bound = crowd.decay(tau, care)(frequencies[1:])
        moments = crowd.moments(tau, frequencies)
        known = np.where(moments.error < 0.5, moments.log_size - moments.error, -np.inf)[1:]
        assert np.all(np.diff(bound) <= 1e-9)
        assert np.all(np.maximum.accumulate(known[::-1])[::-1] <= bound + 1e-9), (removed, care, many)


def test_intervals_overlap_with_those_of_singles(monkeypatch: pytest.MonkeyPatch) -> None:
    """ε of random crowds, by one factor and by many: both ends hold, so the intervals meet; and ours is narrow."""
    rng = random.Random(17)
    for _ in range(8):
        n, side, delta = rng.choice([4, 8, 16]), rng.choice(["remove", "add"]), rng.choice(["1e-4", "1e-9", "1e-20"])
        losses = []
        for part in random_parts(rng, n):
            pair = b.PoissonSampled(b.Gaussian(float(part.sigma)), float(part.rate)).losses()
            losses.append((getattr(pair, side), part.count * rng.choice([1, 40])))
        with working():
            together = epsilon_at(losses, arb(delta))
            monkeypatch.setattr(choice, "_FEW_SAMPLED", 10**9)
            apart = epsilon_at(losses, arb(delta))
            monkeypatch.undo()
        assert together.lower <= apart.upper, (together, apart)
        assert apart.lower <= together.upper, (together, apart)
        assert together.width <= 1e-6


def distinct(n: int) -> b.Composition:
    """n different single steps."""
    rng = random.Random(n)
    return b.Composition(
        (b.PoissonSampled(b.Gaussian(rng.uniform(0.8, 3)), math.exp(rng.uniform(-7, -3))), 1) for _ in range(n)
    )


@pytest.mark.parametrize(
    ("n", "lower", "upper"),
    [
        (10, 0.5558660220593, 0.5558661013816),  # by single factors
        (100, 1.811569680994, 1.811569756989),  # by single factors
        (1000, 3.0400312543, 3.0400313661),
    ],
)
def test_distinct_single_steps_are_narrow(n: int, lower: float, upper: float) -> None:
    """Ten, a hundred, a thousand different single steps: ε to a millionth, where it was found before."""
    found = b.account(distinct(n), delta=1e-6).epsilon
    assert found.upper - found.lower <= 1e-6 * found.upper
    assert found.lower <= upper
    assert lower <= found.upper


@DIRECTIONS
def test_ends_against_an_independent_sum_in_balls(removed: bool) -> None:
    """δ at both ends of ε, by another contour with another step and another quadrature: on the right sides of δ."""
    rng = random.Random(23)
    parts = [Sampled(arb(rng.uniform(0.8, 2)), arb(rng.uniform(0.02, 0.2)), rng.choice([40, 90])) for _ in range(4)]
    pairs = [(b.PoissonSampled(b.Gaussian(float(p.sigma)), float(p.rate)).losses(), p.count) for p in parts]
    losses = [(pair.remove if removed else pair.add, count) for pair, count in pairs]
    log_delta = math.log(1e-6)
    with working():
        found = epsilon_at(losses, arb("1e-6"))
        (crowd,) = factors_of(losses, log_delta)
        assert isinstance(crowd, SampledCrowd)
        spread = math.sqrt(crowd.rough(found.tilt)[2])
    with ctx.workprec(128):
        laws = [(oracle.Sampled(p.sigma, p.rate, p.count, log_delta, removed=removed), p.count) for p in parts]
        above, below = (
            oracle.delta(laws, arb(end), 0.97 * found.tilt, spread, small="1e-13") for end in (found.upper, found.lower)
        )
    slack = arb("1e-10")
    assert above < arb("1e-6") * (1 + slack)
    assert below > arb("1e-6") * (1 - slack)
    assert found.width < 1e-6


def test_a_thousand_beside_other_kinds() -> None:
    """Gaussians and sampled Gaussians together are two factors."""
    pairs = [(mechanism.losses().remove, count) for mechanism, count in distinct(20)]
    pairs += [(b.Gaussian(50.0 + i).losses().remove, 2) for i in range(3)]
    factors = factors_of(pairs, math.log(1e-6))
    assert len(factors) == 2
    assert isinstance(factors[1], SampledCrowd)


def test_few_or_very_many_copies_stand_for_themselves() -> None:
    """Three different ones, or more copies than the line rounds well, are single factors."""
    pairs = [(mechanism.losses().add, count) for mechanism, count in distinct(3)]
    assert all(isinstance(factor, SampledFactor) for factor in factors_of(pairs, -10.0))
    pairs = [(mechanism.losses().add, MOST_COPIES) for mechanism, _ in distinct(6)]
    assert all(isinstance(factor, SampledFactor) for factor in factors_of(pairs, -10.0))


def test_doubtful_parameters_are_refused() -> None:
    """A σ known to few digits is refused, not rounded."""
    parts = [Sampled(arb(1, 1e-6), arb(0.1), 1)] * 4
    with pytest.raises(ArithmeticError):
        SampledCrowd(parts, -10.0, removed=True)
