"""How the book is built by Sphinx (`make docs`): pages that run, mathematics and search without a network."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).parent
TOP = HERE.parent


def written() -> str:
    """A name for the source as it is now: what a page showed of another state is not shown again."""
    everything = hashlib.sha256()
    for path in sorted((TOP / "src").rglob("*")):
        if path.suffix in (".py", ".sql", ".bib"):
            everything.update(path.read_bytes())
    return everything.hexdigest()[:16]


# what pages run: this Python, its commands, the examples and the pictures of the reference
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (TOP / "examples", HERE)))
os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "100"
os.environ["IPYTHONDIR"] = str(TOP / "build" / "ipython")
profile = TOP / "build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
SETTINGS = """c.InlineBackend.figure_formats = {"svg"}
c.IPKernelApp.log_level = 40  # that a kernel on this machine speaks in clear is no news
"""
(profile / "ipython_kernel_config.py").write_text(SETTINGS, encoding="utf-8")
logging.getLogger("traitlets").setLevel(logging.WARNING)  # nor is that a page begins to run
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

project = "bursar"
author = "The bursar developers"
copyright = "The bursar developers, Apache-2.0"
extensions = ["myst_nb", "sphinx.ext.mathjax", "sphinxcontrib.bibtex"]

html_theme = "furo"
html_title = "bursar"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
mathjax_path = "mathjax/tex-svg.js"  # npm's mathjax 3.2.2; its checksum is held by tests/test_book.py

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["../src/bursar/references.bib"]
bibtex_default_style = "alpha"
suppress_warnings = ["mystnb.unknown_mime_type"]

nb_execution_mode = "cache"
nb_execution_cache_path = str(TOP / "build" / "pages" / written())
nb_execution_raise_on_error = False  # all failures are told, as warnings, which are errors here
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True


def _offered(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """A link above every page that runs: the same page as a notebook."""
    if context.get("body") and _runs(page := HERE / f"{pagename}.md"):
        context["body"] = (
            f'<p class="notebook"><a href="{page.stem}.ipynb" download>This page as a notebook</a></p>{context["body"]}'
        )


def _notebooks(app: Sphinx, problem: Exception | None) -> None:
    """Write the notebooks beside the pages."""
    if problem is not None or app.builder.name != "html":
        return
    import nbformat
    from myst_nb.core.read import read_myst_markdown_notebook

    for page in HERE.rglob("*.md"):
        if _runs(page):
            notebook = read_myst_markdown_notebook(page.read_text(encoding="utf-8"))
            target = Path(app.outdir) / page.relative_to(HERE).with_suffix(".ipynb")
            nbformat.write(notebook, target)


def _runs(page: Path) -> bool:
    """Whether a page has cells that a reader may want to run: those of the reference draw pictures and no more."""
    inside = page.is_file() and page.parent.name != "reference"
    return inside and page.read_text(encoding="utf-8").startswith("---\nfile_format: mystnb")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx what is ours."""
    app.connect("html-page-context", _offered)
    app.connect("build-finished", _notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
