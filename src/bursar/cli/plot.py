"""`bursar plot`: pictures of what releases cost. The file's ending chooses the format: png, svg or pdf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bursar.cli.completing import DEFAULT, address, scope_names
from bursar.cli.shared import failing

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

app = typer.Typer(
    name="plot", help="Pictures of what releases cost: PNG, SVG or PDF.", no_args_is_help=True, rich_markup_mode="rich"
)

Releases = Annotated[str, typer.Argument(help="The releases, such as 'gaussian(sigma=20)*1000'.")]
To = Annotated[Path, typer.Option(help="The file to write: .png, .svg or .pdf.")]
Delta = Annotated[str, typer.Option(help="At this δ.")]
Json = Annotated[bool, typer.Option("--json", help="The answer as JSON, for machines.")]
_ENDINGS = (".png", ".svg", ".pdf")


def _save(draw: Callable[[], Figure], to: Path, as_json: bool) -> None:
    """Draw and write, with bursar's own words for what is wrong."""
    from bursar.errors import InputError

    with failing(as_json):
        if to.suffix.lower() not in _ENDINGS:
            raise InputError(f"to must be a file that ends in {', '.join(_ENDINGS)}, not {to.name!r}", argument="to")
        figure = draw()
        figure.savefig(to)
    said = {"wrote": str(to), "alt": getattr(figure, "alt", "")}
    typer.echo(json.dumps(said, ensure_ascii=False) if as_json else f"wrote {to}")


@app.command()
def composing(
    mechanism: Annotated[str, typer.Argument(help="One release, such as 'laplace(scale=10)'.")],
    delta: Delta = "1e-6",
    to: To = Path("composing.svg"),
    as_json: Json = False,
) -> None:
    """What do k releases cost, by basic, advanced, strong, optimal and numerical composition?

    [bold]Example[/bold]

    bursar plot composing 'randomized_response(epsilon=0.1, relation=replace_one)' --to figure1.svg
    """

    def draw() -> Figure:
        from bursar.errors import InputError
        from bursar.jobs.spec import parse
        from bursar.plot import composing_figure

        terms = parse(mechanism).terms
        if len(terms) != 1 or terms[0].count != 1:
            raise InputError("name one release: the picture repeats it", argument="mechanism")
        return composing_figure(terms[0].mechanism, delta=delta)

    _save(draw, to, as_json)


@app.command()
def epsilon(composition: Releases, to: To = Path("epsilon.svg"), as_json: Json = False) -> None:
    """Which ε holds at which δ?"""

    def draw() -> Figure:
        from bursar.jobs.spec import parse
        from bursar.plot import epsilon_figure

        return epsilon_figure(parse(composition))

    _save(draw, to, as_json)


@app.command()
def profile(composition: Releases, to: To = Path("profile.svg"), as_json: Json = False) -> None:
    """The profile δ(ε), and the trade-off between an attacker's errors."""

    def draw() -> Figure:
        from bursar.jobs.spec import parse
        from bursar.plot import profile_figure

        return profile_figure(parse(composition))

    _save(draw, to, as_json)


@app.command()
def loss(composition: Releases, delta: Delta = "1e-6", to: To = Path("loss.svg"), as_json: Json = False) -> None:
    """How is the privacy loss distributed? Densities in both directions, and atoms as stems."""

    def draw() -> Figure:
        from bursar.jobs.spec import parse
        from bursar.numerics.real import read
        from bursar.plot import loss_figure

        return loss_figure(parse(composition), delta=float(read(delta, "delta")))

    _save(draw, to, as_json)


@app.command()
def counting(
    epsilon: Annotated[str, typer.Option(help="The target ε.")] = "1",
    delta: Delta = "1e-6",
    to: To = Path("counting.svg"),
    as_json: Json = False,
) -> None:
    """How much noise do d counts need?"""

    def draw() -> Figure:
        from bursar.lecture.counting import counting as table
        from bursar.plot import counting_figure

        return counting_figure(table([1, 2, 4, 8, 16, 32, 64, 128, 256], epsilon=epsilon, delta=delta))

    _save(draw, to, as_json)


@app.command("burn-down")
def burn_down(
    scope: Annotated[str, typer.Argument(help="The scope's name.", autocompletion=scope_names)],
    ledger: Annotated[
        str, typer.Option("--ledger", "-l", envvar="BURSAR_LEDGER", help="A file, sqlite:///file or postgresql://…")
    ] = DEFAULT,
    to: To = Path("burn-down.svg"),
    as_json: Json = False,
) -> None:
    """How was a budget spent over time?"""

    def draw() -> Figure:
        from bursar.ledger.ledger import Ledger
        from bursar.plot import burn_down_figure

        with Ledger(address(ledger), create=False, alert=None) as books:
            return burn_down_figure(books, scope)

    _save(draw, to, as_json)
