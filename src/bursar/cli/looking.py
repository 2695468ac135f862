"""`bursar ledger`: what everybody may look at, and what auditors do."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from bursar.cli.options import DEFAULT, Anchor, Json, ScopeName, Where, app, opened, print_answer
from bursar.cli.shared import busy, failing, fitted


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


@app.command()
def scopes(ledger: Where = DEFAULT, anchor: Anchor = None, as_json: Json = False) -> None:
    """All scopes, without their balances."""
    from bursar.service.seen import summary

    with opened(ledger, anchor, as_json) as books:
        found = [summary(scope) for scope in books.scopes()]
    said = [
        f"{one['name']}: {one['kind']}, {one['status']}, {one['currency']} "
        f"({', '.join(f'{name} {value}' for name, value in one['target'].items())})"
        for one in found
    ]
    _told({"scopes": found}, said, as_json)


@app.command()
def released(scope: ScopeName, ledger: Where = DEFAULT, anchor: Anchor = None, as_json: Json = False) -> None:
    """What was released in a scope, how often."""
    with opened(ledger, anchor, as_json) as books:
        found = books.released(books.scope(scope).name)
    answer = {"released": [{"what": what, "count": count} for what, count in found]}
    _told(answer, [f"{count} × {what}" for what, count in found], as_json)


@app.command()
def entries(
    scope: ScopeName,
    after: Annotated[int, typer.Option(help="Only those after this number.")] = 0,
    most: Annotated[int, typer.Option(help="How many entries of its root to look at.", min=1, max=1000)] = 100,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """What was written about a scope: who did what when, and what was spent after it."""
    from bursar.service.seen import page

    with opened(ledger, anchor, as_json) as books:
        found = page(books, scope, after, most)
    said = [_line(entry) for entry in found["entries"]]
    if found["next"] is not None:
        said.append(f"(there may be more: --after {found['next']})")
    _told(found, said, as_json)


def _line(entry: Mapping[str, Any]) -> str:
    """An entry for people."""
    from bursar.service.seen import outcome

    when = datetime.fromtimestamp(entry["at"] / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    by = f"by {entry['actor']}" if entry["actor"] else None
    parts = (f"{entry['seq']}  {when}  {entry['kind']}", entry["what"], by, entry["reason"], outcome(entry))
    return "; ".join(part for part in parts if part)


def _told(answer: Mapping[str, Any], said: list[str], as_json: bool) -> None:
    """The same answer for machines, or in lines for people."""
    text = json.dumps(answer, ensure_ascii=False) if as_json else "\n".join(fitted(line) for line in said)
    typer.echo(text or "there is nothing yet")


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
    print_answer(found, as_json)
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
