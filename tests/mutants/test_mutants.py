"""The mutants still apply, their table is up to date, and the runner tells killed ones from survivors; `make mutants`
runs them all.
"""

from __future__ import annotations

import dataclasses

import pytest
from run import judged, row, rows_before, tried

from mutants import Mutant, every_mutant

FLOORS = {
    "0-numerics",
    "1-guarantees",
    "1-losses",
    "2-mechanisms",
    "3-theorems",
    "4-jobs",
    "5-ledger",
    "5-stores",
    "6-adapters",
    "6-cli",
    "6-client",
    "6-service",
    "6-wire",
}
MUTANTS = every_mutant()
NAMED = {mutant.name: mutant for mutant in MUTANTS}
QUICK = ("crossing-by-midpoints", "costs-round-down", "lattice-without-slack")


def test_every_mutant_applies() -> None:
    """Its old text is there exactly once, the changed file is still a program, and its tests exist."""
    assert [fault for mutant in MUTANTS for fault in mutant.faults()] == []


def test_there_are_enough_of_them_on_every_floor() -> None:
    """Thirty at least, two on each floor, each with a name of its own."""
    assert len(NAMED) == len(MUTANTS) >= 30
    floors = [mutant.floor for mutant in MUTANTS]
    assert {floor for floor in floors if floors.count(floor) >= 2} >= FLOORS


def test_the_table_names_every_mutant() -> None:
    """Each has a line with the change as it is now, and a test that killed it: `make mutants` writes it."""
    lines = rows_before()
    assert set(lines) - {"mutant"} == set(NAMED)
    stale = [
        name for name, mutant in NAMED.items() if not lines[name].startswith(row(mutant, "").removesuffix("`` |\n"))
    ]
    assert stale == []
    assert [name for name in NAMED if lines[name].endswith("`` |\n")] == []


@pytest.mark.parametrize("name", QUICK)
def test_a_sample_is_killed(name: str) -> None:
    """Green without the change, red with it."""
    mutant = NAMED[name]
    assert tried(None, mutant.tests).status == "green"
    problem, killer = judged(mutant)
    assert problem is None
    assert killer.partition("[")[0] in mutant.tests


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"new": "if value <= self.target and True:"}, "SURVIVES"),
        ({"old": "if value is gone:"}, "occurs 0 times"),
        ({"old": "self.target"}, "times in src/bursar/numerics/search.py, not once"),
        ({"new": "if value <="}, "is no Python"),
        ({"new": "if value <= self.target:", "old": "if value <= self.target:"}, "changes nothing"),
        ({"tests": ("tests/numerics/test_numbers.py::test_gone",)}, "there is no test"),
        ({"file": "src/bursar/numerics/gone.py"}, "there is no"),
        ({"old": "import math\n", "new": "import maths\n"}, "did not run"),
    ],
)
def test_the_runner_is_not_content_with_less(change: dict[str, str], problem: str) -> None:
    """A survivor, a change that no longer applies and tests that do not run are failures, each by its name."""
    whole = Mutant(
        name="control",
        file="src/bursar/numerics/search.py",
        old="if value <= self.target:",
        new="if mid <= self.target:",
        why="a control",
        tests=("tests/numerics/test_numbers.py::test_crossing_looks_at_whole_balls",),
        floor="none",
    )
    found, killer = judged(dataclasses.replace(whole, **change))
    assert found is not None
    assert problem in found
    assert killer == ""
