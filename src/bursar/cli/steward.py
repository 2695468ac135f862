"""`bursar ledger`: what stewards do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursar.cli.agreeing import Yes, agreed, agreeing
from bursar.cli.completing import DEFAULT
from bursar.cli.options import (
    Anchor,
    By,
    Json,
    Key,
    Reason,
    ScopeName,
    What,
    Where,
    app,
    opened,
    priced,
    print_receipt,
)
from bursar.cli.shared import whole_number

if TYPE_CHECKING:
    from bursar.ledger.receipt import Receipt

Table = Annotated[Path, typer.Argument(help="A CSV file: what, and perhaps count and delta; the first that ran first.")]


@app.command()
def correct(
    root: Annotated[str, typer.Argument(help="The root whose journal has the entry.")],
    entry: Annotated[str, typer.Argument(help="The entry's number.")],
    what: What,
    reason: Reason,
    yes: Yes = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Add spend that an entry should have had; it can only add.

    The price is shown first, and at a terminal it asks. Where it would do more than charge the release (end what is
    left for Gaussian-like releases, end reservations, freeze a scope), nothing is done until somebody agrees to what
    was shown: at the terminal, or with --yes.
    """
    from bursar.ledger.verbs.correct import correct as asked

    with opened(ledger, anchor, as_json) as books:
        place = (root, whole_number(entry, "entry", at_least=1, at_most=2**62))
        with books.store.reading() as reader:
            verb = asked(reader, place, what, reason)
        receipt = agreed(books, verb, key, by, yes=yes, ask=not as_json)
        print_receipt(receipt, as_json, "corrected", priced(books, receipt))


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
    yes: Yes = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Raise or lower a limit."""
    with opened(ledger, anchor, as_json) as books:
        limits = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "renyi": renyi}
        who: dict[str, Any] = {"by": by, "approved_by": approved_by, "key": key}

        def changing(consent: str | None) -> Receipt:
            return books.limit(scope, reason=reason, consent=consent, **who, **limits)

        receipt = agreeing(changing, yes=yes)
        print_receipt(receipt, as_json, f"{scope} has a new limit")


def _change(verb: str, done: str) -> Callable[..., None]:
    """The command of a verb that changes whether a scope accepts charges."""

    def change(
        scope: ScopeName,
        reason: Reason,
        ledger: Where = DEFAULT,
        anchor: Anchor = None,
        key: Key = None,
        by: By = None,
        as_json: Json = False,
    ) -> None:
        with opened(ledger, anchor, as_json) as books:
            receipt = getattr(books, verb)(scope, reason=reason, by=by, key=key)
            print_receipt(receipt, as_json, f"{scope} is {done}")

    return change


app.command("freeze", help="Accept no charges until it is thawed.")(_change("freeze", "frozen"))
app.command("thaw", help="Accept charges again.")(_change("thaw", "open"))
app.command("retire", help="Close a scope, and those below it, for good.")(_change("retire", "closed"))


@app.command(hidden=True)
def status(
    scope: ScopeName,
    to: Annotated[str, typer.Argument(help="frozen, open or closed (closed is for good).")],
    reason: Reason,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """The old name of freeze, thaw and retire."""
    from bursar.numerics.validate import choice

    typer.echo("bursar: status is now called freeze, thaw and retire", err=True)
    with opened(ledger, anchor, as_json) as books:
        wanted = choice(status=to, among=("frozen", "open", "closed"))
        change = {"frozen": books.freeze, "open": books.thaw, "closed": books.retire}[wanted]
        print_receipt(change(scope, reason=reason, by=by, key=key), as_json, f"{scope} is {wanted}")


@app.command()
def bring_in(
    scope: ScopeName,
    file: Table,
    yes: Yes = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Charge a table of past releases: all of it, or none.

    The price is shown first, as by correct; where it would do more than charge them, nothing is done until somebody
    agrees.
    """
    from bursar.ledger.verbs.bring_in import bring_in as asked

    with opened(ledger, anchor, as_json) as books:
        verb = asked(scope, file.read_text(encoding="utf-8-sig"))
        receipt = agreed(books, verb, key, by, yes=yes, ask=not as_json)
        print_receipt(receipt, as_json, f"imported {file.name}", priced(books, receipt))


@app.command("import", hidden=True)
def old_import(
    scope: ScopeName,
    file: Table,
    yes: Yes = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """The old name of bring-in."""
    typer.echo("bursar: import is now called bring-in", err=True)
    bring_in(scope, file, yes, ledger, anchor, key, by, as_json)
