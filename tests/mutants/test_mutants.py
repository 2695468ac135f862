"""The mutants still apply, and the runner tells killed ones from survivors; `make mutants` runs them all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from run import Mutant, every_mutant, wrong

CONTROL = Mutant(
    "control",
    "src/bursar/numerics/search.py",
    "if value <= self.target:",
    "if mid <= self.target:",
    "A point would be taken that is not certainly below the target.",
)
KILLER = ["tests/numerics/test_numbers.py"]


def test_every_mutant_applies() -> None:
    """Its old text is there exactly once, the changed file is still a program, it has a reason and its room has tests;
    no two have one name.
    """
    mutants = every_mutant()
    assert [fault for mutant in mutants if (fault := mutant.fault()) is not None] == []
    assert [mutant.name for mutant in mutants if not mutant.tests()] == []
    assert len({mutant.name for mutant in mutants}) == len(mutants)


def test_a_mutant_is_killed() -> None:
    """The tests turn red under the change."""
    assert wrong(CONTROL, KILLER) is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"new": "if value <= self.target and True:"}, "SURVIVES"),
        ({"old": "if value is gone:"}, "occurs 0 times"),
        ({"old": "self.target"}, "times in src/bursar/numerics/search.py, not once"),
        ({"new": "if value <="}, "is no Python"),
        ({"new": "if value <= self.target:"}, "changes nothing"),
        ({"file": "src/bursar/numerics/gone.py"}, "occurs 0 times"),
        ({"old": "import math\n", "new": "import maths\n"}, "did not run"),
    ],
)
def test_the_runner_is_not_content_with_less(change: dict[str, str], problem: str) -> None:
    """A survivor, a change that no longer applies and tests that do not run are failures, each by its name."""
    assert problem in str(wrong(replace(CONTROL, **change), KILLER))
