"""What a user sees is what was kept: `python tests/kept/referee.py PART` writes a part anew where a change is meant."""

from __future__ import annotations

import pytest
from referee import PARTS, differences, differs, kept

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
    """Some of the prices, plans, curves and bounds of every theorem; and none of those that are kept is lost."""
    assert differences(part, SAMPLE[part]) == []
    assert len(kept(part)) >= {"bounds": 20_000, "prices": 500, "plans": 200, "curves": 50}[part]


@pytest.mark.soak
@pytest.mark.parametrize("part", SAMPLE)
def test_all_numbers_are_what_they_were(part: str) -> None:
    """All of them."""
    assert differences(part) == []


def test_differences_are_seen() -> None:
    """A field that comes, goes, is null or has another kind; a list of another length; an end a hair away."""
    for was, now in (({"a": None}, {}), ({}, {"a": None}), ({"a": 1}, {"a": True}), ([1], [1, 2]), ("1", "2")):
        assert differs("names", was, now)
    assert differs("bounds", {"basic": "0x1.0p+0 0x1.0p+0"}, {"basic": "0x1.0p+0 0x1.0000000000001p+0"})
    assert differs("bounds", {"numerical": ["1.0", "1.1"]}, {"numerical": ["1.0", "1.2"]})
    assert differs("bounds", {"numerical": ["1.0", "1.1"]}, {"numerical": ["1.0", "1.1000001"]}) is None
    assert differs("plans", {"value": "1", "epsilon": ["1", "1"]}, {"value": "inf", "epsilon": ["1", "1"]})
    assert differs("prices", {"epsilon": "1"}, {"epsilon": "1000000001/1000000000"})
