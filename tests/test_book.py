"""The book: what Sphinx does not run is run here, and nothing in it comes from elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from support.cells import DOCS, NOTEBOOK, kinds, pages, snippets
from support.packages import forget
from support.where import TOP

ELSEWHERE = [TOP / "README.md", DOCS / "howto" / "cohorts.md"]  # have tests of their own
RUN = [page for page in pages() if snippets(page) and page not in ELSEWHERE]
READ = (
    "text",
    "sh",
    "shell",
    "toml",
    "json",
    "yaml",
    "",
    "{toctree}",
    "{include}",
    "{literalinclude}",
    "{bibliography}",
)
"""Fences that are read and not run here: terminals (tests/test_terminals.py types them), files, directives."""
MATHJAX = "d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882"


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(TOP)))
def test_every_piece_of_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page from top to bottom, in an empty folder, as a reader would try it."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for snippet in snippets(page):
        exec(compile(snippet, str(page), "exec"), names)
    forget()


def test_no_code_is_left_out() -> None:
    """Every fence of every page is run, here or by Sphinx, or is of a kind that is read."""
    for page in pages():
        runs = "{code-cell}" if page.read_text(encoding="utf-8").startswith(NOTEBOOK) else "python"
        assert kinds(page) - {*READ, runs} == set(), page


def test_mathematics_needs_no_network() -> None:
    """MathJax is the file of its package, with its licence beside it, and the settings name it."""
    folder = DOCS / "_static" / "mathjax"
    assert hashlib.sha256((folder / "tex-svg.js").read_bytes()).hexdigest() == MATHJAX
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")
    settings = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert 'mathjax_path = "mathjax/tex-svg.js"' in settings
    assert "http" not in settings
