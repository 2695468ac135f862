"""How many lines and branches of the source the tests run, by room: `make coverage`.

It runs the tests under coverage, in child processes too, and prints a row for each folder of `src/bursar`.
`python tests/coverage_by_room.py FILE` prints the rows of an earlier `coverage json`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

TOP = Path(__file__).parents[1]
UNMEASURED = (
    "tests/ledger/stores/test_forks.py::test_interrupts_lose_nothing_and_hold_nothing",
    "tests/ledger/verbs/test_misuse.py::test_interrupts_leave_the_ledger_usable",
    "tests/cli/test_main.py::test_an_account_from_a_shell_loads_what_it_needs",
)
"""Two interrupt their programs anywhere, in the measuring too, which may then wait for itself for ever; one looks at
what a program has loaded.
"""


def measured() -> tuple[dict[str, Counter[str]], int]:
    """The counts by room, and the exit code of the tests."""
    with tempfile.TemporaryDirectory(prefix="coverage") as folder:
        environment = {**os.environ, "COVERAGE_FILE": f"{folder}/data"}

        def coverage(*arguments: str) -> int:
            command = [sys.executable, "-m", "coverage", *arguments]
            return subprocess.run(command, cwd=TOP, env=environment, check=False).returncode

        chosen = ["-m", "not soak", *(f"--deselect={test}" for test in UNMEASURED)]
        tests = coverage("run", "-m", "pytest", "-n", "auto", *chosen)
        coverage("combine", "--quiet")
        coverage("json", "--quiet", "-o", f"{folder}/counts.json")
        return by_room(Path(folder, "counts.json")), tests


def by_room(counts: Path) -> dict[str, Counter[str]]:
    """Statements and branches, all of them and those that ran, by the first folder below the package."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for name, file in json.loads(counts.read_text(encoding="utf-8"))["files"].items():
        if not name.startswith("src/bursar/"):
            continue  # a copy that a test made
        inside = Path(name).parts[2:]
        for room in (inside[0] if len(inside) > 1 else "(top level)", "all"):
            rooms[room].update({key: value for key, value in file["summary"].items() if isinstance(value, int)})
    return rooms


def printed(rooms: dict[str, Counter[str]]) -> str:
    """A row a room, the whole at the end."""
    lines = [f"{'room':14} {'lines':>7} {'run %':>7} {'branches':>9} {'run %':>7}"]
    for room in sorted(rooms, key=lambda name: (name == "all", name)):
        count = rooms[room]
        shares = [
            100 * count[ran] / max(count[all_], 1)
            for ran, all_ in (("covered_lines", "num_statements"), ("covered_branches", "num_branches"))
        ]
        row = f"{room:14} {count['num_statements']:7} {shares[0]:7.2f} {count['num_branches']:9} {shares[1]:7.2f}"
        lines.append(row)
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(printed(by_room(Path(sys.argv[1]))))
    else:
        rooms, tests = measured()
        print(printed(rooms))
        sys.exit(tests)
