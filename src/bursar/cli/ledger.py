"""`bursar ledger`: open a durable budget and spend from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bursar.cli.agreeing import Yes, agreeing
from bursar.cli.completing import DEFAULT
from bursar.cli.options import (
    Anchor,
    By,
    Json,
    Key,
    Point,
    ReservationId,
    ScopeName,
    Scopes,
    What,
    Where,
    Why,
    app,
    names,
    opened,
    priced,
    print_answer,
    print_receipt,
)
from bursar.errors import InputError
from bursar.ledger.budget.choosing import as_lines

if TYPE_CHECKING:
    from bursar.ledger.receipt import Receipt

Epsilon = Annotated[str | None, typer.Option(help="The limit ε.")]
Delta = Annotated[str | None, typer.Option(help="The limit δ; without it the scope is pure.")]
Rho = Annotated[str | None, typer.Option(help="The limit ρ of a zCDP scope.")]
Mu = Annotated[str | None, typer.Option(help="The limit μ of a GDP scope.")]
Order = Annotated[str | None, typer.Option(help="The Rényi order of a renyi scope.")]
Renyi = Annotated[str | None, typer.Option(help="The limit of the divergence at that order.")]
Leak = Annotated[str | None, typer.Option(help="The part of δ kept for releases that leak; 1 % of it.")]
Currency = Annotated[str | None, typer.Option(help="pure, sums, advanced, concentrated, residue, zcdp, renyi or gdp.")]
Parent = Annotated[
    str | None, typer.Option(help="The scope above; a/b goes below a, if there is one, without being told.")
]
Root = Annotated[bool, typer.Option("--root", help="A budget of its own, whatever the name lies under.")]
Kind = Annotated[str | None, typer.Option(help="root, block or quota.")]
Unit = Annotated[str | None, typer.Option(help="Whom it protects: person, household, record.")]
Relation = Annotated[str | None, typer.Option(help="add_remove, replace_one or zero_out.")]
Split = Annotated[
    list[str] | None,
    typer.Option("--split", help="A share of ε and a share of δ, such as 1/20:0.01 (may be repeated)."),
]
SecondPerson = Annotated[bool, typer.Option(help="A change of the limit needs two people.")]
Spent = Annotated[
    list[str] | None, typer.Option(help="A release made before it was opened (repeat it in the order of the releases).")
]


@app.command("open", epilog="\n\n".join(as_lines()))
def open_scope(
    scope: ScopeName,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    mu: Mu = None,
    order: Order = None,
    renyi: Renyi = None,
    leak: Leak = None,
    currency: Currency = None,
    parent: Parent = None,
    root: Root = False,
    kind: Kind = None,
    unit: Unit = None,
    relation: Relation = None,
    split: Split = None,
    second_person: SecondPerson = False,
    spent: Spent = None,
    yes: Yes = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Open a scope.

    [bold]Examples[/bold]

    bursar ledger open census --epsilon 1 --delta 1e-6

    bursar ledger open census/maps --epsilon 1/4 --delta 1e-7
    """
    limits = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "order": order, "renyi": renyi, "leak": leak}
    place = {"currency": currency, "parent": parent, "unit": unit, "relation": relation}
    place["kind"] = "root" if root else kind
    with opened(ledger, anchor, as_json, create=True) as books:
        if root and (parent is not None or kind not in (None, "root")):
            raise InputError("--root opens a scope with nothing above it: leave out --parent and --kind")

        def opening(consent: str | None) -> Receipt:
            more = {**limits, **place, "by": by, "key": key}
            splits = [one.split(":") for one in split or ()] or None
            said = {"splits": splits, "second_person": second_person, "spent": spent or (), "consent": consent}
            return books.open(scope, **more, **said)  # type: ignore[arg-type]

        receipt = agreeing(opening, yes=yes)
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
    by: By = None,
    reason: Why = None,
    as_json: Json = False,
) -> None:
    """Charge a release before it runs; exit code 1 if the budget refuses.

    [bold]Example[/bold]

    bursar ledger spend census 'gaussian(sigma=50)' --key query-0001
    """
    with opened(ledger, anchor, as_json) as books:
        receipt = books.spend(names(scopes), what, key=key, delta=delta, by=by, reason=reason)
        print_receipt(receipt, as_json, f"charged {what}", priced(books, receipt))


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
        answer = books.quote(names(scopes), what, delta=delta)
    print_answer(answer, as_json)
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
    by: By = None,
    reason: Why = None,
    as_json: Json = False,
) -> None:
    """Set an allowance aside; prints the id that draw and close want.

    [bold]Example[/bold]

    bursar ledger reserve census 'laplace(scale=100)*20' --ttl 3600
    """
    with opened(ledger, anchor, as_json) as books:
        made = books.reserve(names(scopes), what, ttl=ttl, key=key, delta=delta, by=by, reason=reason)
        if as_json:
            print_answer(made, True)
        else:
            back = "" if made.given_back else ", except what cannot be given back (see quote)"
            typer.echo(f"reserved {what}: {made.id}; what is not drawn is given back when it closes{back}")


@app.command()
def draw(
    reservation: ReservationId,
    what: Annotated[str | None, typer.Argument(help="The part to be spent; all that is left if not given.")] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    reason: Why = None,
    as_json: Json = False,
) -> None:
    """Spend a part of a reservation, before the data is touched."""
    with opened(ledger, anchor, as_json) as books:
        receipt = books.draw(reservation, what, key=key, by=by, reason=reason)
        print_receipt(receipt, as_json, "drawn", priced(books, receipt))


@app.command()
def close(
    reservation: ReservationId,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """End a reservation; the undrawn part is given back where that is sound."""
    with opened(ledger, anchor, as_json) as books:
        print_receipt(books.close(reservation, key=key, by=by), as_json, "closed")
