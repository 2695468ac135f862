"""The pages of the book and the code in them."""

from __future__ import annotations

import re
from pathlib import Path

from support.where import TOP

DOCS = TOP / "docs"
FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.MULTILINE | re.DOTALL)
NOTEBOOK = "---\nfile_format: mystnb"
"""How a page begins that Sphinx runs when it builds the book."""


def pages() -> list[Path]:
    """Every page of the book, and the first one."""
    return [TOP / "README.md", *sorted(DOCS.rglob("*.md"))]


def kinds(page: Path) -> set[str]:
    """What the fences of a page are."""
    return {match["kind"].strip().split(" ")[0] for match in FENCE.finditer(page.read_text(encoding="utf-8"))}


def snippets(page: Path) -> list[str]:
    """The Python code of a page that Sphinx does not run."""
    text = page.read_text(encoding="utf-8")
    if text.startswith(NOTEBOOK):
        return []
    return [match["body"] for match in FENCE.finditer(text) if match["kind"].strip() == "python"]
