"""The names at the top level, each with a reason; former names and paths."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import bursar as b
from bursar import moved

TOP = Path(__file__).parents[1]
SRC = TOP / "src"
PAGE = (TOP / "docs" / "reference" / "names.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """The table after a heading of docs/reference/names.md: each name with what is said of it."""
    part = PAGE.split(heading)[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", part, re.MULTILINE))


def test_every_name_at_the_top_has_a_reason() -> None:
    """docs/reference/names.md lists exactly the names of the top level, and each reason is a sentence of its own."""
    listed = rows("# Names")
    assert listed.keys() == set(b.__all__)
    assert len(set(listed.values())) == len(listed)
    assert all(reason.endswith((".", "?", "`.")) for reason in listed.values())
    assert 40 <= len(listed) <= 55


def test_every_name_at_the_top_comes_without_a_warning() -> None:
    """Names that stay are there, are what their home says, and warn of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for module, names in b._HOMES.items():
            for name in names:
                assert getattr(b, name) is getattr(importlib.import_module(module), name)
        assert b.errors is sys.modules["bursar.errors"]
        assert b.lecture is sys.modules["bursar.lecture"]


def test_a_former_name_works_and_says_where_it_is_now() -> None:
    """Each name that left the top level is the same object as in its new place, with a warning in the user's file."""
    for name, home in moved.NAMES.items():
        with pytest.warns(DeprecationWarning, match=rf"^bursar\.{name} is {re.escape(home)}\.{name} now") as said:
            value = getattr(b, name)
        assert value is getattr(importlib.import_module(home), name)
        assert [one.filename for one in said] == [__file__]
    assert not moved.NAMES.keys() & set(b.__all__)


def test_type_checkers_see_every_name() -> None:
    """What the top level imports for type checkers is what it gives, present and former names alike."""
    tree = ast.parse((SRC / "bursar" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: getattr(importlib.import_module(str(one.module)), alias.name)
        for one in block.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    given = {name: getattr(importlib.import_module(home), name) for name, home in {**b._HOME, **moved.NAMES}.items()}
    assert seen == {**given, "errors": b.errors, "lecture": b.lecture, "plot": b.plot}


def test_a_former_path_gives_the_module_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing a path of before gives the very module of the new path, and warns with its name; where a module became
    a package of the same name, the package hands out what it had.
    """
    for path, home in moved.MOVED.items():
        monkeypatch.delitem(sys.modules, path, raising=False)
        with pytest.warns(DeprecationWarning, match=rf"{re.escape(path)} is {re.escape(home)} now"):
            assert importlib.import_module(path) is importlib.import_module(home)
    for room, names in moved.ROOMS.items():
        for name, home in names.items():
            with pytest.warns(DeprecationWarning, match=rf"{re.escape(room)}\.{name} is {re.escape(home)}\.{name} now"):
                value = getattr(importlib.import_module(room), name)
            assert value is getattr(importlib.import_module(home), name)
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = importlib.import_module(room).nothing


def test_a_former_path_is_warned_of_where_it_is_imported() -> None:
    """The warning points at the line of the user's program, not into the machinery of importing."""
    program = (
        "import warnings\nwarnings.simplefilter('always')\n\n"
        "from bursar.ledger.currencies.pure import Pure\n"
        "from bursar.ledger.budget.currencies.pure import Pure as Same\nassert Pure is Same\n"
    )
    done = _run("-c", program)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("<string>:4: DeprecationWarning")]
    assert not re.search(r"^(?!<string>:4).*DeprecationWarning", done.stderr, re.MULTILINE)


def test_a_former_program_runs(tmp_path: Path) -> None:
    """``python -m`` with the former path of the journal's check goes on, and checks an export."""
    with b.Ledger("memory://") as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", b.Laplace(scale=10), key="a")
        (tmp_path / "journal.jsonl").write_text(ledger.export(), encoding="utf-8")
    good = _run("-m", "bursar.ledger.check_journal", str(tmp_path / "journal.jsonl"))
    assert (good.returncode, good.stderr) == (0, "")
    assert "2 entries" in good.stdout
    (tmp_path / "journal.jsonl").write_text("{}\n", encoding="utf-8")
    assert _run("-m", "bursar.ledger.check_journal", str(tmp_path / "journal.jsonl")).returncode != 0


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """This Python with the package in sight."""
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment, encoding="utf-8"
    )
