"""`bursar ledger`: spend from a durable budget. Exit codes: 0 done, 1 refused by the budget, 2 bad input."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
_DEFAULT = "budget.db"


@contextmanager
def _opened(where: str, anchor: str | None) -> Iterator[Ledger]:
    """The ledger, with refusals turned into exit codes."""
    from bursar.errors import BudgetExceeded, BursarError
    from bursar.ledger.ledger import Ledger

    try:
        url = where if "://" in where else f"sqlite:///{where}"
        with Ledger(url, anchor=anchor, alert=lambda alert: typer.echo(f"bursar: {alert}", err=True)) as ledger:
            yield ledger
    except BudgetExceeded as refusal:
        typer.echo(f"bursar: refused: {refusal}", err=True)
        raise typer.Exit(1) from None
    except BursarError as problem:
        typer.echo(f"bursar: {problem}", err=True)
        raise typer.Exit(2) from None


def _print(answer: Any, as_json: bool) -> None:
    """The same answer for people or for machines."""
    if as_json:
        typer.echo(json.dumps(answer.to_dict(), ensure_ascii=False))
    else:
        typer.echo(str(answer))


def _receipt(receipt: Any, as_json: bool, done: str) -> None:
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
    parent: Annotated[str | None, typer.Option(help="The scope above.")] = None,
    kind: Annotated[str | None, typer.Option(help="root, block, quota or window.")] = None,
    unit: Annotated[str | None, typer.Option(help="Whom it protects: person, household, record.")] = None,
    relation: Annotated[str | None, typer.Option(help="add_remove or replace_one.")] = None,
    period: Annotated[str | None, typer.Option(help="The length of a window, in seconds.")] = None,
    second_person: Annotated[bool, typer.Option(help="A change of the limit needs two people.")] = False,
    spent: Annotated[
        list[str] | None, typer.Option(help="A release made before it was opened (may be repeated).")
    ] = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Open a scope.

    [bold]Examples[/bold]

    bursar ledger open census --epsilon 1 --delta 1e-6

    bursar ledger open census/maps --parent census --epsilon 1/4 --delta 1e-7
    """
    limits = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "order": order, "renyi": renyi, "leak": leak}
    with _opened(ledger, anchor) as books:
        receipt = books.open(
            scope,
            **limits,
            currency=currency,
            parent=parent,
            kind=kind,
            unit=unit,
            relation=relation,
            period=period,
            second_person=second_person,
            spent=spent or (),
            by=by,
            key=key,
        )
        _receipt(receipt, as_json, f"{scope} is open")


@app.command()
def spend(
    scopes: Scopes,
    what: What,
    delta: Point = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Charge a release before it runs; exit code 1 if the budget refuses.

    [bold]Example[/bold]

    bursar ledger spend census 'gaussian(sigma=50)' --key query-0001
    """
    with _opened(ledger, anchor) as books:
        _receipt(books.spend(_names(scopes), what, key=key, delta=delta, by=by), as_json, f"charged {what}")


@app.command()
def quote(
    scopes: Scopes,
    what: What,
    delta: Point = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Would it pass now, and how many more of these would? Nothing is charged; exit code 1 if it would be refused.

    [bold]Example[/bold]

    bursar ledger quote census 'gaussian(sigma=50)'
    """
    with _opened(ledger, anchor) as books:
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
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Set an allowance aside; prints the id that draw and close want.

    [bold]Example[/bold]

    bursar ledger reserve census 'laplace(scale=100)*20' --ttl 3600
    """
    with _opened(ledger, anchor) as books:
        made = books.reserve(_names(scopes), what, ttl=ttl, key=key, delta=delta, by=by)
        if as_json:
            _print(made, True)
        else:
            back = "the undrawn part is given back" if made.given_back else "nothing is given back"
            typer.echo(f"reserved {what}: {made.id}; when it closes {back}")


@app.command()
def draw(
    reservation: Annotated[str, typer.Argument(help="The id of the reservation.")],
    what: Annotated[str | None, typer.Argument(help="The part to be spent; all that is left if not given.")] = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Spend a part of a reservation, before the data is touched."""
    with _opened(ledger, anchor) as books:
        _receipt(books.draw(reservation, what, key=key, by=by), as_json, "drawn")


@app.command()
def close(
    reservation: Annotated[str, typer.Argument(help="The id of the reservation.")],
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """End a reservation; the undrawn part is given back where that is sound."""
    with _opened(ledger, anchor) as books:
        _receipt(books.close(reservation, key=key, by=by), as_json, "closed")


@app.command()
def correct(
    root: Annotated[str, typer.Argument(help="The root whose journal has the entry.")],
    entry: Annotated[int, typer.Argument(help="The entry's number.")],
    what: What,
    reason: Reason,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Add spend that an entry should have had; it can only add."""
    with _opened(ledger, anchor) as books:
        _receipt(books.correct((root, entry), what, reason=reason, key=key, by=by), as_json, "corrected")


@app.command()
def limit(
    scope: ScopeName,
    reason: Reason,
    epsilon: Annotated[str | None, typer.Option(help="The new ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="The new δ.")] = None,
    rho: Annotated[str | None, typer.Option(help="The new ρ.")] = None,
    mu: Annotated[str | None, typer.Option(help="The new μ.")] = None,
    renyi: Annotated[str | None, typer.Option(help="The new limit of a Rényi order.")] = None,
    approved_by: Annotated[str | None, typer.Option(help="The second person, where two are needed.")] = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Raise or lower a limit."""
    with _opened(ledger, anchor) as books:
        receipt = books.limit(
            scope,
            reason=reason,
            by=by,
            approved_by=approved_by,
            key=key,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mu=mu,
            renyi=renyi,
        )
        _receipt(receipt, as_json, f"{scope} has a new limit")


@app.command()
def status(
    scope: ScopeName,
    to: Annotated[str, typer.Argument(help="frozen, open or closed (closed is for good).")],
    reason: Reason,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Freeze a scope, thaw it, or close it for good."""
    from bursar.numerics.validate import choice

    with _opened(ledger, anchor) as books:
        wanted = choice(status=to, among=("frozen", "open", "closed"))
        change = {"frozen": books.freeze, "open": books.thaw, "closed": books.retire}[wanted]
        _receipt(change(scope, reason=reason, by=by, key=key), as_json, f"{scope} is {wanted}")


@app.command("import")
def bring_in(
    scope: ScopeName,
    file: Annotated[
        Path, typer.Argument(help="A CSV file with a column what, and perhaps count and delta.", exists=True)
    ],
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Charge a table of past releases: all of it, or none."""
    with _opened(ledger, anchor) as books:
        receipt = books.bring_in(scope, file.read_text(encoding="utf-8"), key=key, by=by)
        _receipt(receipt, as_json, f"imported {file.name}")


@app.command()
def show(
    scope: Annotated[str | None, typer.Argument(help="One scope; all of them if not given.")] = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Spent, held and left; the odometer; and the cost with hindsight."""
    with _opened(ledger, anchor) as books:
        names = [scope] if scope is not None else [one.name for one in books.scopes()]
        found = [books.show(name) for name in names]
    if as_json:
        typer.echo(json.dumps([one.to_dict() for one in found], ensure_ascii=False))
    else:
        typer.echo("\n\n".join(map(str, found)) or "no scopes yet: bursar ledger open NAME --epsilon 1 --delta 1e-6")


@app.command()
def verify(
    reprice: Annotated[bool, typer.Option(help="Compute every price anew too.")] = False,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Recompute the chain, every balance and the anchors from the journal; exit code 2 if anything is wrong."""
    with _opened(ledger, anchor) as books:
        found = books.verify(reprice=reprice)
    if as_json:
        typer.echo(json.dumps({"ok": found.ok, "entries": found.entries, "problems": list(found.problems)}))
    else:
        typer.echo(str(found))
    if not found:
        raise typer.Exit(2)


@app.command()
def export(
    form: Annotated[str, typer.Option(help="jsonl, csv or opendp (a draft for the deployments registry).")] = "jsonl",
    root: Annotated[str | None, typer.Option(help="The root scope, for opendp.")] = None,
    curator: Annotated[str | None, typer.Option(help="Who publishes, for opendp.")] = None,
    verifier: Annotated[
        Path | None, typer.Option(help="Also write the script that checks a jsonl export here.")
    ] = None,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
) -> None:
    """Write the journal to standard output, for an auditor.

    [bold]Example[/bold]

    bursar ledger export --verifier check.py > journal.jsonl && python check.py journal.jsonl
    """
    from bursar.ledger.export import verifier as script

    with _opened(ledger, anchor) as books:
        text = books.export(form, root=root, curator=curator)
    if verifier is not None:
        verifier.write_text(script(), encoding="utf-8")
    sys.stdout.write(text)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The new file; it must not exist.")],
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
) -> None:
    """Copy a SQLite ledger while others go on using it."""
    with _opened(ledger, anchor) as books:
        books.backup(str(target))
    typer.echo(f"{target} is a copy as of now; whoever puts it in the ledger's place must use restore")


@app.command()
def restore(
    reason: Reason,
    assume_spent: Annotated[
        bool, typer.Option("--assume-spent", help="Count all that was left of the affected roots as spent.")
    ] = False,
    ledger: Where = _DEFAULT,
    anchor: Anchor = None,
    by: By = "",
) -> None:
    """Go on with a ledger that is behind its anchor: what was spent since is unknown, so all of it counts as spent."""
    with _opened(ledger, anchor) as books:
        receipts = books.restore(assume_spent=assume_spent, reason=reason, by=by)
    said = [f"{one.root}: all that was left counts as spent (entry {one.seq})" for one in receipts]
    typer.echo("\n".join(said) or "nothing is behind its anchor")
