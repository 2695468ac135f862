"""`bursar ledger`: spend from a durable budget. Exit codes: 0 done, 1 refused by the budget, 2 bad input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
ScopeName = Annotated[str, typer.Argument(help="The scope's name.")]
Scopes = Annotated[str, typer.Argument(help="The scope, or several joined by commas.")]
What = Annotated[str, typer.Argument(help="The release, such as 'gaussian(sigma=50)'.")]
Key = Annotated[str | None, typer.Option(help="An idempotency key of your own: a retry with it charges once.")]
By = Annotated[str, typer.Option(envvar="BURSAR_ACTOR", help="Who does this, for the journal.")]
Point = Annotated[str | None, typer.Option(help="Price the whole composition at this δ, as one release.")]
Json = Annotated[bool, typer.Option("--json", help="The answer as JSON, for machines.")]
Reason = Annotated[str, typer.Option(help="Why, for the journal.")]
DEFAULT = "budget.db"


@contextmanager
def opened(where: str, anchor: str | None, as_json: bool = False, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger, with refusals turned into exit codes."""
    from bursar.ledger.ledger import Ledger

    url = where if "://" in where else f"sqlite:///{where}"
    with failing(as_json), Ledger(url, anchor=anchor, create=create, alert=_warn) as ledger:
        yield ledger


def _warn(alert: object) -> None:
    typer.echo(f"bursar: {alert}", err=True)


def _print(answer: Any, as_json: bool) -> None:
    """The same answer for people or for machines."""
    if as_json:
        typer.echo(json.dumps(answer.to_dict(), ensure_ascii=False))
    else:
        typer.echo(fitted(str(answer)))


def print_receipt(receipt: Any, as_json: bool, done: str) -> None:
    """What was done, and where it is written."""
    if as_json:
        typer.echo(json.dumps(receipt.to_dict(), ensure_ascii=False))
    else:
        again = " (again: nothing new was charged)" if receipt.replayed else ""
        typer.echo(f"{done}{again}: entry {receipt.seq} of {receipt.root}, key {receipt.key}")


def _names(scopes: str) -> list[str]:
    return [name.strip() for name in scopes.split(",")]


@app.command("open")
def open_scope(
    scope: ScopeName,
    epsilon: Annotated[str | None, typer.Option(help="The limit ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="The limit δ; without it the scope is pure.")] = None,
    rho: Annotated[str | None, typer.Option(help="The limit ρ of a zCDP scope.")] = None,
    mu: Annotated[str | None, typer.Option(help="The limit μ of a GDP scope.")] = None,
    order: Annotated[str | None, typer.Option(help="The Rényi order of a renyi scope.")] = None,
    renyi: Annotated[str | None, typer.Option(help="The limit of the divergence at that order.")] = None,
    leak: Annotated[str | None, typer.Option(help="The part of δ kept for releases that leak; 1 % of it.")] = None,
    currency: Annotated[
        str | None, typer.Option(help="pure, sums, advanced, concentrated, residue, zcdp, renyi or gdp.")
    ] = None,
    parent: Annotated[
        str | None, typer.Option(help="The scope above; a/b goes below a, if there is one, without being told.")
    ] = None,
    root: Annotated[bool, typer.Option("--root", help="A budget of its own, whatever the name lies under.")] = False,
    kind: Annotated[str | None, typer.Option(help="root, block, quota or window.")] = None,
    unit: Annotated[str | None, typer.Option(help="Whom it protects: person, household, record.")] = None,
    relation: Annotated[str | None, typer.Option(help="add_remove or replace_one.")] = None,
    period: Annotated[str | None, typer.Option(help="The length of a window, in seconds.")] = None,
    second_person: Annotated[bool, typer.Option(help="A change of the limit needs two people.")] = False,
    spent: Annotated[
        list[str] | None, typer.Option(help="A release made before it was opened (may be repeated).")
    ] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Open a scope.

    [bold]Examples[/bold]

    bursar ledger open census --epsilon 1 --delta 1e-6

    bursar ledger open census/maps --epsilon 1/4 --delta 1e-7
    """
    from bursar.errors import InputError

    limits = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "order": order, "renyi": renyi, "leak": leak}
    with opened(ledger, anchor, as_json, create=True) as books:
        if root and (parent is not None or kind not in (None, "root")):
            raise InputError("--root opens a scope with nothing above it: leave out --parent and --kind")
        receipt = books.open(
            scope,
            **limits,
            currency=currency,
            parent=parent,
            kind="root" if root else kind,
            unit=unit,
            relation=relation,
            period=period,
            second_person=second_person,
            spent=spent or (),
            by=by,
            key=key,
        )
        above = receipt.body["scopes"][0][2]
        print_receipt(receipt, as_json, f"{scope} is open" + (f" below {above}" if above else ""))


@app.command()
def spend(
    scopes: Scopes,
    what: What,
    delta: Point = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Charge a release before it runs; exit code 1 if the budget refuses.

    [bold]Example[/bold]

    bursar ledger spend census 'gaussian(sigma=50)' --key query-0001
    """
    with opened(ledger, anchor, as_json) as books:
        print_receipt(books.spend(_names(scopes), what, key=key, delta=delta, by=by), as_json, f"charged {what}")


@app.command()
def quote(
    scopes: Scopes,
    what: What,
    delta: Point = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Would it pass now, and how many more of these would? Nothing is charged; exit code 1 if it would be refused.

    [bold]Example[/bold]

    bursar ledger quote census 'gaussian(sigma=50)'
    """
    with opened(ledger, anchor, as_json) as books:
        answer = books.quote(_names(scopes), what, delta=delta)
    _print(answer, as_json)
    if not answer.passes:
        raise typer.Exit(1)


@app.command()
def reserve(
    scopes: Scopes,
    what: What,
    ttl: Annotated[str, typer.Option(help="For how many seconds.")],
    delta: Point = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Set an allowance aside; prints the id that draw and close want.

    [bold]Example[/bold]

    bursar ledger reserve census 'laplace(scale=100)*20' --ttl 3600
    """
    with opened(ledger, anchor, as_json) as books:
        made = books.reserve(_names(scopes), what, ttl=ttl, key=key, delta=delta, by=by)
        if as_json:
            _print(made, True)
        else:
            back = "" if made.given_back else ", except on lines that give nothing back (see quote)"
            typer.echo(f"reserved {what}: {made.id}; what is not drawn is given back when it closes{back}")


@app.command()
def draw(
    reservation: Annotated[str, typer.Argument(help="The id of the reservation.")],
    what: Annotated[str | None, typer.Argument(help="The part to be spent; all that is left if not given.")] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Spend a part of a reservation, before the data is touched."""
    with opened(ledger, anchor, as_json) as books:
        print_receipt(books.draw(reservation, what, key=key, by=by), as_json, "drawn")


@app.command()
def close(
    reservation: Annotated[str, typer.Argument(help="The id of the reservation.")],
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """End a reservation; the undrawn part is given back where that is sound."""
    with opened(ledger, anchor, as_json) as books:
        print_receipt(books.close(reservation, key=key, by=by), as_json, "closed")


@app.command()
def show(
    scope: Annotated[str | None, typer.Argument(help="One scope; all of them if not given.")] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Spent, held and left; the odometer; and the cost with hindsight."""
    with opened(ledger, anchor, as_json) as books:
        names = [scope] if scope is not None else [one.name for one in books.scopes()]
        found = [books.show(name) for name in names]
        halted = books.halted
    if as_json:
        if halted is not None:
            typer.echo(f"bursar: HALTED, nothing is charged: {halted}", err=True)
        every = [one.to_dict() for one in found]
        typer.echo(json.dumps(every if scope is None else every[0], ensure_ascii=False))
        return
    if halted is not None:  # once, however many scopes follow
        typer.echo(fitted(f"HALTED, nothing is charged: {halted}") + "\n")
    shown = "\n\n".join(fitted(str(replace(one, halted=None))) for one in found)
    typer.echo(shown or "no scopes yet: bursar ledger open NAME --epsilon 1 --delta 1e-6")
