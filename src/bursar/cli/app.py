"""`bursar`: the commands, with their options and what they say about themselves. Exit codes: 0 done, 1 refused by the
budget, 2 bad input, 3 failed (`bursar.cli.streams`).
"""

from __future__ import annotations

from typing import Annotated

import typer

import bursar.cli.ledger
import bursar.cli.looking
import bursar.cli.steward
import bursar.cli.upkeep  # noqa: F401  # each adds its commands to the group of ledger
from bursar import __version__
from bursar.cli import counting, options, plot, serve

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
    counting.account(
        composition,
        delta=delta,
        epsilon=epsilon,
        theorem=theorem,
        width=width,
        effort=effort,
        as_json=as_json,
        explain=explain,
        cite=cite,
    )


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
    counting.plan(template, epsilon=epsilon, delta=delta, width=width, effort=effort, as_json=as_json, explain=explain)


@app.command()
def training(
    records: Annotated[int, typer.Option(help="How many records there are.")],
    batch_size: Annotated[int, typer.Option(help="How many of them a batch holds, on average or exactly.")],
    epochs: Annotated[str, typer.Option(help="How often each record takes part.")],
    delta: Annotated[str, typer.Option(help="At this δ.")],
    epsilon: Annotated[str | None, typer.Option(help="The ε that must not be exceeded: asks for the noise.")] = None,
    sigma: Annotated[str | None, typer.Option(help="Noise ÷ clipping norm: asks what it costs.")] = None,
    sampling: Annotated[
        str, typer.Option(help="How batches are drawn: poisson, truncated, fixed_size, allocated or shuffled.")
    ] = "poisson",
    relation: Annotated[
        str | None, typer.Option(help="add_remove, zero_out or replace_one; the first that is known by default.")
    ] = None,
    most: Annotated[int | None, typer.Option(help="The largest batch, where they are truncated.")] = None,
    as_json: options.Json = False,
) -> None:
    """Private training (DP-SGD): the noise that fits a target, or what a given noise costs, by how batches are drawn.

    [bold]Examples[/bold]

    bursar training --records 60000 --batch-size 256 --epochs 15 --epsilon 3 --delta 1e-5

    bursar training --records 60000 --batch-size 256 --epochs 15 --sigma 1 --delta 1e-5 --sampling allocated
    """
    counting.training(
        records=records,
        batch_size=batch_size,
        epochs=epochs,
        delta=delta,
        epsilon=epsilon,
        sigma=sigma,
        sampling=sampling,
        relation=relation,
        most=most,
        as_json=as_json,
    )
