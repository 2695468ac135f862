"""The guarantee with questions about the filter itself: the best strategy of all stays within B-zCDP, exactly."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import share
from bursar.cohorts.people.noise import discrete_gaussian
from bursar.ledger.ledger import Ledger
from support.cohorts import People
from support.person_contract import some_rows
from support.tables import SECRET, arrow

BUDGET, RESERVE = 10**8, 4 * 10**7  # ρ = 1/10, of which 1/25 is set aside
VARIANCE, QUESTION = 25, 2 * 10**7  # 1/(2·25)
STRENGTHS = (1, 2, 3, 4)  # randomized responses with ε = 0.1 … 0.4
ROUNDS = 9
State = tuple[int, int]
"""What was charged to the person, and what is left of what was set aside."""
Pay = Callable[[State], State | None]
"""What a question makes of a state; None where it is refused."""


@cache
def price(strength: int) -> int:
    """What a randomized response is charged."""
    return math.ceil(Fraction(b.RandomizedResponse(epsilon=f"0.{strength}").promise(b.ZCDP).rho) * 10**9)


@cache
def response(strength: int, order: float) -> float:
    """E_Q[(P/Q)^α] of a randomized response."""
    right = 1 / (1 + math.exp(-strength / 10))
    return right**order * (1 - right) ** (1 - order) + (1 - right) ** order * right ** (1 - order)


@cache
def counted(order: float) -> float:
    """E_Q[(P/Q)^α] of a count with discrete Gaussian noise that the person moves by 1, by its sum."""
    span = range(-400, 401)
    weights = {y: math.exp(-y * y / (2 * VARIANCE)) for y in span}
    terms = (order * -((y - 1) ** 2) / (2 * VARIANCE) + (1 - order) * -(y**2) / (2 * VARIANCE) for y in span)
    return math.fsum(math.exp(term) for term in terms) / math.fsum(weights.values())


def worst_divergence(pay: Pay, start: State, limit: int, rule: str, order: float) -> float:
    """The largest Rényi divergence that any adaptive strategy of responses and questions reaches."""

    def after(before: int, asked: int) -> tuple[bool, int]:
        people = People(limit, rule)
        people.spent["ann"] = before
        return bool(people.admit({"ann": asked})), min(people.spent["ann"], limit + 1)

    @cache
    def value(rounds: int, state: State) -> float:
        if not rounds:
            return 1.0
        spent, left = state
        found = [value(rounds - 1, state)]
        for strength in STRENGTHS:
            admitted, now = after(spent, price(strength))
            found.append((response(strength, order) if admitted else 1.0) * value(rounds - 1, (now, left)))
        following = pay(state)
        if following is not None:  # whoever was never charged is in neither count
            found.append((counted(order) if spent else 1.0) * value(rounds - 1, following))
        return max(found)

    return math.log(value(ROUNDS, start)) / (order - 1)


def from_the_reserve(state: State) -> State | None:
    """As the filter does: everybody pays from what was set aside."""
    return (state[0], state[1] - QUESTION) if state[1] >= QUESTION else None


def whoever_can(state: State) -> State | None:
    """Broken on purpose: charged to the person's own budget where that bears it, and free where not."""
    return (state[0] + QUESTION if state[0] + QUESTION <= BUDGET else state[0], 0)


@pytest.mark.parametrize("rule", ["skip", "halt"])
def test_the_best_strategy_stays_within_the_budget(rule: str) -> None:
    """Responses and questions in any order, each chosen by what was answered: at every order αB is not exceeded."""
    for order in (1.01, 1.5, 2.0, 4.0, 16.0):
        reached = worst_divergence(from_the_reserve, (0, RESERVE), BUDGET - RESERVE, rule, order)
        assert reached <= order * BUDGET / 10**9 * (1 + 1e-12)
        assert reached > order * (BUDGET - RESERVE) / 10**9 * 1.2  # the questions do count
    assert worst_divergence(from_the_reserve, (0, RESERVE), BUDGET, rule, 2.0) > 2.0 * BUDGET / 10**9


def test_whoever_has_nothing_left_must_pay_too() -> None:
    """Where the exhausted are not charged the budget is exceeded: the check above can fail."""
    assert worst_divergence(whoever_can, (0, 0), BUDGET, "skip", 2.0) > 2.0 * BUDGET / 10**9


def test_one_person_moves_one_count_by_one(embedded: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same queries with and without somebody: both counts of a real filter, as a dictionary has them."""
    monkeypatch.setattr(share, "discrete_gaussian", lambda variance: 0)
    chance = random.Random(5)
    queries = [(some_rows(chance, 9), chance.choice((12, 16, 20))) for _ in range(6)]
    moves = set()
    for rule in ("skip", "halt"):
        seen = []
        for gone in ("nobody", "person 2", "person 5"):
            made = PersonFilter.create(
                embedded,
                f"{rule} without {gone}",
                folder=tmp_path / rule / gone,
                person="user",
                rho="1/100",
                reserve="1/300",
                secret=SECRET,
                rule=rule,
            )
            oracle, counts = People(10**7 - math.ceil(Fraction(10**9, 300)), rule), []
            for number, (rows, sigma) in enumerate(queries):
                here = [row for row in rows if row[0] != gone]
                made.admit(arrow(here), b.Gaussian(sigma=sigma), key=f"{rule} {gone} {number}")
                oracle.admit({one: -(-(10**9) // (2 * sigma**2)) for one, _ in here})
                found = made.exhausted_share(b.Gaussian(sigma=16), sigma=40, key=f"{rule} {gone} ask {number}")
                above = sum(spent + 1953125 > oracle.limit for spent in oracle.spent.values() if spent)
                assert (found.exhausted, found.others) == (above, sum(map(bool, oracle.spent.values())) - above)
                counts.append((found.exhausted, found.others))
            assert made.verify().ok
            seen.append(counts)
        for others in seen[1:]:
            moves |= {(one[0] - two[0], one[1] - two[1]) for one, two in zip(seen[0], others, strict=True)}
    assert moves <= {(0, 0), (1, 0), (0, 1)}
    assert {(1, 0), (0, 1)} <= moves


def test_the_noise_has_the_law_that_it_is_charged_for() -> None:
    """Frequencies of many draws against the weights e^{−y²/2σ²}, for variances that are whole and that are not."""
    for variance in (Fraction(1, 3), Fraction(7), Fraction(51, 2)):
        chance = random.Random(1)
        draws = [discrete_gaussian(variance, chance.randrange) for _ in range(6000)]
        span = range(-60, 61)
        whole = math.fsum(math.exp(-y * y / (2 * float(variance))) for y in span)
        expected = {y: 6000 * math.exp(-y * y / (2 * float(variance))) / whole for y in span}
        cells = [y for y in span if expected[y] > 8]
        statistic = sum((draws.count(y) - expected[y]) ** 2 / expected[y] for y in cells)
        assert statistic < len(cells) + 4.5 * math.sqrt(2 * len(cells)) + 8
        assert len(set(draws)) > 2
