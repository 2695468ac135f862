"""Runs mutants: the named tests must be green on the source as it is, and red on a copy with the one change.

    python tests/mutants/run.py             all of them, and the table RESULTS.md
    python tests/mutants/run.py NAME …      some of them

A survivor is a failure; so is a change that no longer applies, a test that does not run, and a test that is red anyway.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mutants import HERE, ROOT, Mutant, every_mutant

TABLE = HERE / "RESULTS.md"
HEAD = """# Mutants

Written by `make mutants`. Each row is a one-line change of the source that breaks a promise. The tests named beside it
are green without the change and red with it; *killed by* is the first of them that failed. How to add one is said in
[mutants.py](mutants.py).

| mutant | file | the change | what it would break | tests | killed by |
|---|---|---|---|---|---|
"""
_NET = 1800  # seconds: no measure of speed, only so that a mutant which never ends cannot hold up everything behind it
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
_INHERITED = re.compile(r"PYTEST_|BURSAR_|COV_")  # what would tell an inner run about the outer one


@dataclass(frozen=True)
class Outcome:
    """What became of one run of the tests."""

    status: str
    """``green``, ``red``, or why it is neither."""
    first: str = ""
    """The first test that failed."""
    output: str = ""


@contextmanager
def copied(mutant: Mutant | None) -> Iterator[Path]:
    """A throw-away copy of the source, with the change made in it."""
    with tempfile.TemporaryDirectory(prefix="bursar-mutant-") as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        if mutant is not None:
            file = Path(folder) / mutant.file
            file.write_text(mutant.applied(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield source


def tried(mutant: Mutant | None, tests: Sequence[str]) -> Outcome:
    """The tests, on a copy of the source."""
    with copied(mutant) as source, tempfile.TemporaryDirectory(prefix="bursar-figures-") as figures:
        kept = {name: value for name, value in os.environ.items() if not _INHERITED.match(name)}
        environment = {**kept, "PYTHONPATH": str(source), "BURSAR_FIGURES": figures}
        where = [sys.executable, "-c", "import bursar; print(bursar.__file__)"]
        found = subprocess.run(where, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout
        if not found.startswith(str(source)):  # else another copy would be tested, and nothing be shown
            return Outcome(f"the changed source is not the one that is imported, but {found.strip() or 'none'}")
        command = [sys.executable, "-m", "pytest", "-x", "-rfE", "--tb=short", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=_NET
            )
        except subprocess.TimeoutExpired:
            return Outcome("the tests did not end")
    failed = _FAILED.findall(done.stdout)
    if done.returncode == 0:
        return Outcome("green", output=done.stdout)
    if done.returncode == 1 and failed:
        return Outcome("red", failed[0], done.stdout)
    return Outcome(f"the tests did not run (pytest says {done.returncode})", output=done.stdout + done.stderr)


def judged(mutant: Mutant) -> tuple[str | None, str]:
    """(what is wrong, or None; the test that killed the mutant)."""
    for fault in mutant.faults():
        return fault, ""
    outcome = tried(mutant, mutant.tests)
    if outcome.status == "red":
        return None, outcome.first
    word = "it SURVIVES its tests" if outcome.status == "green" else outcome.status
    return f"{mutant.name}: {word}\n{outcome.output[-1500:] if outcome.status != 'green' else ''}".rstrip(), ""


def red_before(mutants: Iterable[Mutant], pool: ThreadPoolExecutor) -> list[str]:
    """What is wrong with the tests on the source as it is, file by file: a test that is red anyway shows nothing."""
    files: dict[str, set[str]] = {}
    for test in (test for mutant in mutants for test in mutant.tests):
        files.setdefault(test.partition("::")[0], set()).add(test)
    outcomes = pool.map(lambda tests: tried(None, sorted(tests)), files.values())
    return [
        f"{file}, without any change: {outcome.status} {outcome.first}\n{outcome.output[-1500:]}"
        for file, outcome in zip(files, outcomes, strict=True)
        if outcome.status != "green"
    ]


def shown_change(mutant: Mutant) -> str:
    """Old and new text in one cell of a table."""

    def cell(text: str) -> str:
        return "`" + re.sub(r"\s+", " ", text.strip()).replace("|", "\\|") + "`" if text.strip() else "nothing"

    return f"{cell(mutant.old)} → {cell(mutant.new)}"


def row(mutant: Mutant, killer: str) -> str:
    """A line of the table, but for the killer's parameters, which may be long."""
    tests = "<br>".join(f"`{test}`" for test in mutant.tests)
    file = mutant.file.removeprefix("src/bursar/")
    by = killer.partition("[")[0].rpartition("::")[2]
    return f"| {mutant.name} | `{file}` | {shown_change(mutant)} | {mutant.why} | {tests} | `{by}` |\n"


def rows_before() -> dict[str, str]:
    """The lines of the table as it stands, by mutant."""
    lines = TABLE.read_text(encoding="utf-8").splitlines(keepends=True) if TABLE.exists() else []
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}


def main(names: Sequence[str]) -> int:
    """Run them, write the table, and say what is wrong."""
    mutants = every_mutant()
    chosen = [mutant for mutant in mutants if not names or mutant.name in names]
    if missing := set(names) - {mutant.name for mutant in chosen}:
        print(f"there is no mutant {', '.join(sorted(missing))}")
        return 2
    table = rows_before()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = red_before(chosen, pool)
        trusted = not wrong
        for mutant, (problem, killer) in zip(chosen, pool.map(judged, chosen), strict=True):
            if problem is not None:
                wrong.append(problem)
                table.pop(mutant.name, None)
            else:
                table[mutant.name] = row(mutant, killer)
            print(f"{mutant.name}: {'killed by ' + killer if problem is None else 'WRONG'}", flush=True)
    if trusted:
        TABLE.write_text(HEAD + "".join(table[m.name] for m in mutants if m.name in table), encoding="utf-8")
    print("\n".join(wrong) or f"all {len(chosen)} mutants were killed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
