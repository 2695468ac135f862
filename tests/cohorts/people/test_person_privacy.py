"""The guarantee, for one person: the best adaptive strategy of all, found exactly, stays within B-zCDP.

An adversary chooses, round by round and knowing every answer, one of some randomized responses to ask of a person.
Where the filter leaves the person out, the answer has the same law whether the person is there or not. Backward
induction over (what was charged, the loss so far) gives the supremum over all strategies, randomized ones included,
because a mixture is never better than its best part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import pytest

import bursar as b
from support.cohorts import People

BUDGET = 10**8  # ρ = 1/10
STEP = 0.1
STRENGTHS = (1, 2, 3, 4)  # randomized responses with ε = 0.1 … 0.4
ROUNDS = 14
Decide = Callable[[int, int], tuple[bool, int]]
"""What was charged before and what is asked: whether the person is admitted, and what is charged then."""


class Answer(NamedTuple):
    """One answer of a randomized response."""

    chance: float
    """With the person in the data."""
    other: float
    """Without."""
    loss: int
    """The logarithm of their ratio, in steps."""


@cache
def answers(strength: int) -> list[Answer]:
    """Both answers."""
    right = 1 / (1 + math.exp(-strength * STEP))
    return [Answer(right, 1 - right, strength), Answer(1 - right, right, -strength)]


@cache
def charge(strength: int) -> int:
    """What the mechanism's own promise costs."""
    rho = b.RandomizedResponse(epsilon=f"0.{strength}").promise(b.ZCDP).rho
    return math.ceil(Fraction(rho) * 10**9)


def by_filter(rule: str) -> Decide:
    """The filter of the cohorts, as the dictionary has it."""

    @cache
    def decide(before: int, asked: int) -> tuple[bool, int]:
        people = People(BUDGET, rule)
        people.spent["ann"] = before
        admitted = bool(people.admit({"ann": asked}))
        return admitted, min(people.spent["ann"], BUDGET + 1)  # above the budget nothing changes any more

    return decide


def half_price(before: int, asked: int) -> tuple[bool, int]:
    """A filter that is broken on purpose."""
    return before + asked // 2 <= BUDGET, min(before + asked // 2, BUDGET)


def worst_delta(decide: Decide, epsilon: float) -> float:
    """The largest δ that any strategy reaches at this ε."""

    @cache
    def value(rounds: int, before: int, loss: int) -> float:
        best = max(0.0, 1 - math.exp(epsilon - loss * STEP))  # stopping is a choice too
        for strength in STRENGTHS if rounds else ():
            admitted, after = decide(before, charge(strength))
            if admitted:
                parts = [one.chance * value(rounds - 1, after, loss + one.loss) for one in answers(strength)]
                best = max(best, sum(parts))
            else:
                best = max(best, value(rounds - 1, after, loss))
        return best

    return value(ROUNDS, 0, 0)


def worst_divergence(decide: Decide, order: float) -> float:
    """The largest Rényi divergence of this order that any strategy reaches."""

    @cache
    def value(rounds: int, before: int) -> float:
        best = 1.0
        for strength in STRENGTHS if rounds else ():
            admitted, after = decide(before, charge(strength))
            moment = 1.0
            if admitted:
                moment = sum(one.chance**order * one.other ** (1 - order) for one in answers(strength))
            best = max(best, moment * value(rounds - 1, after))
        return best

    return math.log(value(ROUNDS, 0)) / (order - 1)


@pytest.mark.parametrize("rule", ["skip", "halt"])
def test_the_best_strategy_stays_within_the_budget(rule: str) -> None:
    """At every order the divergence is at most αB: that is what B-zCDP means; δ is below what it promises, too."""
    decide = by_filter(rule)
    for order in (1.01, 1.5, 2.0, 4.0, 16.0, 64.0):
        assert worst_divergence(decide, order) <= order * BUDGET / 10**9 * (1 + 1e-12)
    promise = b.Declared(b.ZCDP(rho="1/10"))
    for epsilon in (0.2, 0.5, 1.0, 1.5):
        reached = worst_delta(decide, epsilon)
        assert 0 < reached <= b.account(promise, epsilon=epsilon).delta.upper


def test_a_broken_filter_is_caught() -> None:
    """Charging half of the price exceeds the budget at some order: the check above can fail."""
    assert worst_divergence(half_price, 2.0) > 2.0 * BUDGET / 10**9
    for epsilon in (0.2, 0.5, 1.0, 1.5):
        assert worst_delta(half_price, epsilon) > worst_delta(by_filter("skip"), epsilon)


def test_a_cap_on_people_breaks_the_guarantee() -> None:
    """With the first k people only, somebody who comes takes the place of another, and a sum moves by both: four times
    the ρ that the newcomer was charged. By the filter it moves by the newcomer alone.
    """
    values = {"bob": -1.0, "eve": -1.0, "ann": 1.0}
    sigma, cap = 5.0, 2

    def capped(people: dict[str, float]) -> float:
        return sum(value for _, value in sorted(people.items())[:cap])

    def filtered(people: dict[str, float]) -> float:
        kept = People(BUDGET, "skip").admit(dict.fromkeys(people, 2 * 10**7))
        return sum(value for name, value in people.items() if name in kept)

    without = {name: value for name, value in values.items() if name != "ann"}
    charged = 1 / (2 * sigma**2)
    for release, factor in ((capped, 4), (filtered, 1)):
        moved = release(values) - release(without)
        assert moved**2 / (2 * sigma**2) == pytest.approx(factor * charged)
