"""The page about cohorts: every program in it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.where import TOP

PAGE = TOP / "docs" / "howto" / "cohorts.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


NUMBERS = [
    pytest.param(number, marks=pytest.mark.ci) if "pyspark" in program else number
    for number, program in enumerate(PROGRAMS)
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_program_of_the_page(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """As it stands, in an empty folder; with the Spark of these tests where it asks for one."""
    monkeypatch.chdir(tmp_path)
    if "pyspark" in PROGRAMS[number]:
        request.getfixturevalue("spark")
    names: dict[str, object] = {}
    exec(PROGRAMS[number], names)
    names["ledger"].shut()  # type: ignore[attr-defined]


def test_there_are_programs() -> None:
    """One for blocks, one for people, one on Spark."""
    assert len(PROGRAMS) == 3
