"""Compositions in which some releases cost next to nothing, and copies with a closed profile."""

from __future__ import annotations

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import closed, dominant, meet
from bursar.losses.engines.answer import Answer, Losses, Precision
from bursar.numerics.balls import Ball, working

MIXED = [
    ("gaussian(sigma=1)*10 + laplace(scale=1e12)*3", "1e-9"),
    ("laplace(scale=0.5)*40 + laplace(scale=1e11)*100 + poisson(laplace(scale=3), rate=1e-15)*7", "1e-12"),
    ("poisson(gaussian(sigma=2), rate=0.1)*50 + poisson(gaussian(sigma=2), rate=1e-14)*5", "1e-20"),
]


def removed(text: str) -> Losses:
    """The losses with a record removed."""
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


def solve(losses: Losses, delta: Ball, width: float) -> Answer:
    """All engines, at this width."""
    return meet.epsilon_at([losses], delta, Precision(width))


@pytest.mark.parametrize(("text", "delta"), MIXED)
@pytest.mark.parametrize("way", [dominant.epsilon_at, dominant.by_answers])
def test_an_engine_that_sees_all_agrees(text: str, delta: str, way: object) -> None:
    """What is left out is bounded: the interval is narrow and meets that of an engine that leaves nothing out."""
    assert callable(way)
    with working():
        found = way(removed(text), arb(delta), 1e-6, solve)
        whole = meet.epsilon_at([removed(text)], arb(delta), Precision(1e-6, engine="envelope"))
    assert found is not None
    assert found.width <= 1e-6
    assert max(found.lower, whole.lower) <= min(found.upper, whole.upper)


def test_what_is_left_out_is_added() -> None:
    """Two responses of which one costs next to nothing: at a small δ they cost what both of their ε's add up to."""
    with working():
        losses = removed("randomized_response(epsilon=1e10)*2 + randomized_response(epsilon=40)*2")
        found = dominant.epsilon_at(losses, arb("1e-30"), 1e-6, solve)
    assert found is not None
    assert found.lower <= 2e10 + 80 <= found.upper


@pytest.mark.parametrize("delta", ["1e-3", "1e-60"])
def test_what_all_cost_at_most_is_more_than_what_they_cost(delta: str) -> None:
    """A bound release by release lies above what engines say, also where the largest losses are all that is known."""
    with working():
        for text, _ in (*MIXED, ("laplace(scale=9.66e-7)*7 + poisson(laplace(scale=9.66e-7), rate=2.5e-15)*378", "")):
            most = dominant.at_most(removed(text), arb(delta))
            assert most.is_finite()
            assert most >= solve(removed(text), arb(delta), 1e-3).lower


def test_a_leak_is_not_covered_by_the_largest_loss() -> None:
    """What leaks more than δ has no bound, however small its finite losses are; what leaks less has."""
    with working():
        losses = removed("leaky_randomized_response(epsilon=1, delta=1e-9)")
        assert not dominant.at_most(losses, arb("1e-10")).is_finite()
        assert dominant.at_most(losses, arb("1e-8")) <= 1.0001


def test_others_that_cost_next_to_nothing_are_left_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside steady losses that are huge no engine is asked about the others, and what they may cost is added."""
    monkeypatch.setattr(meet, "_by_engines", lambda *_: pytest.fail("an engine was asked"))
    with working():
        losses = removed("laplace(scale=1e-11)*255 + poisson(gaussian(sigma=0.001), rate=0.5)")
        found = meet.epsilon_at([losses], arb("1e-90"), Precision(1e-6))
    # with a chance of 2^−255, far above 1e-90, all Laplaces are at their largest loss; half of the samples cost μ²/2
    assert found.lower <= 255e11 + 510_000 <= found.upper + 20_000
    assert found.width <= 1e-6


def test_equals_are_left_to_the_engines() -> None:
    """Where no release is negligible beside the others, nothing is left out."""
    with working():
        losses = removed("gaussian(sigma=1)*3 + laplace(scale=2)*3")
        assert dominant.epsilon_at(losses, arb("1e-9"), 1e-6, solve) is None
        assert dominant.by_answers(losses, arb("1e-9"), 1e-6, solve) is None


@pytest.mark.parametrize("sigma", ["1e-25", "0.01", "3", "1e20"])
@pytest.mark.parametrize("count", [1, 10**9])
def test_gaussian_copies_have_a_closed_form(sigma: str, count: int) -> None:
    """The same as one Gaussian with √count times the μ, by the theorem that knows them."""
    with working():
        found = closed.epsilon_at(removed(f"gaussian(sigma={sigma})*{count}"), arb("1e-40"))
    told = b.account(b.parse(f"gaussian(sigma={sigma})*{count}"), delta="1e-40", theorems=["gdp"]).bound
    assert found is not None
    assert found.width <= 1e-9
    assert max(found.lower, told.lower) <= min(found.upper, told.upper)


def test_releases_that_delta_covers_cost_nothing_however_large_their_losses_are() -> None:
    """A hit of chance 6e-9 in all, beside Gaussians at δ = 1e-3: their own δ at both ends is what the hits leave."""
    text = "gaussian(sigma=3)*5 + poisson(gaussian(sigma=1e-12), rate=2e-9)*3"
    with working():
        found = dominant.epsilon_at(removed(text), arb("1e-3"), 1e-3, solve)
        assert found is not None
        ((plain, count), _) = sorted(removed(text), key=lambda one: -one[1])
        assert 0 < found.lower < found.upper < 10
        assert plain.copies_profile(count, arb(found.upper)) + arb("6e-9") <= arb("1e-3")
        assert plain.copies_profile(count, arb(found.lower)) >= arb("0.999999e-3")
        assert dominant.epsilon_at(removed(text), arb("2e-8"), 1e-3, solve) is None
