"""Which direction is asked: one that certainly costs less is left out, and only such a one."""

from __future__ import annotations

import pytest
from flint import arb

import bursar as b
from bursar.errors import ContradictionError
from bursar.losses.engines.answer import Answer, Losses, asked_between
from bursar.losses.engines.cheaper import below


def removed(text: str) -> Losses:
    """The losses with a record removed."""
    return [(term.mechanism.losses().remove, term.count) for term in b.parse(text).terms]


def answer(epsilon: float, engine: str) -> Answer:
    """What the other direction is known to cost."""
    return Answer(epsilon, 1.0001 * epsilon, (), engine, 1, 0.0)


def test_losses_that_never_reach_the_other_epsilon_are_below_it() -> None:
    """All losses at their largest are less than the other direction's lower end; not if they are more."""
    losses = removed("laplace(scale=2)*10")
    assert below(losses, answer(5.1, "contour"), arb(10) ** -9)
    assert not below(losses, answer(4.9, "contour"), arb(10) ** -9)


def test_a_direction_that_leaks_is_not_cheaper() -> None:
    """Small finite losses say nothing where δ does not cover what may be infinite."""
    losses = removed("leaky_randomized_response(epsilon=0.1, delta=0.001)")
    assert not below(losses, answer(5.0, "hits"), arb(10) ** -9)


def test_releases_that_cost_little_one_by_one_are_below_a_huge_epsilon() -> None:
    """Unbounded losses cost less than the answer of an engine for huge ones, kind by kind; not than that of another."""
    losses = removed("gaussian(sigma=10)*1000 + laplace(scale=1)*7")
    assert below(losses, answer(1e9, "hits"), arb(10) ** -30)
    assert not below(losses, answer(1e-3, "hits"), arb(10) ** -30)
    assert not below(losses, answer(1e9, "contour"), arb(10) ** -30)


def test_ends_that_exclude_each_other_are_an_error() -> None:
    """Asked at two δ's, an engine whose lower end at the larger one exceeds its upper end at the smaller one lies."""

    def liar(delta: arb) -> Answer:
        return Answer(2.0, 3.0, (), "envelope", 1, 0.0) if delta > 0.01 else Answer(0.5, 1.0, (), "envelope", 1, 0.0)

    with pytest.raises(ContradictionError):
        asked_between(liar, arb("0.001"), arb("0.1"), 1e-6)
