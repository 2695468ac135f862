"""Strategies against bounded range: what is computed on a grid is what enumeration finds, and never more."""

from __future__ import annotations

from functools import cache

import mpmath
import pytest
from flint import arb
from mpmath import mpf

from bursar.losses import BoundedRangeLoss
from bursar.losses.engines.adaptive import MOST, Game, best_top, delta_below, epsilon_below, largest_moment
from bursar.numerics.balls import ball, working


def top_chance(eta: mpf, t: mpf) -> mpf:
    """The chance of the loss t of the two t and t − η, from the weights of two candidates: a has odds e^c against b
    with the record and e^{c−η} without it, and c is found from t.
    """
    odds = (mpmath.exp(eta) - mpmath.exp(t)) / mpmath.expm1(t)  # e^c: P(a)/Q(a) = (1 + e^{η−c})/(1 + e^{−c}) = e^t
    with_record, without = odds / (1 + odds), odds * mpmath.exp(-eta) / (1 + odds * mpmath.exp(-eta))
    assert mpmath.almosteq(mpmath.log(with_record / without), t, 1e-20)
    assert mpmath.almosteq(mpmath.log((1 - with_record) / (1 - without)), t - eta, 1e-20)
    return with_record


def best(eta: mpf, count: int, epsilon: mpf, cells: int) -> mpf:
    """What the best strategy reaches whose t's are multiples of η/cells, but for the last release, which has the best t
    of a thousand: by playing all games.
    """
    tops = [(i, top_chance(eta, eta * i / cells)) for i in range(1, cells)]
    fine = [(eta * i / 1000, top_chance(eta, eta * i / 1000)) for i in range(1, 1000)]

    def stick(x: mpf) -> mpf:
        return max(1 - mpmath.exp(x), mpf(0))

    @cache
    def value(left: int, lost: int) -> mpf:
        x = epsilon - eta * lost / cells
        if left == 1:
            if abs(x) >= eta:
                return stick(x)
            return max(p * stick(x - t) + (1 - p) * stick(x - t + eta) for t, p in fine)
        return max(p * value(left - 1, lost + i) + (1 - p) * value(left - 1, lost + i - cells) for i, p in tops)

    return value(count, 0)


@pytest.mark.parametrize(("count", "cells"), [(1, 8), (2, 6), (3, 5), (4, 4), (5, 4), (6, 3)])
@pytest.mark.parametrize(("eta", "share"), [("1", "0.1"), ("0.3", "0.4"), ("4", "0.6")])
def test_games_are_played_as_enumeration_plays_them(count: int, cells: int, eta: str, share: str) -> None:
    """Up to six releases: all games that a strategy can lead to, one by one, have together the δ that is computed."""
    with working(), mpmath.workdps(30):
        epsilon = mpf(share) * mpf(eta) * count
        truth = best(mpf(eta), count, epsilon, cells)
        found = Game(ball(arb(eta)), count, cells).delta(float(epsilon) * (1 + 1e-15))
        assert truth * (1 - mpf("1e-5")) <= found  # the last t is one of a thousand
        exact = BoundedRangeLoss(arb(eta))
        if count == 1:
            assert found <= float(exact.profile(float(epsilon)).upper())
        assert found <= truth * (1 + mpf("1e-5"))


@pytest.mark.parametrize(
    ("count", "eta", "epsilon", "reached"),
    [(2, "1", "0.2", "0.23654"), (3, "1", "0.5", "0.21157"), (4, "1", "1.5", "0.06814")],
)
def test_golden_values_of_adaptive_play(count: int, eta: str, epsilon: str, reached: str) -> None:
    """The exact recursion gives these, to the digits printed."""
    with working():
        found = delta_below(arb(eta), count, arb(epsilon))
    assert float(reached) * (1 - 1e-4) <= found <= float(reached) + 5e-6


def test_an_epsilon_that_is_reached_has_a_larger_delta() -> None:
    """At the ε that is returned some strategy's δ exceeds the one asked, and just above it none on the grid does."""
    with working():
        for count in (1, 2, 5, MOST):
            for eta in (arb("0.05"), arb("1.5"), ball(arb("0.7", 1e-9))):
                for delta in (0.2, 1e-3, 1e-9):
                    found = epsilon_below(eta, count, arb(delta))
                    game = Game(eta, count)
                    assert found == 0 or game.delta(found) > delta
                    assert game.delta(found * (1 + 1e-5) + 1e-12) <= delta


def test_a_range_known_less_well_is_worth_less() -> None:
    """What is computed for a ball of ranges is reached by each of them: it is at most that of the shortest."""
    with working():
        wide = Game(arb("0.7", 0.01), 4).delta(0.5)
        assert 0 < wide < min(Game(arb(eta), 4).delta(0.5) for eta in ("0.69", "0.695", "0.7", "0.71"))


def test_the_best_moment() -> None:
    """The t with the largest moment at a tilt, and that moment, against a search over tables."""
    with working():
        for eta in (0.1, 1.0, 5.0):
            for tilt in (0.01, 1.0, 30.0):
                law = BoundedRangeLoss(arb(eta))
                shares = [i / 400 for i in range(1, 400)]
                heights = [law.strategy(share).rough_cumulant(tilt) for share in shares]
                share = best_top(eta, tilt) / eta
                assert abs(share - shares[heights.index(max(heights))]) <= 1 / 300
                assert max(heights) <= largest_moment(eta, tilt) * (1 + 1e-9) + 1e-12
                assert largest_moment(eta, tilt) == pytest.approx(law.strategy(share).rough_cumulant(tilt), rel=1e-9)
