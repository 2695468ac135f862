"""`bursar`: all commands together."""

from __future__ import annotations

from typing import Annotated

import typer

import bursar.cli.cohort_upkeep
import bursar.cli.history
import bursar.cli.ledger
import bursar.cli.looking
import bursar.cli.steward
import bursar.cli.upkeep  # noqa: F401  # each adds its commands to its group
from bursar import __version__
from bursar.cli import cohorts, jobs, options, plot, serve
from bursar.cli.group import SETTINGS, Words
from bursar.cli.shared import EXIT_CODES

app = typer.Typer(
    name="bursar",
    cls=Words,
    help="Keeps the accounts of differential privacy: what releases cost, with proofs.",
    epilog="Exit codes: " + "; ".join(f"{code} {means}" for code, means in EXIT_CODES.items()) + ".",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)
for command in jobs.COMMANDS:
    app.command()(command)
app.add_typer(options.app)
app.add_typer(plot.app)
app.add_typer(cohorts.app)
app.command()(serve.serve)
app.add_typer(serve.tokens_app)


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
