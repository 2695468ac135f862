"""The grid of random questions over every family whose pair is known and attained."""

from __future__ import annotations

import pytest

import bursar as b
from support.questions import NAMES, question


@pytest.mark.parametrize("family", NAMES)
def test_questions_are_about_pairs_that_are_attained(family: str) -> None:
    """Every family's questions can be read, and each of its mechanisms attains the pair that it is counted by."""
    for number in range(NAMES.index(family), 8 * len(NAMES), len(NAMES)):
        asked = question(number)
        assert asked.family == family
        assert 0 < float(asked.delta) < 1
        terms = b.parse(asked.text).terms
        assert terms
        assert all(term.mechanism.losses().attained for term in terms)
