"""A spend followed through the house: the files that it enters are those that CONTRIBUTING lists, and no others."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

import bursar as b
from bursar.ledger import ledger as module
from bursar.ledger.ledger import Ledger
from support.where import TOP

FLOOR = Path(module.__file__).parent
HOUSE = FLOOR.parent


def listed() -> set[str]:
    """The files of the section, as it names them."""
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## A spend, file by file\n")[1].split("\n## ")[0]
    rows = [row.split("|")[2] for row in section.splitlines() if re.match(r"\| \d", row)]
    return {name for row in rows for name in re.findall(r"`([\w/]+\.py)`", row)}


def test_a_spend_enters_the_files_that_are_listed(tmp_path: Path) -> None:
    """Whoever reads the list has met everything that a warm charge on SQLite runs in the ledger."""
    entered: set[str] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(FLOOR):
            entered.add(str(path.relative_to(HOUSE)))

    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=lambda _: None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", b.Laplace(scale=100), key="warm")
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            ledger.spend("data", b.Laplace(scale=100), key="k")
        finally:
            sys.setprofile(before)
    assert entered == listed()


def test_the_listed_files_exist() -> None:
    """Every row of the list names a file of the ledger."""
    assert listed()
    assert all((HOUSE / name).is_file() for name in listed())
