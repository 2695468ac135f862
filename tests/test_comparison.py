"""The comparison: its page is made of what was asked, everybody was asked everything, and nobody is flattered."""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import pytest

from support.where import TOP

sys.path.append(str(TOP / "benchmarks"))
sys.path.append(str(TOP / "docs"))

import budgets
import compared
import contest
import contestants

FOUND = json.loads((TOP / "benchmarks" / "comparison.json").read_text(encoding="utf-8"))


def test_the_parameters_printed_are_those_that_ran() -> None:
    """The questions that were answered are the ones that the benchmark asks now, digit for digit."""
    assert FOUND["works"] == {name: str(work) for name, work in contest.WORKS.items()}
    page = (TOP / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert [said for said in FOUND["works"].values() if f"\n{said}.\n" not in page] == []


def test_everybody_was_asked_everything() -> None:
    """Each peer has an answer, a failure or "not offered" for each question; bursar answers all of them."""
    assert list(FOUND["answers"]) == list(contestants.PEERS)
    assert {len(given) for given in FOUND["answers"].values()} == {len(contest.WORKS)}
    assert all("value" in answer for answer in FOUND["answers"]["bursar"])
    assert list(FOUND["budgets"]) == list(budgets.KEEPERS)
    assert FOUND["questions"] == list(budgets.QUESTIONS)
    assert {len(given) for given in FOUND["budgets"].values()} == {len(budgets.QUESTIONS)}
    homes = {path.stem for path in (TOP / "benchmarks" / "apart" / "peers").glob("*.py")}
    assert set(contestants.APART.values()) <= homes


@pytest.mark.parametrize(
    ("ends", "two", "said"),
    [
        ((0.9, 0.9), False, "**below** by 10 %"),
        ((0.9, 0.95), True, "**below** by 5 %"),
        ((1.0, 1.0), False, "the same"),
        ((1.1, 1.1), False, "above by 10 %"),
        ((0.9, 1.1), True, "contains it"),
        ((1.1, 1.2), True, "**above**, excludes it"),
        ((float("inf"), float("inf")), False, "infinite"),
    ],
)
def test_sides(ends: tuple[float, float], two: bool, said: str) -> None:
    """Where an answer lies beside a truth of 1."""
    assert compared._side(ends, (1.0, 1.0), two=two) == said


@pytest.mark.parametrize(
    ("value", "truth", "below"),
    [
        (0.9, [1.0, 1.0], True),
        ([0.5, 1.1], [1.0, 1.0], False),
        ("inf", [1.0, 1.0], False),
        (11, 10, True),
        (9, 10, False),
        ({"high": [0.2, 0.09]}, {"low": [0.2, 0.1], "high": [0.2, 0.1]}, True),
        ({"high": [0.2, 0.1]}, {"low": [0.2, 0.1], "high": [0.2, 0.1]}, False),
    ],
)
def test_what_is_below_is_counted(value: object, truth: object, below: bool) -> None:
    """An ε that is too small, more steps than fit, a curve with one point too low."""
    assert compared.is_below(value, truth) is below


def test_keepers_are_asked_what_they_would_do() -> None:
    """bursar's ledger on the questions, and one that admits everything."""
    ours = budgets.KEEPERS["bursar, in memory"]
    assert budgets.eleven(ours) == 11
    assert budgets.small(ours) == 553
    assert budgets.refused(ours) == "passes, refused, passes"
    assert budgets.refused(lambda epsilon, delta: lambda loss: True) == "passes, passes, passes"

    def floats(epsilon: Fraction, delta: Fraction) -> budgets.Spend:
        spent = [0.0]

        def spend(loss: Fraction) -> bool:
            spent[0] += float(loss)
            return spent[0] <= float(epsilon)

        return spend

    assert budgets.eleven(floats) == 10
