"""What the commands of `bursar ledger` share: group, options, the open ledger, and how answers are printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursar.cli.completing import address, joined_scopes, scope_names
from bursar.cli.shared import failing, fitted

if TYPE_CHECKING:
    from bursar.ledger.ledger import Ledger

app = typer.Typer(
    name="ledger",
    help="A durable budget: admits or refuses each release, and keeps the proof.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Where = Annotated[
    str,
    typer.Option("--ledger", "-l", envvar="BURSAR_LEDGER", help="The ledger: a file, sqlite:///file or postgresql://…"),
]
Anchor = Annotated[
    str | None,
    typer.Option(
        envvar="BURSAR_ANCHOR", help="The anchor file, best on another disk; beside a SQLite file if not given."
    ),
]
ScopeName = Annotated[str, typer.Argument(help="The scope's name.", autocompletion=scope_names)]
Scopes = Annotated[str, typer.Argument(help="The scope, or several joined by commas.", autocompletion=joined_scopes)]
What = Annotated[str, typer.Argument(help="The release, such as 'gaussian(sigma=50)'.")]
Key = Annotated[str | None, typer.Option(help="An idempotency key of your own: a retry with it charges once.")]
By = Annotated[
    str | None,
    typer.Option(envvar="BURSAR_ACTOR", help="Who does this, for the journal; whoever is logged in, if not given."),
]
Point = Annotated[str | None, typer.Option(help="Price the whole composition at this δ, as one release.")]
Json = Annotated[bool, typer.Option("--json", help="The answer as JSON, for machines.")]
Reason = Annotated[str, typer.Option(help="Why, for the journal.")]
Why = Annotated[str | None, typer.Option("--reason", help="Why, for the journal; it may be left out.")]
ReservationId = Annotated[str, typer.Argument(help="The id of the reservation.")]


@contextmanager
def opened(where: str, anchor: str | None, as_json: bool = False, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger, with refusals turned into exit codes."""
    from bursar.ledger.ledger import Ledger

    with failing(as_json), Ledger(address(where), anchor=anchor, create=create, actor=user(), alert=_warn) as ledger:
        yield ledger


def user() -> str:
    """Who is logged in, as the operating system says; nobody where it does not know."""
    import getpass

    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return ""
    return name if len(name) <= 255 and name.isprintable() else ""


def _warn(alert: object) -> None:
    typer.echo(f"bursar: {alert}", err=True)


def print_answer(answer: Any, as_json: bool) -> None:
    """The same answer for people or for machines."""
    if as_json:
        typer.echo(json.dumps(answer.to_dict(), ensure_ascii=False))
    else:
        typer.echo(fitted(str(answer)))


def print_receipt(receipt: Any, as_json: bool, done: str, said: Iterable[str] = ()) -> None:
    """What was done, where it is written, and what else is to be said."""
    if as_json:
        typer.echo(json.dumps(receipt.to_dict(), ensure_ascii=False))
    else:
        again = " (again: nothing new was charged)" if receipt.replayed else ""
        typer.echo(f"{done}{again}: entry {receipt.seq} of {receipt.root}, key {receipt.key}")
        for line in said:
            typer.echo(f"  {line}")


def priced(books: Ledger, receipt: Any) -> list[str]:
    """What an entry took of each scope that it touched, and what was left after it."""
    from bursar.ledger.journal.body import body_in
    from bursar.ledger.views.looks import took

    taken = {one.scope: one for one in receipt.taken}  # of both kinds of releases
    every = (taken.get(name) or took(books.office, name, receipt.seq) for name in body_in(receipt.text).charged())
    return [str(one) for one in every if one]


def names(scopes: str) -> list[str]:
    """The scopes that an argument names."""
    return [name.strip() for name in scopes.split(",")]
