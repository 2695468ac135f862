"""Hits of different kinds, each of which costs all but the same: against all compositions of two-outcome samples."""

from __future__ import annotations

import itertools

import mpmath as mp
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import hit_mixes, hit_numbers, hits
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.hit_totals import Total
from bursar.numerics.balls import working

Kinds = list[tuple[int, str, int]]
"""The ε of a response, the rate of its sample, and how many there are."""
RESPONSES: list[tuple[Kinds, str]] = [
    ([(200, "0.01", 3), (900, "0.0001", 4)], "1e-7"),
    ([(300, "0.2", 5), (2000, "1e-9", 2)], "1e-3"),
    ([(300, "0.2", 5), (2000, "1e-9", 2)], "1e-12"),
    ([(150, "0.4", 40), (400, "0.001", 3), (700, "1e-6", 2)], "1e-5"),
    ([(150, "0.4", 40), (400, "0.001", 3), (700, "1e-6", 2)], "0.3"),
]


def removed(kinds: Kinds) -> Losses:
    """The losses with a record removed."""
    return [
        (b.PoissonSampled(b.RandomizedResponse(str(epsilon)), rate).losses().remove, count)
        for epsilon, rate, count in kinds
    ]


def totals(losses: Losses, delta: str) -> list[Total]:
    """Each kind's hits and misses."""
    found = [hits.total_of([one], arb(delta)) for one in losses]
    return [total for total in found if total is not None]


def exact(kinds: Kinds, epsilon: float) -> mp.mpf:
    """δ(ε) over all numbers of truths and lies: a sampled response has two outcomes, and two losses."""
    laws = []
    for size, rate, count in kinds:
        q, truth = mp.mpf(rate), 1 / (1 + mp.exp(-size))
        p, one = q * truth + (1 - q) * (1 - truth), mp.log(1 - q + q * mp.exp(size))
        other = mp.log(1 - q + q * mp.exp(-size))
        laws.append(
            [
                (mp.binomial(count, n) * p**n * (1 - p) ** (count - n), n * one + (count - n) * other)
                for n in range(count + 1)
            ]
        )
    total = mp.mpf(0)
    for row in itertools.product(*laws):
        loss = mp.fsum(part for _, part in row)
        if loss > epsilon:
            total += mp.fprod(chance for chance, _ in row) * -mp.expm1(epsilon - loss)
    return total


@pytest.mark.parametrize(("kinds", "delta"), RESPONSES)
def test_both_ends_are_on_their_sides(kinds: Kinds, delta: str) -> None:
    """δ of all compositions, in 1500 digits, is above the one asked at the lower end and no more at the upper one."""
    with working(160):
        found = hit_numbers.epsilon_at(totals(removed(kinds), delta), arb(delta))
    assert found is not None
    assert 0 < found.lower <= found.upper
    assert found.upper - found.lower < 60
    with mp.workdps(1500):
        assert exact(kinds, found.lower) > mp.mpf(delta)
        assert exact(kinds, found.upper) <= mp.mpf(delta)


def test_noise_of_any_kind_is_counted_by_its_numbers() -> None:
    """Laplace and Gaussian hits of very different sizes beside each other: narrow, and found by the mixed hits too."""
    text = "poisson(laplace(scale=1e-9), rate=0.01)*40 + poisson(gaussian(sigma=1e-7), rate=0.001)*200"
    losses = [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]
    with working(160):
        found = hit_numbers.epsilon_at(totals(losses, "1e-30"), arb("1e-30"))
        mixed = hit_mixes.epsilon_at(losses, arb("1e-30"), 1e-6)
    assert found is not None
    assert mixed is not None
    assert found.width < 1e-5
    assert (mixed.lower, mixed.upper) == (found.lower, found.upper)


def test_numbers_that_are_never_seen_are_not_listed() -> None:
    """Of a million likely hits only those within some deviations of the mean are told apart, and the answer is
    narrow.
    """
    text = "poisson(gaussian(sigma=1e-9), rate=0.5)*4000 + poisson(laplace(scale=1e-16), rate=1e-9)*3"
    losses = [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]
    with working(160):
        found = hit_numbers.epsilon_at(totals(losses, "1e-6"), arb("1e-6"))
    assert found is not None
    assert found.nodes < 4000 * 4
    assert found.width < 1e-2
    # 4000 tosses exceed about 2150 once in a million times; a Gaussian hit costs 1/(2σ²)
    assert found.lower < 2150 * 0.5e18 < found.upper * 1.01


def test_too_many_numbers_are_left_to_others() -> None:
    """Three kinds with thousands of likely numbers each have no answer here, nor has a δ too small for floats."""
    text = " + ".join(f"poisson(gaussian(sigma=1e-{9 + i}), rate=0.5)*1000000" for i in range(3))
    losses = [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]
    with working(160):
        assert hit_numbers.epsilon_at(totals(losses, "1e-30"), arb("1e-30")) is None
        few = totals(removed([(200, "0.01", 3), (900, "0.0001", 4)]), "1e-100000000")
        assert hit_numbers.epsilon_at(few, arb("1e-100000000")) is None


def test_a_hit_that_leaks_counts_as_beyond_all_costs() -> None:
    """What may be lost in a hit is taken from δ: with more than δ of it there is no upper end."""
    losses = [
        (b.PoissonSampled(b.parse(text).terms[0].mechanism, rate).losses().remove, count)
        for text, rate, count in (
            ("leaky_randomized_response(epsilon=200, delta=1e-9)", "0.01", 3),
            ("randomized_response(epsilon=900)", "0.0001", 4),
        )
    ]
    with working(160):
        above = hit_numbers.epsilon_at(totals(losses, "1e-8"), arb("1e-8"))
        below = hit_numbers.epsilon_at(totals(losses, "1e-12"), arb("1e-12"))
    assert above is None or above.upper > 0
    assert below is None or below.upper == float("inf")


@pytest.mark.parametrize("wide", ["1e-9", "1e-6", "1e-3", "0.3"])
def test_a_delta_that_is_a_wide_ball_is_answered_for_all_of_it(wide: str) -> None:
    """Just below a jump of the chances: the lower end holds for the largest δ, the upper end for the least."""
    kinds: Kinds = [(300, "0.2", 5), (2000, "1e-9", 2)]
    with working(160):
        # two hits of the second kind, or one, and any of the first: with a little more no such hit is needed
        middle = arb("2e-9") * (1 - arb("1e-9") / 2)
        delta = middle * (1 + arb(0, 1) * arb(wide))
        found = hit_numbers.epsilon_at(totals(removed(kinds), "1e-9"), delta)
    assert found is not None
    with mp.workdps(1500):
        least, most = (mp.mpf(end.str(60, radius=False)) for end in (delta.lower(), delta.upper()))
        assert found.lower == 0 or exact(kinds, found.lower) > most
        assert exact(kinds, found.upper) <= least


def test_leaks_that_leave_little_of_delta_leave_wide_balls() -> None:
    """What is left of δ = 0.1, as a decimal and as a float, after a leak of nearly all: both are answered."""
    leak = "0.09999999999944488848768742173"
    text = (
        f"name_and_shame(delta={leak})*1 + poisson(randomized_response(epsilon=3e11), rate=0.2)*2"
        " + poisson(randomized_response(epsilon=9e11), rate=6.167951951650869158038348504E-13)*1"
    )
    found = b.account(b.parse(text), delta=0.1).epsilon
    with mp.workdps(60):
        rare, left = mp.mpf("6.167951951650869158038348504E-13"), mp.mpf(0.1) - mp.mpf(leak)
        # where a rare hit alone is not likelier than what the larger δ leaves, others are needed for ε to be so large
        assert rare * (1 - mp.mpf(leak)) > left or found.lower < 9e11 - 100
