"""Pictures: each answers a question, names its axes, and can be saved; and reports show themselves in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar import plot
from bursar.cli.main import app

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spent() -> Figure:
    """A ledger's burn-down."""
    with b.Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        for _ in range(4):
            ledger.spend("data", b.Gaussian(sigma=15))
        return plot.burn_down_figure(ledger, "data")


FIGURES: dict[str, Callable[[], Figure]] = {
    "composing": lambda: plot.composing_figure(b.RandomizedResponse(epsilon=0.1), counts=[1, 10, 40]),
    "epsilon": lambda: plot.epsilon_figure(b.Gaussian(sigma=2) * 4),
    "profile": lambda: plot.profile_figure(b.Gaussian(sigma=2) * 4),
    "loss": lambda: plot.loss_figure(b.PoissonSampled(b.Gaussian(sigma=1), rate="0.01") * 500 + b.Laplace(scale=9) * 3),
    "counting": lambda: plot.counting_figure(b.lecture.counting([1, 10, 100], epsilon=1, delta=1e-6)),
    "burn-down": spent,
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures(name: str, ending: str, tmp_path: Path) -> None:
    """The title is a question, every axis has a name, and the file has something in it."""
    figure = FIGURES[name]()
    assert (figure.get_suptitle() or figure.axes[0].get_title()).endswith("?")
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert axes.lines or axes.patches
    figure.savefig(tmp_path / f"figure.{ending}")
    assert (tmp_path / f"figure.{ending}").stat().st_size > 2000


def test_figure_one_shows_the_square_root() -> None:
    """Basic grows like k, the optimum lies on or below every other line."""
    (axes,) = plot.composing_figure(b.RandomizedResponse(epsilon=0.1), counts=[1, 50, 100]).axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert lines["basic"][-1] == pytest.approx(10)
    assert lines["optimal"][-1] == pytest.approx(4.7745675881)
    assert all(lines["optimal"][-1] <= line[-1] * (1 + 1e-9) for line in lines.values())


def run(*words: str) -> Any:
    """`bursar plot …`."""
    return CliRunner().invoke(app, ["plot", *words])


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each picture has a command that writes a file."""
    monkeypatch.chdir(tmp_path)
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
    for words in (
        ("composing", "laplace(scale=10)", "--to", "a.png"),
        ("epsilon", "gaussian(sigma=2)"),
        ("profile", "gaussian(sigma=2)*4"),
        ("loss", "laplace(scale=10)*20", "--delta", "1e-5"),
        ("counting", "--to", "e.pdf"),
        ("burn-down", "data"),
    ):
        done = run(*words)
        assert done.exit_code == 0, done.output
        assert Path(done.stdout.removeprefix("wrote ").strip()).exists()


@pytest.mark.parametrize(
    "words",
    [
        ("composing", "laplace(scale=10)*2"),
        ("composing", "nonsense"),
        ("epsilon", "gaussian(sigma=2)", "--to", "figure.exe"),
        ("profile", "gaussian(sigma=2)", "--to", "/no/such/folder/a.svg"),
        ("loss", "declared(zcdp(rho=1))"),
        ("burn-down", "nothing"),
    ],
)
def test_bad_input(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2 and one line that says what is wrong."""
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("bursar: ")


class Balanced(HTMLParser):
    """Checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        assert tag not in ("script", "style")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It must be the last one opened."""
        assert self.open.pop() == tag


def test_notebooks() -> None:
    """Reports and plans are HTML tables with the interval and every theorem, and nothing in them can run."""
    report = b.account(b.Gaussian(sigma=20) * 10, delta=1e-6)
    found = b.plan("gaussian(sigma=?)*10", epsilon=1, delta=1e-6)
    for shown in (report._repr_html_(), found._repr_html_()):
        parser = Balanced()
        parser.feed(shown)
        assert parser.open == []
        assert all(row.id in shown for row in report.theorems)
        assert "&lt;" not in report.composition.text()


def test_nothing_to_draw() -> None:
    """Where no theorem says anything there is no picture."""
    with pytest.raises(b.InputError, match="nothing to draw"):
        plot.composing_figure(b.Gaussian(sigma=1), delta=0)
