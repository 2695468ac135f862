"""The reliability report: what the tests did to the ledger, counted by the tests that did it.

`make test` and `make soak` each have their own columns. A run renews its own and keeps the other's, which it reads from
the report itself.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

REPORT = Path(__file__).parents[2] / "RELIABILITY.md"
_OWN = f"bursar-figures-{os.getuid()}-{zlib.crc32(str(REPORT).encode()):08x}"  # checkouts do not mix
FOLDER = Path(os.environ.get("BURSAR_FIGURES", Path(tempfile.gettempdir()) / _OWN))
RUNS = ("test", "soak")
ENOUGH = 45
"""Lines that `make test` fills when every test of the ledger and of cohorts ran; fewer are not worth a report."""
HEAD = """# Reliability

Written by the tests in `tests/ledger` and `tests/cohorts`: the figures of `make test` whenever all of them run, those
of `make soak`, which runs the same campaigns at full length, whenever one of them ends (*not run*: never yet, or there
is none of that kind).
A *loss* is an acknowledged charge that is missing afterwards, a limit that was exceeded, a person who was handed out
without a charge, a change of a logical value that went unnoticed, or an input that did damage. The negative controls
are ledgers broken on purpose: the harness must catch them, or its other figures would prove nothing.

| what was done | how | tried in `make test` | losses | tried in `make soak` | losses |
|---|---|---:|---:|---:|---:|
"""
CONTROLS = """
| negative control | how it is broken | tried in `make test` | losses caught | tried in `make soak` | losses caught |
|---|---|---:|---:|---:|---:|
"""
NOT_RUN = "not run"


class Place(NamedTuple):
    """A line of the report."""

    control: bool
    what: str
    how: str


Figures = dict[Place, dict[str, tuple[int, int]]]
"""(tried, lost) by run."""


def record(what: str, how: str, tried: int, lost: int, *, control: bool = False, soak: bool = False) -> None:
    """One figure of the report; a second one with the same words replaces the first."""
    FOLDER.mkdir(exist_ok=True)
    row = {"what": what, "how": how, "tried": tried, "lost": lost, "control": control, "run": RUNS[soak]}
    name = "".join(letter if letter.isalnum() else "-" for letter in f"{RUNS[soak]} {what} {how}")[:150]
    (FOLDER / f"{name}.json").write_text(json.dumps(row), encoding="utf-8")


def recorded() -> Figures:
    """What this run counted."""
    found: Figures = {}
    for file in sorted(FOLDER.glob("*.json")):
        row = json.loads(file.read_text(encoding="utf-8"))
        place = Place(row["control"], row["what"], row["how"])
        found.setdefault(place, {})[row["run"]] = (row["tried"], row["lost"])
    return found


def reported(text: str) -> Figures:
    """What a report says."""
    found: Figures = {}
    control = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        control = control or cells[0] == "negative control"
        if len(cells) != 6 or not line.startswith("|") or cells[2].startswith(("-", "tried")):
            continue
        numbers = {run: cells[2 + 2 * i : 4 + 2 * i] for i, run in enumerate(RUNS)}
        found[Place(control, cells[0], cells[1])] = {
            run: (_number(tried), _number(lost)) for run, (tried, lost) in numbers.items() if tried != NOT_RUN
        }
    return found


def _number(cell: str) -> int:
    return int(cell.replace(",", ""))


def renewed(before: Figures, now: Figures) -> Figures:
    """The new report. All of `make test`'s figures come from one run, if there are enough of them; a campaign of
    `make soak` takes long, so each renews its own line.
    """
    whole = sum("test" in figures for figures in now.values()) >= ENOUGH
    found: Figures = {}
    for place in {**before, **now}:
        old, new = before.get(place, {}), now.get(place, {})
        kept = {run: old[run] for run in RUNS if run in old and not (run == "test" and whole)}
        if figures := kept | {run: new[run] for run in RUNS if run in new and (run == "soak" or whole)}:
            found[place] = figures
    return found


def written(figures: Figures) -> str:
    """As Markdown, line by line in order."""
    tables = {False: HEAD, True: CONTROLS}
    for place in sorted(figures):
        cells = [cell for run in RUNS for cell in _cells(figures[place].get(run))]
        tables[place.control] += f"| {place.what} | {place.how} | {' | '.join(cells)} |\n"
    return tables[False] + tables[True]


def _cells(figure: tuple[int, int] | None) -> Iterable[str]:
    return (NOT_RUN, "") if figure is None else (f"{figure[0]:,}", f"{figure[1]:,}")


def write() -> None:
    """Renew the report from what was recorded, where that is worth it."""
    before = reported(REPORT.read_text(encoding="utf-8")) if REPORT.exists() else {}
    after = renewed(before, recorded())
    if after != before:
        REPORT.write_text(written(after), encoding="utf-8")


def clear() -> None:
    """Forget earlier runs."""
    for file in FOLDER.glob("*.json"):
        file.unlink()
