"""Mutants: one-line changes of the source that break a promise, each with the tests that must turn red under it.

They are written down in the ``.toml`` files of this folder, one file a floor:

    [[mutant]]
    name = "short-and-unique"
    file = "src/bursar/…"        # where
    old = '''…'''                 # text that occurs there exactly once
    new = '''…'''                 # what stands there instead
    why = "what would go wrong"   # which promise is broken
    tests = ["tests/…::test_…"]   # green without the change, red with it
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Mutant:
    """One change and the tests that hold the promise it breaks."""

    name: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    floor: str

    def applied(self, text: str) -> str:
        """The changed text."""
        return text.replace(self.old, self.new)

    def faults(self) -> Iterator[str]:
        """Why this entry could not be trusted, were it run: the change no longer applies, or its tests are gone."""
        source = ROOT / self.file
        if not source.is_file():
            yield f"{self.name}: there is no {self.file}"
            return
        text = source.read_text(encoding="utf-8")
        if (found := text.count(self.old)) != 1:
            yield f"{self.name}: the old text occurs {found} times in {self.file}, not once"
        elif self.applied(text) == text:
            yield f"{self.name}: the change changes nothing"
        elif source.suffix == ".py":
            try:
                compile(self.applied(text), self.file, "exec")
            except SyntaxError as wrong:
                yield f"{self.name}: the changed file is no Python: {wrong}"
        if not self.tests or not self.why:
            yield f"{self.name}: neither tests nor reason may be missing"
        for test in self.tests:
            file, _, function = test.partition("::")
            if not (ROOT / file).is_file() or function.partition("[")[0] not in _functions(ROOT / file):
                yield f"{self.name}: there is no test {test}"


def _functions(file: Path) -> set[str]:
    """The functions of a file, by name."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def every_mutant() -> list[Mutant]:
    """All of them, by floor."""
    return [
        Mutant(**{**row, "tests": tuple(row["tests"])}, floor=file.stem)
        for file in sorted(HERE.glob("*.toml"))
        for row in tomllib.loads(file.read_text(encoding="utf-8"))["mutant"]
    ]
