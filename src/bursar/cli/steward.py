"""`bursar ledger`: what stewards and auditors do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from bursar.cli.ledger import (
    DEFAULT,
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
    print_receipt,
)
from bursar.cli.shared import busy, failing, fitted


@app.command()
def correct(
    root: Annotated[str, typer.Argument(help="The root whose journal has the entry.")],
    entry: Annotated[int, typer.Argument(help="The entry's number.")],
    what: What,
    reason: Reason,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what it does beyond charging the release.")] = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Add spend that an entry should have had; it can only add.

    Where it would do more than charge the release (cost more out of its order, give up a way of paying, end
    reservations, freeze a scope), it says so and asks; --yes agrees, to what was shown.
    """
    from bursar.errors import ConsentNeeded
    from bursar.ledger.arguments import own_key

    chosen = own_key() if key is None else key
    with opened(ledger, anchor, as_json) as books:
        agreed = None
        while True:
            try:
                receipt = books.correct((root, entry), what, reason=reason, key=chosen, by=by, consent=agreed)
                break
            except ConsentNeeded as price:
                if not yes and (as_json or not sys.stdin.isatty()):
                    raise ConsentNeeded(f"{price} (--yes agrees)", consent=price.consent) from None
                typer.echo(f"bursar: {price}", err=True)
                if not yes:
                    typer.confirm("Is that meant?", abort=True, err=True)
                agreed = price.consent
        print_receipt(receipt, as_json, "corrected")


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
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Raise or lower a limit."""
    with opened(ledger, anchor, as_json) as books:
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
        print_receipt(receipt, as_json, f"{scope} has a new limit")


@app.command()
def status(
    scope: ScopeName,
    to: Annotated[str, typer.Argument(help="frozen, open or closed (closed is for good).")],
    reason: Reason,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Freeze a scope, thaw it, or close it for good."""
    from bursar.numerics.validate import choice

    with opened(ledger, anchor, as_json) as books:
        wanted = choice(status=to, among=("frozen", "open", "closed"))
        change = {"frozen": books.freeze, "open": books.thaw, "closed": books.retire}[wanted]
        print_receipt(change(scope, reason=reason, by=by, key=key), as_json, f"{scope} is {wanted}")


@app.command("import")
def bring_in(
    scope: ScopeName,
    file: Annotated[
        Path,
        typer.Argument(help="A CSV file: what, and perhaps count and delta.", exists=True, dir_okay=False),
    ],
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    key: Key = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Charge a table of past releases: all of it, or none."""
    with opened(ledger, anchor, as_json) as books:
        receipt = books.bring_in(scope, file.read_text(encoding="utf-8-sig"), key=key, by=by)
        print_receipt(receipt, as_json, f"imported {file.name}")


@app.command()
def verify(
    reprice: Annotated[bool, typer.Option(help="Compute every price anew too.")] = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Recompute the chain, every balance and the anchors from the journal; exit code 2 if anything is wrong."""
    with opened(ledger, anchor, as_json) as books, busy("verifying"):
        found = books.verify(reprice=reprice)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        typer.echo(fitted(str(found)))
    if not found:
        raise typer.Exit(2)


@app.command()
def export(
    form: Annotated[str, typer.Option(help="jsonl, csv or opendp (a draft for the deployments registry).")] = "jsonl",
    root: Annotated[str | None, typer.Option(help="The root scope, for opendp.")] = None,
    facts: Annotated[
        Path | None, typer.Option(help="For opendp: a file (YAML or JSON) of what no ledger knows.", dir_okay=False)
    ] = None,
    curator: Annotated[str | None, typer.Option(help="An old name of the fact data_curators.")] = None,
    verifier: Annotated[
        Path | None, typer.Option(help="Also write the script that checks a jsonl export here.")
    ] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
) -> None:
    """Write the journal to standard output, for an auditor.

    [bold]Examples[/bold]

    bursar ledger export --verifier check.py > journal.jsonl && python check.py journal.jsonl

    bursar ledger export --form opendp --root census --facts about.yaml > census.yaml
    """
    from bursar.cli.facts import read_facts
    from bursar.errors import InputError
    from bursar.ledger.inspection.export import verifier as script

    with opened(ledger, anchor) as books:
        given = None if facts is None else read_facts(facts)
        if curator is not None:
            if "data_curators" in (given or {}):
                raise InputError("name the curators once: in the facts", argument="curator")
            given = {"data_curators": [curator], **(given or {})}
        text = books.export(form, root=root, facts=given)
    if verifier is not None:
        with failing():
            verifier.write_text(script(), encoding="utf-8")
    sys.stdout.write(text)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The new file; it must not exist.")],
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Copy a SQLite ledger while others go on using it."""
    with opened(ledger, anchor, as_json) as books, busy("copying"):
        books.backup(str(target))
    if as_json:
        typer.echo(json.dumps({"backup": str(target)}, ensure_ascii=False))
        return
    typer.echo(f"{target} is a copy as of now; whoever puts it in the ledger's place must use restore")


@app.command()
def restore(
    reason: Reason,
    assume_spent: Annotated[
        bool, typer.Option("--assume-spent", help="Count all that was left of the affected roots as spent.")
    ] = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    by: By = "",
    as_json: Json = False,
) -> None:
    """Go on with a ledger that is behind its anchor: what was spent since is unknown, so all of it counts as spent."""
    with opened(ledger, anchor, as_json) as books:
        receipts = books.restore(assume_spent=assume_spent, reason=reason, by=by)
    if as_json:
        typer.echo(json.dumps([one.to_dict() for one in receipts], ensure_ascii=False))
        return
    said = [f"{one.root}: all that was left counts as spent (entry {one.seq})" for one in receipts]
    typer.echo("\n".join(said) or "nothing is behind its anchor")
