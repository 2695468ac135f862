"""The names at the top level, each with a reason."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import bursar as b

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


def test_type_checkers_see_every_name() -> None:
    """What the top level imports for type checkers is what it gives."""
    tree = ast.parse((SRC / "bursar" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: getattr(importlib.import_module(str(one.module)), alias.name)
        for one in block.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    given = {name: getattr(importlib.import_module(home), name) for name, home in b._HOME.items()}
    assert seen == {**given, "errors": b.errors, "lecture": b.lecture, "plot": b.plot}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """This Python with the package in sight."""
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment, encoding="utf-8"
    )
