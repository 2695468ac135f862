"""Samples whose hits cost more than all else: against all outcomes of sampled and plain responses, in many digits."""

from __future__ import annotations

import itertools

import mpmath as mp
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import lost, meet
from bursar.losses.engines.answer import Answer, Losses, Precision
from bursar.numerics.balls import Ball, working

Rows = list[tuple[mp.mpf, mp.mpf]]
CASES = [
    ("poisson(randomized_response(epsilon=300), rate=1e-8)*4 + randomized_response(epsilon=0.5)*3", "1e-3"),
    ("poisson(randomized_response(epsilon=300), rate=1e-8)*4 + randomized_response(epsilon=0.5)*3", "5e-8"),
    ("poisson(randomized_response(epsilon=400), rate=1e-5)*2 + randomized_response(epsilon=2)*4", "2.3e-5"),
    ("poisson(randomized_response(epsilon=900), rate=1e-30)*3 + randomized_response(epsilon=20)*2", "4e-30"),
]


def removed(text: str) -> Losses:
    """The losses with a record removed."""
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


def solve(others: Losses, at: Ball) -> Answer:
    """All engines, closely."""
    return meet.epsilon_at([others], at, Precision(1e-9))


def exact(text: str, epsilon: float) -> mp.mpf:
    """δ(ε) with a record removed, over all outcomes: Σ (Πp − e^ε·Πq)₊."""
    laws: list[Rows] = []
    for part in text.split(" + "):
        kind, count = part.rsplit("*", 1)
        e = mp.mpf(kind.split("epsilon=")[1].split(")")[0])
        truth, lie = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
        rows = [(truth, lie), (lie, truth)]
        if "rate" in kind:
            q = mp.mpf(kind.split("rate=")[1].rstrip(")"))
            rows = [((1 - q) * b_ + q * a, b_) for a, b_ in rows]
        laws += [rows] * int(count)
    total = mp.mpf(0)
    for outcome in itertools.product(*laws):
        p, q = (mp.fprod(pair[side] for pair in outcome) for side in (0, 1))
        total += max(p - mp.exp(epsilon) * q, 0)
    return total


@pytest.mark.parametrize(("text", "delta"), CASES)
def test_both_ends_are_on_their_sides(text: str, delta: str) -> None:
    """δ over all outcomes is at least the one asked at the lower end and at most that at the upper one."""
    with working():
        found = lost.epsilon_at(removed(text), arb(delta), 1e-9, solve)
    assert found is not None
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-6)
    with mp.workdps(900):
        assert exact(text, found.lower) >= mp.mpf(delta) * (1 - mp.mpf("1e-12"))
        assert exact(text, found.upper) <= mp.mpf(delta) * (1 + mp.mpf("1e-12"))


def test_hits_that_are_not_dear_enough_are_left_to_others() -> None:
    """A hit of 300 beside others that cost a thousand is not lost, nor is one that is likelier than δ."""
    with working():
        cheap = "poisson(randomized_response(epsilon=300), rate=1e-8)*4 + randomized_response(epsilon=250)*5"
        assert lost.epsilon_at(removed(cheap), arb("1e-6"), 1e-9, solve) is None
        likely = "poisson(randomized_response(epsilon=300), rate=1e-3)*4 + randomized_response(epsilon=0.5)*3"
        assert lost.epsilon_at(removed(likely), arb("1e-6"), 1e-9, solve) is None


def test_only_the_dear_ones_are_taken() -> None:
    """Of two kinds of hits the one that costs less than the others is summed with these."""
    rare = "poisson(laplace(scale=1e-9), rate=1e-12)*9 + poisson(gaussian(sigma=0.05), rate=1e-11)*7"
    text = f"{rare} + gaussian(sigma=0.1)*30"
    with working():
        found = lost.epsilon_at(removed(text), arb("1e-10"), 1e-6, solve)
        whole = meet.epsilon_at([removed(text)], arb("1e-10"), Precision(1e-6))
    assert found is not None
    assert found.width <= 1e-6
    assert max(found.lower, whole.lower) <= min(found.upper, whole.upper)


def test_mixtures_of_rare_hits_and_small_losses_are_narrow() -> None:
    """As people ask: hits that have a good part of δ, beside losses that no tilt sees with them."""
    text = "poisson(gaussian(sigma=9.8e-9), rate=1.25e-11)*19179 + laplace(scale=4.7e4)*6463"
    found = b.account(b.parse(text), delta="1.7e-6").epsilon
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-6)
    # the others alone, at what hits leave of δ; a miss costs ln(1 − q)
    rest = b.account(b.parse("laplace(scale=4.7e4)*6463"), delta=1.7e-6 - 1.25e-11 * 19179).epsilon
    assert abs(found.upper - (rest.upper - 1.25e-11 * 19179)) < 1e-6 * rest.upper
