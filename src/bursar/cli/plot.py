"""`bursar plot`: pictures of what releases cost. The file's ending chooses the format: png, svg or pdf."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

app = typer.Typer(
    name="plot", help="Pictures of what releases cost: PNG, SVG or PDF.", no_args_is_help=True, rich_markup_mode="rich"
)

Releases = Annotated[str, typer.Argument(help="The releases, such as 'gaussian(sigma=20)*1000'.")]
To = Annotated[Path, typer.Option(help="The file to write: .png, .svg or .pdf.")]
Delta = Annotated[str, typer.Option(help="At this δ.")]
_ENDINGS = (".png", ".svg", ".pdf")


def _save(draw: Callable[[], Figure], to: Path) -> None:
    """Draw and write, with bursar's own words for what is wrong."""
    from bursar.errors import BursarError, InputError

    try:
        if to.suffix.lower() not in _ENDINGS:
            raise InputError(f"the file must end in {', '.join(_ENDINGS)}, not {to.name!r}", argument="to")
        draw().savefig(to)
    except (BursarError, OSError) as problem:
        typer.echo(f"bursar: {problem}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"wrote {to}")


@app.command()
def composing(
    mechanism: Annotated[str, typer.Argument(help="One release, such as 'randomized_response(epsilon=0.1)'.")],
    delta: Delta = "1e-6",
    to: To = Path("composing.svg"),
) -> None:
    """What do k releases cost, by basic, strong, optimal and numerical composition?

    [bold]Example[/bold]

    bursar plot composing 'randomized_response(epsilon=0.1)' --to figure1.svg
    """

    def draw() -> Figure:
        from bursar.errors import InputError
        from bursar.jobs.spec import parse
        from bursar.plot import composing_figure

        terms = parse(mechanism).terms
        if len(terms) != 1 or terms[0].count != 1:
            raise InputError("name one release: the picture repeats it", argument="mechanism")
        return composing_figure(terms[0].mechanism, delta=delta)

    _save(draw, to)


@app.command()
def epsilon(composition: Releases, to: To = Path("epsilon.svg")) -> None:
    """Which ε holds at which δ?"""

    def draw() -> Figure:
        from bursar.jobs.spec import parse
        from bursar.plot import epsilon_figure

        return epsilon_figure(parse(composition))

    _save(draw, to)


@app.command()
def profile(composition: Releases, to: To = Path("profile.svg")) -> None:
    """The profile δ(ε), and the trade-off between an attacker's errors."""

    def draw() -> Figure:
        from bursar.jobs.spec import parse
        from bursar.plot import profile_figure

        return profile_figure(parse(composition))

    _save(draw, to)


@app.command()
def loss(composition: Releases, delta: Delta = "1e-6", to: To = Path("loss.svg")) -> None:
    """How is the privacy loss distributed? From samples: a picture, not a bound."""

    def draw() -> Figure:
        from bursar.jobs.spec import parse
        from bursar.numerics.real import read
        from bursar.plot import loss_figure

        return loss_figure(parse(composition), delta=float(read(delta, "delta")))

    _save(draw, to)


@app.command()
def counting(
    epsilon: Annotated[str, typer.Option(help="The target ε.")] = "1",
    delta: Delta = "1e-6",
    to: To = Path("counting.svg"),
) -> None:
    """How much noise do d counts need?"""

    def draw() -> Figure:
        from bursar.lecture.counting import counting as table
        from bursar.plot import counting_figure

        return counting_figure(table([1, 2, 4, 8, 16, 32, 64, 128, 256], epsilon=epsilon, delta=delta))

    _save(draw, to)


@app.command("burn-down")
def burn_down(
    scope: Annotated[str, typer.Argument(help="The scope's name.")],
    ledger: Annotated[
        str, typer.Option("--ledger", "-l", envvar="BURSAR_LEDGER", help="A file, sqlite:///file or postgresql://…")
    ] = "budget.db",
    to: To = Path("burn-down.svg"),
) -> None:
    """How was a budget spent over time?"""

    def draw() -> Figure:
        from bursar.ledger.ledger import Ledger
        from bursar.plot import burn_down_figure

        with Ledger(ledger if "://" in ledger else f"sqlite:///{ledger}", create=False, alert=None) as books:
            return burn_down_figure(books, scope)

    _save(draw, to)
