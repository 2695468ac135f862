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

from bursar.cli.completing import DEFAULT, scope_names
from bursar.cli.options import Anchor, Json, ScopeName, Where, app, opened, print_answer
from bursar.cli.shared import WRONG, busy, failing, fitted, whole_number


@app.command()
def show(
    scope: Annotated[
        str | None, typer.Argument(help="One scope; all of them if not given.", autocompletion=scope_names)
    ] = None,
    counted: Annotated[
        bool, typer.Option("--counted", help="How this is counted: every line, the odometer and hindsight.")
    ] = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """How budgets stand: per cent used and left, and about how many more releases fit."""
    with opened(ledger, anchor, as_json) as books:
        names = [scope] if scope is not None else [one.name for one in books.scopes()]
        found = [books.show(name) for name in names]
        halted = books.halted
    from bursar.ledger.budget.words import COUNTED

    if as_json:
        if halted is not None:
            typer.echo(f"bursar: HALTED, nothing is charged: {halted}", err=True)
        every = [one.to_dict() for one in found]
        typer.echo(json.dumps(every if scope is None else every[0], ensure_ascii=False))
        return
    if halted is not None:  # once, however many scopes follow
        typer.echo(fitted(f"HALTED, nothing is charged: {halted}") + "\n")
    texts = [str(replace(one, halted=None)) + (f"\n{COUNTED}\n{one.counted()}" if counted else "") for one in found]
    shown = "\n\n".join(fitted(one) for one in texts)
    typer.echo(shown or "no scopes yet: bursar ledger open NAME --epsilon 1 --delta 1e-6")


@app.command()
def scopes(ledger: Where = DEFAULT, anchor: Anchor = None, as_json: Json = False) -> None:
    """All scopes, without their balances."""
    from bursar.ledger.budget.words import promise
    from bursar.service.seen import summary

    with opened(ledger, anchor, as_json) as books:
        found = [summary(scope) for scope in books.scopes()]
    said = [f"{one['name']}: {one['kind']}, {one['status']}, {promise(one['target'])}" for one in found]
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
    after: Annotated[str, typer.Option(help="Only those after this number.")] = "0",
    most: Annotated[str, typer.Option(help="How many entries of its root to look at, up to 1000.")] = "100",
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """What was written about a scope: who did what when, what it took, and what was left after it."""
    from bursar.service.seen import page

    with opened(ledger, anchor, as_json) as books:
        start, size = whole_number(after, "after", at_least=0, at_most=2**62), _page(most)
        found = page(books, scope, start, size)
    said = [_line(entry) for entry in found["entries"]]
    if found["next"] is not None:
        said.append(f"(there may be more: --after {found['next']})")
    _told(found, said, as_json)


def _page(most: str) -> int:
    return whole_number(most, "most", at_least=1, at_most=1000)


def _line(entry: Mapping[str, Any]) -> str:
    """An entry for people."""
    from bursar.ledger.budget.words import done as done_by
    from bursar.service.seen import outcome

    when = datetime.fromtimestamp(entry["at"] / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    by = f"by {entry['actor']}" if entry["actor"] else None
    done = done_by(entry["kind"])
    parts = (f"{entry['seq']}  {when}  {done}", entry["what"], by, entry["reason"], outcome(entry))
    return "; ".join(part for part in parts if part)


def _told(answer: Mapping[str, Any], said: list[str], as_json: bool) -> None:
    """The same answer for machines, or in lines for people."""
    text = json.dumps(answer, ensure_ascii=False) if as_json else "\n".join(fitted(line) for line in said)
    typer.echo(text or "there is nothing yet")


@app.command()
def verify(
    reprice: Annotated[bool, typer.Option(help="Check every price too.")] = False,
    deep: Annotated[bool, typer.Option(help="And ask the engines again for what they once found.")] = False,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Recompute the chain, every balance and the anchors from the journal; exit code 4 if anything is wrong."""
    with opened(ledger, anchor, as_json) as books, busy("verifying"):
        found = books.verify(reprice=reprice, deep=deep)
    print_answer(found, as_json)
    if not found:
        raise typer.Exit(WRONG)


@app.command()
def export(
    form: Annotated[str, typer.Option(help="jsonl, csv or opendp (a draft for the deployments registry).")] = "jsonl",
    root: Annotated[str | None, typer.Option(help="The root scope, for opendp.", autocompletion=scope_names)] = None,
    facts: Annotated[
        Path | None, typer.Option(help="For opendp: a file (YAML or JSON) of what no ledger knows.")
    ] = None,
    curator: Annotated[str | None, typer.Option(help="An old name of the fact data_curators.")] = None,
    verifier: Annotated[
        Path | None, typer.Option(help="Also write the script that checks a jsonl export here.")
    ] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Write the journal to standard output, for an auditor.

    [bold]Examples[/bold]

    bursar ledger export --verifier check.py > journal.jsonl && python check.py journal.jsonl

    bursar ledger export --form opendp --root census --facts about.yaml > census.yaml
    """
    from bursar.cli.facts import read_facts
    from bursar.errors import InputError
    from bursar.ledger.inspection.export import verifier as script

    with opened(ledger, anchor, as_json) as books:
        given = None if facts is None else read_facts(facts)
        if curator is not None:
            if "data_curators" in (given or {}):
                raise InputError("name the curators once: in the facts", argument="curator")
            given = {"data_curators": [curator], **(given or {})}
        text = books.export(form, root=root, facts=given)
    if verifier is not None:
        with failing(as_json):
            verifier.write_text(script(), encoding="utf-8")
    sys.stdout.write(json.dumps({"form": form, "text": text}, ensure_ascii=False) + "\n" if as_json else text)
