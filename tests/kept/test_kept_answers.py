"""What a user sees is what was kept: `python tests/kept/referee.py PART` writes a part anew where a change is meant."""

from __future__ import annotations

import pytest
from referee import PARTS, differences, kept

SAMPLE = {
    "bounds": range(7, 20_000, 91),
    "prices": range(9, 506, 13),
    "plans": range(3, 180, 6),
    "curves": range(0, 51, 5),
}
"""Of the numbers, three hundred that are computed quickly."""


@pytest.mark.parametrize("part", [part for part in PARTS if part not in SAMPLE])
def test_words_are_what_they_were(part: str) -> None:
    """Names and signatures, forms, what the command line prints, what the service answers."""
    assert differences(part) == []


@pytest.mark.parametrize("part", SAMPLE)
def test_numbers_are_what_they_were(part: str) -> None:
    """Some of the prices, plans, curves and bounds of every theorem."""
    assert differences(part, SAMPLE[part]) == []


@pytest.mark.soak
@pytest.mark.parametrize("part", SAMPLE)
def test_all_numbers_are_what_they_were(part: str) -> None:
    """All of them; and there are as many as were asked for."""
    assert differences(part) == []
    assert len(kept(part)) >= {"bounds": 20_000, "prices": 500, "plans": 200, "curves": 50}[part]
