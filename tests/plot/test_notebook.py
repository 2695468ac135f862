"""Figures and results in a real Jupyter kernel, without any magic."""

from __future__ import annotations

import base64
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from support.markup import balanced

CELLS = [
    "import bursar as b",
    "b.plot.loss_figure('laplace(scale=2)*3')",
    "b.account('gaussian(sigma=20)*1e3', delta=1e-6)",
    "b.lecture.counting([1, 10], epsilon=1, delta=1e-6)",
    "b.Gaussian(sigma=1)",
]


pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def shown() -> list[dict[str, Any]]:
    """What each cell shows, by the kinds of a front end."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
    for cell in notebook.cells:
        assert all(output.output_type == "execute_result" for output in cell.outputs), cell.outputs
    return [cell.outputs[0].data if cell.outputs else {} for cell in notebook.cells]


def test_a_figure_shows_itself(shown: list[dict[str, Any]]) -> None:
    """As PNG, as SVG, and as an image with words for who cannot see it."""
    figure = shown[1]
    assert base64.b64decode(figure["image/png"]).startswith(b"\x89PNG")
    assert "<svg" in figure["image/svg+xml"]
    assert 'alt="The privacy loss of 3 releases.' in figure["text/html"]
    assert figure["text/plain"].startswith("Picture('How is the privacy loss")


def test_results_show_themselves(shown: list[dict[str, Any]]) -> None:
    """As HTML that begins with the answer; their repr is a line beside it."""
    report, table, noise = shown[2:]
    for one in (report, table, noise):
        balanced(one["text/html"])
        assert len(one["text/plain"]) <= 300
    assert "proved: ε ≤ 8.3063 at δ = 1e-06" in report["text/html"]
    assert "<details>" in report["text/html"]
    assert "<th" in table["text/html"]
    assert noise["text/plain"] == "Gaussian(sigma=1)"
