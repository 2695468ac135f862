"""The reliability report itself: two columns, of which a run renews its own and keeps the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import reliability
from support.reliability import NOT_RUN, Place, record, renewed, reported, written
from support.where import TOP


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reliability, "FOLDER", tmp_path / "figures")
    monkeypatch.setattr(reliability, "REPORT", tmp_path / "RELIABILITY.md")


def run(rows: int, *, soak: bool, tried: int) -> str:
    """What the report says after a run that filled so many lines."""
    reliability.clear()
    for number in range(rows):
        record("power cut", f"way {number:02d}", tried, 0, soak=soak)
    if not soak:
        record("power cut", "broken", tried, 7, control=True)
    reliability.write()
    return reliability.REPORT.read_text(encoding="utf-8") if reliability.REPORT.exists() else ""


def test_each_run_keeps_the_others_figures() -> None:
    """`make test`, then `make soak`, then `make test` again: each renews its own column and leaves the other alone."""
    first = run(reliability.ENOUGH, soak=False, tried=1000)
    assert f"| power cut | way 00 | 1,000 | 0 | {NOT_RUN} |  |" in first
    assert f"| power cut | broken | 1,000 | 7 | {NOT_RUN} |  |" in first
    both = run(2, soak=True, tried=50_000)
    assert "| power cut | way 01 | 1,000 | 0 | 50,000 | 0 |" in both
    assert f"| power cut | way 02 | 1,000 | 0 | {NOT_RUN} |  |" in both
    again = run(reliability.ENOUGH, soak=False, tried=2000)
    assert "| power cut | way 01 | 2,000 | 0 | 50,000 | 0 |" in again
    assert f"| power cut | way 02 | 2,000 | 0 | {NOT_RUN} |  |" in again


def test_a_part_of_the_tests_writes_nothing() -> None:
    """Some tests of the ledger alone are no `make test`, and change no figure of it."""
    whole = run(reliability.ENOUGH, soak=False, tried=1000)
    assert run(3, soak=False, tried=5) == whole


def test_lines_that_nobody_fills_any_more_go() -> None:
    """A campaign that was renamed leaves no old line behind in a whole run; what the soak counted of it stays."""
    before = {
        Place(False, "old", "way"): {"test": (5, 0)},
        Place(False, "older", "way"): {"test": (5, 0), "soak": (9, 0)},
    }
    now = {Place(False, "new", str(number)): {"test": (1, 0)} for number in range(reliability.ENOUGH)}
    after = renewed(before, now)
    assert Place(False, "old", "way") not in after
    assert after[Place(False, "older", "way")] == {"soak": (9, 0)}
    assert reported(written(after)) == after


def test_the_report_in_the_checkout_can_be_read() -> None:
    """Otherwise a run would lose what others counted."""
    text = (TOP / "RELIABILITY.md").read_text(encoding="utf-8")
    found = reported(text)
    assert len(found) >= reliability.ENOUGH
    assert written(found) == text
