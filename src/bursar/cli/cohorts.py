"""`bursar cohorts`: budgets for blocks, and for people. Nothing here says who was admitted, or how many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursar.cli.cohort_words import new_file, part, secret_in, size, written_whole
from bursar.cli.completing import DEFAULT
from bursar.cli.options import Anchor, By, Json, Key, ScopeName, Where, opened, print_receipt
from bursar.cli.shared import counted
from bursar.errors import InputError
from bursar.extras import needs

if TYPE_CHECKING:
    from bursar.cohorts import PersonFilter
    from bursar.ledger.ledger import Ledger

app = typer.Typer(
    name="cohorts",
    help="Budgets for many at once: public blocks of the data, or its people.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
SecretFile = Annotated[
    Path,
    typer.Option(
        envvar="BURSAR_SECRET_FILE", help="The file with the secret that ids are hashed with: 16 bytes or more."
    ),
]
Limit = Annotated[str, typer.Option(help="The limit ρ of every block, or of every person.")]
Dimension = Annotated[
    list[str] | None, typer.Option(help="Of blocks: a name and a size, such as day=365 (may be repeated).")
]
Folder = Annotated[
    str | None, typer.Option(help="Of people: where the files of what they are charged are kept, or s3://….")
]
Person = Annotated[str | None, typer.Option(help="Of people: the column of their ids.")]
Reserve = Annotated[
    str | None, typer.Option(help="Of people: the part of ρ that is set aside for `bursar cohorts exhausted`.")
]
Rule = Annotated[str, typer.Option(help="Of people: skip or halt.")]
Ranges = Annotated[
    list[str] | None, typer.Option("--range", help="Blocks, such as day=0:7 or segment=120 (may be repeated).")
]
Column = Annotated[str | None, typer.Option(help="Charge everybody for their own sum of this column.")]
Norm = Annotated[str | None, typer.Option(help="What a person's sum is clipped to.")]
Sigma = Annotated[str | None, typer.Option(help="The noise of that sum.")]


@app.command()
def create(
    name: ScopeName,
    rho: Limit,
    dimension: Dimension = None,
    folder: Folder = None,
    person: Person = None,
    rule: Rule = "skip",
    reserve: Reserve = None,
    secret_file: Annotated[Path | None, typer.Option(envvar="BURSAR_SECRET_FILE", help="Of people: see admit.")] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Open a root with a budget for every block (with --dimension), or for every person (with --folder and --person).

    [bold]Examples[/bold]

    bursar cohorts create ads --rho 1/50 --dimension day=365 --dimension segment=10000

    bursar cohorts create visits --rho 1/2 --folder visits --person user_id --secret-file secret.bin
    """
    with opened(ledger, anchor, as_json, create=True) as books:
        from bursar.cohorts import BlockLedger, PersonFilter

        if dimension and (folder or person or reserve):
            raise InputError("a cohort keeps blocks (--dimension) or people (--folder, --person, --reserve), not both")
        if dimension:
            BlockLedger.create(books, name, dict(map(size, dimension)), rho=rho, key=key, by=by)
        else:
            terms: dict[str, Any] = {"folder": folder, "person": person, "rule": rule, "secret": secret_in(secret_file)}
            PersonFilter.create(books, name, rho=rho, reserve=reserve, key=key, by=by, **terms)
        said = f"{name} is open: every {'block' if dimension else 'person'} may spend ρ = {rho}"
        say(as_json, said, name=name, keeps="blocks" if dimension else "people", rho=rho)


@app.command()
def charge(
    name: ScopeName,
    what: Annotated[str, typer.Argument(help="The release, such as 'gaussian(sigma=80)'.")],
    ranges: Ranges = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Charge a release to every block that it reads, or to none; exit code 1 names the blocks with too little left.

    [bold]Example[/bold]

    bursar cohorts charge ads 'gaussian(sigma=80)' --range day=0:7 --range segment=120 --key q-1
    """
    with opened(ledger, anchor, as_json) as books:
        from bursar.cohorts import BlockLedger

        receipt = BlockLedger(books, name).spend(what, key=key, by=by, **dict(map(part, ranges or ())))
        print_receipt(receipt, as_json, f"charged {what}")


@app.command()
def worst(
    name: ScopeName,
    count: Annotated[int, typer.Option(help="How many blocks.")] = 10,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """The blocks that have spent the largest shares of their limit.

    [bold]Example[/bold]

    bursar cohorts worst ads --count 20
    """
    with opened(ledger, anchor, as_json) as books:
        from bursar.cohorts import BlockLedger
        from bursar.ledger.budget import words

        found = BlockLedger(books, name).worst(count)
    if as_json:
        typer.echo(json.dumps([{"place": block.place, "share": str(block.share)} for block in found]))
        return
    for block in found:
        place = ", ".join(f"{dimension} {at}" for dimension, at in block.place.items())
        typer.echo(f"{place}: {words.percent(block.share, up=True)} % used")


@app.command()
def admit(
    name: ScopeName,
    table: Annotated[str, typer.Argument(help="The rows: a .parquet or .csv file, or a folder of Parquet files.")],
    target: Annotated[Path, typer.Argument(help="The new Parquet file for the admitted rows.")],
    key: Annotated[str, typer.Option(help="The query's own key: a retry with it gives the same people.")],
    secret_file: SecretFile,
    what: Annotated[str | None, typer.Option(help="Charge whoever has a row for this release.")] = None,
    sums: Column = None,
    norm: Norm = None,
    sigma: Sigma = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Write the rows of those whose budget bears a query, once they are charged. What is written is private.

    [bold]Example[/bold]

    bursar cohorts admit visits today.parquet admitted.parquet --what 'gaussian(sigma=50)' --key q-1 --secret-file s.bin
    """
    with opened(ledger, anchor, as_json) as books:
        new_file(target)
        rows = people_of(books, name, secret_file).admit(table, what, key=key, sums=sums, norm=norm, sigma=sigma, by=by)
        with written_whole(target):
            rows.write_parquet(str(target))
        said = f"{target} holds the admitted rows, which are as private as the table; key {key}"
        say(as_json, said, target=str(target), key=key)


@app.command()
def replay(
    name: ScopeName,
    charges: Annotated[str, typer.Argument(help="A table with the columns query, person and charge (10⁻⁹ ρ).")],
    target: Annotated[Path, typer.Argument(help="A new folder for the decisions.")],
    secret_file: SecretFile,
    rule: Annotated[str | None, typer.Option(help="skip or halt; the filter's own by default.")] = None,
    buckets: Annotated[
        int | None, typer.Option(help="Into how many parts the work is cut; as many as suit it.")
    ] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """What a filter, from an empty beginning, would admit of a list of charges; nothing is charged.

    [bold]Example[/bold]

    bursar cohorts replay visits charges.parquet decided --rule halt --secret-file secret.bin
    """
    with opened(ledger, anchor, as_json) as books, counted("buckets") as progress:
        people_of(books, name, secret_file).replay(charges, target, rule=rule, buckets=buckets, progress=progress)
    say(as_json, f"{target} holds the decisions, which are as private as the charges", target=str(target))


def say(as_json: bool, said: str, **facts: Any) -> None:
    """An answer for people, or the same facts for machines."""
    typer.echo(json.dumps(facts, ensure_ascii=False) if as_json else said)


def people_of(books: Ledger, name: str, secret_file: Path) -> PersonFilter:
    """The filter of this name."""
    with needs("cohorts", "a person filter"):
        from bursar.cohorts import PersonFilter

    return PersonFilter(books, name, secret=secret_in(secret_file))
