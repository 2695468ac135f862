"""Pictures: each answers a question, names its axes, and can be saved; and reports show themselves in notebooks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar import plot
from bursar.cli.main import app
from bursar.plot._style import panels
from support.markup import balanced

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


def whole(figure: Any) -> bool:
    """Whether no letter of the title lies outside the picture."""
    figure.draw_without_rendering()
    box = figure._suptitle.get_window_extent()
    return bool(box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures(name: str, ending: str, tmp_path: Path) -> None:
    """The title is a question, every axis has a name, and the file has something in it."""
    figure = FIGURES[name]()
    assert "?" in figure.get_suptitle()
    assert whole(figure)
    for axes in figure.axes:
        assert axes.get_ylabel()
        assert axes.lines or axes.collections
    assert figure.axes[0].get_xlabel()
    assert 20 < len(figure.alt) <= 500
    figure.savefig(tmp_path / f"figure.{ending}")
    assert (tmp_path / f"figure.{ending}").stat().st_size > 2000


@pytest.mark.parametrize("count", [1, 2])
def test_long_titles_are_whole(count: int) -> None:
    """However long a question is, nothing of the title is cut off by the edge."""
    long = " + ".join(f"laplace(scale=10.00000{number})*1000" for number in range(9))
    figure, axes = panels(f"What does {long} cost, and who pays for it?", count)
    assert whole(figure)
    assert len(axes) == count


@pytest.mark.parametrize(
    ("what", "said"),
    [("randomized_response(epsilon=1)", "ε at δ"), ("name_and_shame(delta=0.1)", "infinite with probability")],
)
def test_losses_of_responses_are_drawn(what: str, said: str) -> None:
    """Atoms alone, and a loss that may be infinite, at whose δ there is no ε to mark."""
    figure = plot.loss_figure(what, delta=1e-6)
    assert said in figure.alt
    assert ("ε at δ" in figure.alt) is ("name" not in what)


def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    """No date and no random names are in it; its words are."""
    for name in ("a.svg", "b.svg"):
        plot.loss_figure("laplace(scale=2)").savefig(tmp_path / name)
    first, second = ((tmp_path / name).read_text(encoding="utf-8") for name in ("a.svg", "b.svg"))
    assert first == second
    assert "The privacy loss of 1 release." in first


def test_a_theorem_has_one_colour() -> None:
    """Strong composition is the same colour wherever it is drawn, and no two theorems of a picture share theirs."""
    (composing,) = plot.composing_figure(b.RandomizedResponse(epsilon=0.1), counts=[1, 10]).axes
    (counting,) = plot.counting_figure(b.lecture.counting([1, 10], epsilon=1, delta=1e-6)).axes
    colours = {line.get_label(): line.get_color() for axes in (composing, counting) for line in axes.lines}
    assert colours["strong"] == colours["laplace, strong"]
    shown = [(line.get_color(), line.get_linestyle()) for line in composing.lines]
    assert len(set(shown)) == len(shown) == 5


def test_crossovers_are_the_true_whole_numbers() -> None:
    """Between the numbers of counts that are shown the first is found at which the noise is really less."""
    table = b.lecture.counting([1, 8, 16, 32], epsilon=1, delta="1e-6")
    assert table.crossover("gaussian") == 9
    around = b.lecture.counting([8, 9], epsilon=1, delta="1e-6")
    assert around.best()[0] != "gaussian"
    assert around.errors["gaussian"][1] < around.errors["laplace, basic"][1]
    assert b.lecture.counting([1], epsilon=1, delta="1e-6").crossover("gaussian") is None


def test_a_budget_burns_down_with_its_refusals() -> None:
    """One line of what is left in per cent, a mark for what was refused, and where the rate leads."""
    ticks = itertools.count(10**15, 3_600_000_000)
    with b.Ledger("memory://", alert=None, clock=lambda: next(ticks)) as ledger:
        ledger.open("data", epsilon=1)
        for _ in range(3):
            ledger.spend("data", b.Laplace(scale=10))
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("data", b.Laplace(scale=1))
        figure = plot.burn_down_figure(ledger, "data")
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["left"].get_ydata()[-1] == pytest.approx(70)
    assert list(lines["refused"].get_ydata()) == pytest.approx([70])
    assert any(name.startswith("at this rate until") for name in lines)
    assert "70 % is left" in figure.alt


def test_figure_one_shows_the_square_root() -> None:
    """Basic grows like k, the optimum lies on or below every other line, the textbook's bound above the strong one."""
    (axes,) = plot.composing_figure(b.RandomizedResponse(epsilon=0.1), counts=[1, 50, 100]).axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert lines["basic"][-1] == pytest.approx(10)
    assert lines["optimal"][-1] == pytest.approx(4.7745675881)
    assert lines["optimal"][-1] < lines["strong"][-1] < lines["advanced (textbook)"][-1] < lines["basic"][-1]
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


def test_notebooks() -> None:
    """Reports and plans are HTML tables with the interval and every theorem, and nothing in them can run."""
    report = b.account(b.Gaussian(sigma=20) * 10, delta=1e-6)
    found = b.plan("gaussian(sigma=?)*10", epsilon=1, delta=1e-6)
    for shown in (report._repr_html_(), found._repr_html_()):
        balanced(shown)
        assert all(row.id in shown for row in report.theorems)
        assert "&lt;" not in report.composition.text()


def test_nothing_to_draw() -> None:
    """Where no theorem says anything there is no picture."""
    with pytest.raises(b.InputError, match="nothing to draw"):
        plot.composing_figure(b.Gaussian(sigma=1), delta=0)
