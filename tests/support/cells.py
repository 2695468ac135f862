"""The code of the book: which cells and snippets a page has, and how they are run without a kernel."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support.packages import forget
from support.patience import NET

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.MULTILINE | re.DOTALL)
RUNS = ("{code-cell}", "python")
SHOWN = ("text", "sh", "toml", "json", "yaml", "")
"""Fences that are read and not run here: terminals (tests/test_terminals.py types them), files."""


@dataclass(frozen=True)
class Cell:
    """One piece of code of a page, and the line it stands in."""

    page: Path
    line: int
    code: str
    hidden: bool = False


def pages() -> list[Path]:
    """Every page of the book, and the first one."""
    return [TOP / "README.md", *sorted(DOCS.rglob("*.md"))]


def kinds(page: Path) -> set[str]:
    """What the fences of a page are."""
    return {match["kind"].strip().split(" ")[0] for match in FENCE.finditer(page.read_text(encoding="utf-8"))}


def cells(page: Path) -> list[Cell]:
    """The code of a page, in order, without the options of its cells."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        if match["kind"].strip() in RUNS:
            code = re.sub(r"\A(?::[\w-]+:.*\n)+", "", match["body"])
            line = text.count("\n", 0, match.start("body")) + 1
            found.append(Cell(page, line, code, hidden=match["body"].startswith(":tags: [remove-")))
    return found


def run(page: Path, folder: Path) -> dict[str, object]:
    """Run a page from top to bottom, as a kernel would, in a folder of its own below that of its name."""
    names: dict[str, object] = {"__name__": "__main__"}
    forget()
    before = list(sys.path), set(sys.modules), Path.cwd()
    os.chdir(folder)
    try:
        for cell in cells(page):
            _run(cell, names)
    finally:
        os.chdir(before[2])
        sys.path[:] = before[0]
        for name in set(sys.modules) - before[1]:
            if name.startswith("bursar_staircase"):
                del sys.modules[name]
        forget()
    return names


def _run(cell: Cell, names: dict[str, object]) -> None:
    if cell.code.startswith("%%bash\n"):
        script = cell.code.partition("\n")[2]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-e"], input=script, text=True, capture_output=True, check=False, timeout=NET,
            env={**os.environ, "PATH": path}, encoding="utf-8",
        )  # fmt: skip
        assert done.returncode == 0, f"{cell.page}:{cell.line}: {done.stderr}"
        return
    tree = ast.parse("\n" * cell.line + cell.code, str(cell.page))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(cell.page), "exec"), names)
    if isinstance(last, ast.Expr):
        _show(eval(compile(ast.Expression(last.value), str(cell.page), "eval"), names))


def _show(value: object) -> None:
    """What a notebook asks of a result: its picture, its page, its text."""
    for form in ("_repr_html_", "_repr_svg_", "_repr_png_"):
        made = getattr(value, form, None)
        if callable(made):
            made()
    repr(value)
