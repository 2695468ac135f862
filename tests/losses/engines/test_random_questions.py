"""The grid of random questions over every family whose pair is known and attained."""

from __future__ import annotations

import pytest

import bursar as b
from support.grid import Outcome, asked
from support.questions import NAMES, question


@pytest.mark.parametrize("family", NAMES)
def test_questions_are_about_pairs_that_are_attained(family: str) -> None:
    """Every family's questions can be read, and each of its mechanisms attains the pair that it is counted by."""
    for number in range(NAMES.index(family), 8 * len(NAMES), len(NAMES)):
        it = question(number)
        assert it.family == family
        assert 0 < float(it.delta) < 1
        terms = b.parse(it.text).terms
        assert terms
        assert all(term.mechanism.losses().attained for term in terms)


def _shares(outcomes: list[Outcome]) -> tuple[float, float, float]:
    """How many answers are narrow to a millionth, to a thousandth, and say nothing from below where ε is positive."""
    n = len(outcomes)
    open_below = sum(one.lower == 0 < one.upper for one in outcomes)
    return (
        sum(one.width <= 1e-6 for one in outcomes) / n,
        sum(one.width <= 1e-3 for one in outcomes) / n,
        open_below / n,
    )


def _checked(first: int, cases: int) -> list[Outcome]:
    outcomes = [asked(number) for number in range(first, first + cases)]
    for one in outcomes:
        assert one.lower <= one.upper, one
        assert one.width <= 1e-3 or one.because, "what is wide says why"
    return outcomes


def test_a_sample_of_the_grid_is_narrow() -> None:
    """Two questions of every family, with parameters over all that is accepted: nearly all within a millionth."""
    close, near, empty = _shares(_checked(20_000, 2 * len(NAMES)))
    assert close >= 0.96
    assert near >= 0.98
    assert empty == 0


@pytest.mark.soak
def test_the_grid_is_narrow() -> None:
    """Five thousand questions, families of equal weight: 99 % within a millionth, 99.9 % within a thousandth, and a
    lower end wherever ε is positive.
    """
    close, near, empty = _shares(_checked(1_000_000, 5_010))
    assert close >= 0.99
    assert near >= 0.999
    assert empty == 0
