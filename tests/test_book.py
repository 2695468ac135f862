"""The book: every piece of its code runs, its links lead somewhere, and nothing in it comes from elsewhere."""

from __future__ import annotations

import hashlib
import pathlib
import re

import pytest
from myst_nb.core.read import read_myst_markdown_notebook
from nbclient import NotebookClient

from support.cells import DOCS, RUNS, SHOWN, TOP, cells, kinds, pages, run

ELSEWHERE = [DOCS / "howto" / "cohorts.md"]  # run by tests/cohorts/test_cohorts_page.py
RUN = [page for page in pages() if cells(page) and page not in ELSEWHERE]
DIRECTIVES = ("{toctree}", "{include}", "{literalinclude}", "{bibliography}")
OTHERS = [TOP / "CONTRIBUTING.md", TOP / "SECURITY.md", TOP / "RELIABILITY.md", TOP / "RELEASING.md"]
MATHJAX = "d4295dc33744836935c1399feece5159577b34c5c8ffb9f1c6324cd82e03a882"
LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(TOP)))
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_every_piece_of_code_runs(page: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page from top to bottom, in an empty folder beside the examples, as a reader would try it."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(str(TOP / "examples"))
    monkeypatch.syspath_prepend(str(DOCS))
    folder = tmp_path / "docs" / "page"
    folder.mkdir(parents=True)
    (tmp_path / "examples").symlink_to(TOP / "examples")
    run(page, folder)


def test_no_code_is_left_out() -> None:
    """Every fence of every page is run, or is of a kind that is read: a terminal, a file, a directive."""
    known = {*RUNS, *SHOWN, *DIRECTIVES}
    assert {str(page.relative_to(TOP)): kinds(page) - known for page in pages() if kinds(page) - known} == {}


NOTEBOOKS = [page for page in RUN if page.read_text(encoding="utf-8").startswith("---\nfile_format: mystnb")]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: str(page.relative_to(TOP)))
def test_a_notebook_is_its_page(page: pathlib.Path) -> None:
    """The notebook that lies beside a page has its code, cell by cell, so what is tried here is what a reader runs."""
    notebook = read_myst_markdown_notebook(page.read_text(encoding="utf-8"))
    written = [cell.source.strip() for cell in notebook.cells if cell.cell_type == "code"]
    assert written == [cell.code.strip() for cell in cells(page)]


def test_a_lecture_runs_in_jupyter(tmp_path: pathlib.Path) -> None:
    """From its notebook alone, top to bottom, in a folder that knows nothing of the checkout."""
    page = DOCS / "lecture" / "7_the_textbook.md"
    notebook = read_myst_markdown_notebook(page.read_text(encoding="utf-8"))
    NotebookClient(
        notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("page", sorted((DOCS / "concepts").glob("*.md")), ids=lambda page: page.stem)
def test_every_concept_has_a_picture(page: pathlib.Path) -> None:
    """As the first page of the concepts says."""
    drawn = [cell for cell in cells(page) if "plt.show()" in cell.code or "_figure(" in cell.code]
    assert drawn or page.stem == "index"


WIDEST = 88
"""Characters of code that fit beside the contents of a page; more would be cut, or scrolled."""


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(TOP)))
def test_code_fits_on_its_page(page: pathlib.Path) -> None:
    """No line of code that is shown is wider than the page."""
    if page != TOP / "README.md":  # which is read where it lies
        shown = [line for cell in cells(page) if not cell.hidden for line in cell.code.splitlines()]
        assert [line for line in shown if len(line) > WIDEST] == []


def anchors(page: pathlib.Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*pages(), *OTHERS], ids=lambda page: str(page.relative_to(TOP)))
def test_links_lead_somewhere(page: pathlib.Path) -> None:
    """Files exist beside the page that names them, and anchors are headings of theirs."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for address in LINK.findall(text):
        if address.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = address.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(address)
    assert broken == []


def test_the_rule_sees_broken_links(tmp_path: pathlib.Path) -> None:
    """Links and anchors are found in prose, and not in code."""
    page = tmp_path / "page.md"
    page.write_text("# A title, here\n\n[x](y.md#z) and `[n](m)`\n\n```text\n# no\n[a](b)\n```\n", encoding="utf-8")
    assert anchors(page) == {"a-title-here"}
    assert LINK.findall("[x](y.md#z) and `[n](m)`") == ["y.md#z"]


def test_every_page_is_in_the_contents() -> None:
    """Whatever lies in the folder is reached from the first page."""
    named = set()
    for page in pages():
        for body in re.findall(
            r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            named |= {(page.parent / line).resolve() for line in body.split("\n") if line and not line.startswith(":")}
    inside = {page.with_suffix("").resolve() for page in pages() if page != TOP / "README.md"}
    proofs = {(DOCS / "trust" / "proofs" / path.stem).resolve() for path in (TOP / "proofs").glob("*.md")}
    assert inside - named - proofs == {(DOCS / "index").resolve()}
    assert proofs <= inside, "a proof needs a page in docs/trust/proofs"


def test_mathematics_needs_no_network() -> None:
    """MathJax is the file of its package, with its licence beside it, and the settings name it."""
    assert hashlib.sha256((DOCS / "_static" / "mathjax" / "tex-svg.js").read_bytes()).hexdigest() == MATHJAX
    assert "Apache License" in (DOCS / "_static" / "mathjax" / "LICENSE").read_text(encoding="utf-8")
    assert MATHJAX in (DOCS / "_static" / "mathjax" / "README.txt").read_text(encoding="utf-8")
    settings = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert 'mathjax_path = "mathjax/tex-svg.js"' in settings
    assert "http" not in settings
