"""`bursar ledger history`: what happened to a budget, as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from bursar.cli.completing import DEFAULT
from bursar.cli.options import Anchor, Json, ScopeName, Where, app, opened
from bursar.cli.shared import whole_number

_PAGE = 1000  # entries of a root that are looked at together
_WIDEST = 44  # letters of what was released, or of a reason


@app.command()
def history(
    scope: ScopeName,
    most: Annotated[str, typer.Option(help="How many of its last entries, up to 1000.")] = "20",
    before: Annotated[str | None, typer.Option(help="Only those before this number.")] = None,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """What happened to a budget: when, who, what, and what it came to; the last of it.

    [bold]Example[/bold]

    bursar ledger history census --most 5
    """
    from bursar.service.seen import page

    with opened(ledger, anchor, as_json) as books:
        root = books.scope(scope).row.root
        size = whole_number(most, "most", at_least=1, at_most=1000)
        end = books.last(root)
        if before is not None:
            end = min(end, whole_number(before, "before", at_least=1, at_most=2**62) - 1)
        found: list[Mapping[str, Any]] = []
        while end > 0 and len(found) <= size:  # a root's entries are about many scopes: go back until there are enough
            start = max(end - _PAGE, 0)
            found = [*page(books, scope, start, end - start)["entries"], *found]
            end = start
    shown = found[-size:]
    older = shown[0]["seq"] if len(found) > size else None
    if as_json:
        answer = {"scope": scope, "entries": shown, "older": older}
        typer.echo(json.dumps(answer, ensure_ascii=False))
    else:
        typer.echo(_table(shown, older))


def _table(entries: list[Mapping[str, Any]], older: int | None) -> str:
    """The entries for people, in their own time."""
    from bursar.presented import Table, cut
    from bursar.service.seen import outcome

    if not entries:
        return "there is nothing yet"
    times = [datetime.fromtimestamp(entry["at"] / 1e6).astimezone() for entry in entries]
    rows = [
        (
            str(entry["seq"]),
            at.strftime("%Y-%m-%d %H:%M"),
            entry["actor"] or "-",
            entry["kind"],
            cut(entry["what"] or "-", _WIDEST),
            outcome(entry) or "-",
            cut(entry["reason"] or "", _WIDEST),
        )
        for entry, at in zip(entries, times, strict=True)
    ]
    head = ("#", f"when ({times[-1].tzname()})", "who", "did", "what", "came to", "reason")
    below = [f"(older ones: --before {older})"] if older is not None else []
    return Table((), head, rows, below, words=7).text()
