"""`bursar ledger`: what whoever runs a ledger does with its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bursar.cli.completing import DEFAULT
from bursar.cli.options import Anchor, By, Json, Reason, Where, app, opened
from bursar.cli.shared import busy


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
    by: By = None,
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
