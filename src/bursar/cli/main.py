"""`bursar`: the commands. Exit codes: 0 done, 1 refused by the budget, 2 bad input, 3 failed (`bursar.cli.streams`)."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

import bursar.cli.ledger
import bursar.cli.looking
import bursar.cli.steward
import bursar.cli.upkeep  # noqa: F401  # each adds its commands to the group of ledger
from bursar import __version__
from bursar.cli import options, plot, serve, streams
from bursar.cli.shared import busy, failing, fitted

app = typer.Typer(
    name="bursar",
    help="Keeps the accounts of differential privacy: what releases cost, with proofs.",
    epilog="Exit codes: 0 done, 1 refused by the budget, 2 bad input, 3 failed or not reported.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.add_typer(plot.app)
app.add_typer(options.app)
app.command()(serve.serve)
app.add_typer(serve.tokens_app)


Width = Annotated[
    str | None, typer.Option(help="How narrow the numerical intervals should be, relative to the answer.")
]
Effort = Annotated[str, typer.Option(help="How much work that may take: low, normal or high.")]
Explain = Annotated[bool, typer.Option("--explain", help="The answer in sentences.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bursar {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def account(
    composition: Annotated[
        str,
        typer.Argument(
            help="The releases, such as 'gaussian(sigma=20)*1000 + laplace(scale=100)*5'; - reads standard input."
        ),
    ],
    delta: Annotated[str | None, typer.Option(help="Which ε holds at this δ?")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Which δ holds at this ε?")] = None,
    theorem: Annotated[list[str] | None, typer.Option(help="Ask only this theorem (may be repeated).")] = None,
    width: Width = None,
    effort: Effort = "normal",
    as_json: options.Json = False,
    explain: Explain = False,
    cite: Annotated[bool, typer.Option("--cite", help="BibTeX of the theorems that decided.")] = False,
) -> None:
    """What does this sequence of releases cost? An interval that provably contains the truth, by the best of every
    theorem.

    [bold]Examples[/bold]

    bursar account 'gaussian(sigma=20)*1000 + laplace(scale=100)*5' --delta 1e-6

    bursar account 'randomized_response(epsilon=0.1)*100' --epsilon 4.8

    bursar account 'poisson(gaussian(sigma=1), rate=0.01)*10000' --delta 1e-6 --json
    """
    from bursar.errors import InputError
    from bursar.jobs.account import account as run
    from bursar.jobs.spec import parse

    with failing(as_json), busy("accounting"):
        if (delta is None) == (epsilon is None):
            raise InputError("ask one thing: --delta to learn ε, or --epsilon to learn δ")
        text = sys.stdin.read() if composition == "-" else composition
        report = run(
            parse(text),
            delta=_number(delta, "delta"),
            epsilon=_number(epsilon, "epsilon"),
            theorems=theorem or None,
            width=_number(width, "width"),
            effort=effort,
        )
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False))
    elif explain or cite:
        parts = (fitted(report.explain()) if explain else "", report.cite() if cite else "")
        typer.echo("\n\n".join(part for part in parts if part))
    else:
        _console().print(report)


@app.command()
def plan(
    template: Annotated[
        str,
        typer.Argument(
            help="The releases with one unknown, written ?: 'gaussian(sigma=?)*1000', or 'gaussian(sigma=20)*?' "
            "for how many; - reads standard input."
        ),
    ],
    epsilon: Annotated[str, typer.Option(help="The ε that must not be exceeded.")],
    delta: Annotated[str, typer.Option(help="At this δ.")],
    width: Width = None,
    effort: Effort = "normal",
    as_json: options.Json = False,
    explain: Explain = False,
) -> None:
    """How much noise, which rate or how many releases fit a target? The best value that is proved to, and the next one,
    which is not.

    [bold]Examples[/bold]

    bursar plan 'gaussian(sigma=?)*1000' --epsilon 1 --delta 1e-6

    bursar plan 'poisson(gaussian(sigma=?), rate=0.01)*10000' --epsilon 1 --delta 1e-6

    bursar plan 'gaussian(sigma=20)*?' --epsilon 1 --delta 1e-6 --json
    """
    from bursar.jobs.plan import plan as run

    with failing(as_json), busy("planning"):
        found = run(
            sys.stdin.read() if template == "-" else template,
            epsilon=_number(epsilon, "epsilon"),
            delta=_number(delta, "delta"),
            width=_number(width, "width"),
            effort=effort,
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    elif explain:
        typer.echo(fitted(found.explain()))
    else:
        _console().print(found)


def _number(text: str | None, name: str) -> Any:
    """A number from the command line means what it means in a text form."""
    from bursar.numerics.real import read_text

    return None if text is None else read_text(text.strip(), name)


def _console() -> Any:
    """Colours on a terminal only; 80 columns elsewhere."""
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else Console(width=80, no_color=True, highlight=False)


def main() -> None:
    """Run `bursar` with the words of the command line."""
    streams.run(app)
