"""The reliability report: what the tests did to the ledger, counted by the tests that did it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

FOLDER = Path(os.environ.get("BURSAR_FIGURES", Path(tempfile.gettempdir()) / f"bursar-figures-{os.getuid()}"))
REPORT = Path(__file__).parents[2] / "RELIABILITY.md"
HEAD = """# Reliability

Written by the tests in `tests/ledger` whenever all of them run (`make test`; `make soak` runs the same campaigns at
full length). A *loss* is an acknowledged charge that is missing afterwards, a limit that was exceeded, a change of a
logical value that went unnoticed, or an input that did damage. The negative controls are ledgers broken on purpose: the
harness must catch them, or its other figures would prove nothing.

| what was done | how | tried | losses |
|---|---|---:|---:|
"""
CONTROLS = """
| negative control | how it is broken | tried | losses caught |
|---|---|---:|---:|
"""


def record(what: str, how: str, tried: int, lost: int, *, control: bool = False) -> None:
    """One line of the report; a second one with the same words replaces the first."""
    FOLDER.mkdir(exist_ok=True)
    row = {"what": what, "how": how, "tried": tried, "lost": lost, "control": control}
    name = "".join(letter if letter.isalnum() else "-" for letter in f"{what} {how}")[:150]
    (FOLDER / f"{name}.json").write_text(json.dumps(row), encoding="utf-8")


def write() -> None:
    """The report from what was recorded."""
    rows = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.json"))]
    tables = {False: HEAD, True: CONTROLS}
    for row in rows:
        tables[row["control"]] += f"| {row['what']} | {row['how']} | {row['tried']:,} | {row['lost']:,} |\n"
    REPORT.write_text(tables[False] + tables[True], encoding="utf-8")


def count() -> int:
    """How many lines there are."""
    return len(list(FOLDER.glob("*.json")))


def clear() -> None:
    """Forget earlier runs."""
    for file in FOLDER.glob("*.json"):
        file.unlink()
