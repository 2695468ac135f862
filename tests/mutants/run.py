"""Runs mutants, one-line changes of the source that break a promise: the tests of the changed room must turn red.

    python tests/mutants/run.py             all of them (`make mutants`)
    python tests/mutants/run.py NAME …      some of them

They stand in `mutants.toml`: a name, the file, text that occurs there once (`old`), what stands there instead (`new`),
and what would go wrong (`why`). A survivor is a failure; so is a change that no longer applies, and tests that do not
run. That the tests are green without a change is what `make test` shows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TOP = HERE.parents[1]
TESTS = {
    "composition": ("mechanisms", "test_composition.py", "test_laws.py"),
    "guarantees": ("guarantees", "theorems"),
    "ledger": ("ledger", "cohorts/blocks"),
    "tables": ("ledger/verbs",),
    "problems": ("service/test_permissions.py", "service/test_api.py"),
}
"""Where the tests of a room lie below `tests/`, if not in the folder of its name."""
LONGEST = 3600  # seconds: it measures nothing, it only ends a mutant that never ends


@dataclass(frozen=True)
class Mutant:
    """One change."""

    name: str
    file: str
    old: str
    new: str
    why: str

    @property
    def room(self) -> str:
        """The folder of the package, or the module at its top, that is changed."""
        return Path(self.file).relative_to("src/bursar").parts[0].removesuffix(".py")

    def fault(self) -> str | None:
        """Why this change could not be tried; None where it can."""
        source = TOP / self.file
        text = source.read_text(encoding="utf-8") if source.is_file() else ""
        if text.count(self.old) != 1:
            return f"{self.name}: the old text occurs {text.count(self.old)} times in {self.file}, not once"
        if self.old == self.new or not self.why:
            return f"{self.name}: it changes nothing, or does not say why it would be wrong"
        if source.suffix == ".py":
            try:
                compile(text.replace(self.old, self.new), self.file, "exec")
            except SyntaxError as wrong:
                return f"{self.name}: the changed file is no Python: {wrong}"
        return None

    def tests(self) -> list[str]:
        """The test files of the room, those first that name the changed module."""
        places = [TOP / "tests" / place for place in TESTS.get(self.room, (self.room,))]
        files = [file for place in places for file in ([place] if place.is_file() else place.rglob("test_*.py"))]
        parts = [part for part in (Path(self.file).stem, Path(self.file).parent.name) if part != self.room]

        def order(file: Path) -> tuple[int, int]:
            text = file.read_text(encoding="utf-8")
            return -sum(part.strip("_") in text for part in parts), len(text)

        return [str(file.relative_to(TOP)) for file in sorted(files, key=order)]


def every_mutant() -> list[Mutant]:
    """All of them."""
    rows = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**row) for row in rows]


def wrong(mutant: Mutant, tests: Sequence[str] | None = None) -> str | None:
    """What is wrong with a mutant: that it survives, or could not be tried; None where it is killed."""
    if (fault := mutant.fault()) is not None:
        return fault
    with tempfile.TemporaryDirectory(prefix="bursar-mutant-") as folder:
        source = Path(folder) / "src"
        shutil.copytree(TOP / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        changed = Path(folder) / mutant.file
        changed.write_text(changed.read_text(encoding="utf-8").replace(mutant.old, mutant.new), encoding="utf-8")
        done = _tested(source, mutant.tests() if tests is None else tests)
    if done is None:
        return f"{mutant.name}: the tests did not end"
    if done.returncode == 0:
        return f"{mutant.name}: it SURVIVES the tests of {mutant.room}: {mutant.why}"
    if done.returncode == 1 and re.search(r"^(FAILED|ERROR) tests/", done.stdout, re.MULTILINE):
        return None
    return f"{mutant.name}: the tests did not run (pytest says {done.returncode})\n{done.stdout[-1500:]}{done.stderr}"


def _tested(source: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """The tests on this source; None where they do not end."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "BURSAR_", "COV"))}
    environment = {**outside, "PYTHONPATH": str(source)}
    where = [sys.executable, "-c", "import bursar; print(bursar.__file__)"]
    found = subprocess.run(where, cwd=TOP, env=environment, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(source)), f"the changed source is not the one that is imported, but {found}"
    options = ["-x", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, "-m", "not soak and not ci"]
    try:
        return subprocess.run(
            [*command, *tests], cwd=TOP, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return None


def main(names: Sequence[str]) -> int:
    """Run them and say what is wrong."""
    mutants = every_mutant()
    chosen = [mutant for mutant in mutants if not names or mutant.name in names]
    if missing := set(names) - {mutant.name for mutant in chosen}:
        print(f"there is no mutant {', '.join(sorted(missing))}")
        return 2
    problems = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, problem in zip(chosen, pool.map(wrong, chosen), strict=True):
            print(problem or f"{mutant.name}: killed", flush=True)
            problems += [problem] if problem else []
    print(f"{len(chosen) - len(problems)} of {len(chosen)} mutants were killed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
