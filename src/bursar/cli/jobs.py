"""The commands that count and keep nothing, with their options and what they say about themselves."""

from __future__ import annotations

from typing import Annotated

import typer

from bursar.cli import counting as work
from bursar.cli import options
from bursar.cli.completing import among, theorem_names

Width = Annotated[
    str | None, typer.Option(help="How narrow the numerical intervals should be, relative to the answer.")
]
Effort = Annotated[
    str,
    typer.Option(
        help="How much work that may take: low, normal or high.", autocompletion=among("low", "normal", "high")
    ),
]
Relation = Annotated[
    str | None,
    typer.Option(
        help="add_remove, zero_out or replace_one; the first that is known by default.",
        autocompletion=among("add_remove", "zero_out", "replace_one"),
    ),
]
Explain = Annotated[bool, typer.Option("--explain", help="The answer in sentences.")]


def account(
    composition: Annotated[
        str,
        typer.Argument(
            help="The releases, such as 'gaussian(sigma=20)*1000 + laplace(scale=100)*5'; - reads standard input."
        ),
    ],
    delta: Annotated[str | None, typer.Option(help="Which ε holds at this δ?")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Which δ holds at this ε?")] = None,
    theorem: Annotated[
        list[str] | None,
        typer.Option(
            help="Ask only this theorem, by its id or as textbooks call it: advanced (may be repeated).",
            autocompletion=theorem_names,
        ),
    ] = None,
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

    bursar account 'randomized_response(epsilon=0.1, relation=replace_one)*100' --epsilon 4.8

    bursar account 'poisson(gaussian(sigma=1), rate=0.01)*10000' --delta 1e-6 --json
    """
    work.account(
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
    work.plan(template, epsilon=epsilon, delta=delta, width=width, effort=effort, as_json=as_json, explain=explain)


def training(
    records: Annotated[str, typer.Option(help="How many records there are.")],
    batch_size: Annotated[str, typer.Option(help="How many of them a batch holds, on average or exactly.")],
    epochs: Annotated[str, typer.Option(help="How often each record takes part.")],
    delta: Annotated[str, typer.Option(help="At this δ.")],
    epsilon: Annotated[str | None, typer.Option(help="The ε that must not be exceeded: asks for the noise.")] = None,
    sigma: Annotated[str | None, typer.Option(help="Noise ÷ clipping norm: asks what it costs.")] = None,
    sampling: Annotated[
        str,
        typer.Option(
            help="How batches are drawn: poisson, truncated, fixed_size, allocated or shuffled.",
            autocompletion=among("poisson", "truncated", "fixed_size", "allocated", "shuffled"),
        ),
    ] = "poisson",
    relation: Relation = None,
    most: Annotated[str | None, typer.Option(help="The largest batch, where they are truncated.")] = None,
    as_json: options.Json = False,
) -> None:
    """Private training (DP-SGD): the noise that fits a target, or what a given noise costs, by how batches are drawn.

    [bold]Examples[/bold]

    bursar training --records 60000 --batch-size 256 --epochs 15 --epsilon 3 --delta 1e-5

    bursar training --records 60000 --batch-size 256 --epochs 15 --sigma 1 --delta 1e-5 --sampling allocated
    """
    work.training(
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


def split(
    sensitivities: Annotated[
        list[str], typer.Argument(help="How far one person can move each query: a number for each.")
    ],
    delta: Annotated[str, typer.Option(help="At this δ.")],
    epsilon: Annotated[str | None, typer.Option(help="The ε that all of them share.")] = None,
    standard_errors: Annotated[
        str | None, typer.Option(help="Wanted accuracies, joined by commas: asks for the smallest ε instead.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="How much each query matters, joined by commas.")] = None,
    noise: Annotated[
        str,
        typer.Option(help="gaussian, laplace or better.", autocompletion=among("gaussian", "laplace", "better")),
    ] = "better",
    relation: Relation = None,
    as_json: options.Json = False,
) -> None:
    """Share one budget among several queries: the noise of each, so that all are as accurate as can be.

    [bold]Examples[/bold]

    bursar split 1 2 5 --epsilon 1 --delta 1e-6

    bursar split 1 2 5 --standard-errors 10,20,30 --delta 1e-6
    """
    work.split(
        sensitivities,
        delta=delta,
        epsilon=epsilon,
        standard_errors=standard_errors,
        weights=weights,
        noise=noise,
        relation=relation,
        as_json=as_json,
    )


def counting(
    queries: Annotated[list[str] | None, typer.Argument(help="Numbers of counts; 1, 10, 100 and 1000.")] = None,
    epsilon: Annotated[str, typer.Option(help="The ε that all counts share.")] = "1",
    delta: Annotated[str, typer.Option(help="At this δ.")] = "1e-6",
    as_json: options.Json = False,
) -> None:
    """How much noise does each of d counts need, by basic, strong and optimal composition, and with Gaussian noise?

    [bold]Example[/bold]

    bursar counting 1 10 100 --epsilon 1 --delta 1e-6
    """
    work.counting(queries or ["1", "10", "100", "1000"], epsilon=epsilon, delta=delta, as_json=as_json)


def convert(
    promise: Annotated[str, typer.Argument(help="A promise, such as 'zcdp(rho=1/2)'.")],
    to: Annotated[
        str,
        typer.Option(
            help="Which kind it should become: pure_dp, approx_dp, bounded_range, renyi, zcdp, tcdp, gdp or profile.",
            autocompletion=among("pure_dp", "approx_dp", "bounded_range", "renyi", "zcdp", "tcdp", "gdp", "profile"),
        ),
    ],
    delta: Annotated[str | None, typer.Option(help="For approx_dp: the δ at which its ε is wanted.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="For approx_dp: the ε at which its δ is wanted.")] = None,
    as_json: options.Json = False,
) -> None:
    """From one promise to another, where a theorem says so; where none does, the reason.

    [bold]Example[/bold]

    bursar convert 'zcdp(rho=1/2)' --to approx_dp --delta 1e-6
    """
    work.convert(promise, to=to, delta=delta, epsilon=epsilon, as_json=as_json)


COMMANDS = (account, plan, training, split, counting, convert)
"""In the order in which help shows them."""
