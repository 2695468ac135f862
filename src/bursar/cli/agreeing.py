"""What is shown before something is charged that nobody can take back, and asked where somebody can answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bursar.ledger.ledger import Ledger
    from bursar.ledger.receipt import Receipt
    from bursar.ledger.verbs.bring_in import BringIn
    from bursar.ledger.verbs.correct import Correct


Yes = Annotated[bool, typer.Option("--yes", help="Agree to what is shown, without being asked.")]


def agreeing(do: Callable[[str | None], Receipt], *, yes: bool) -> Receipt:
    """Do it; where it would do more than charge its releases, that is shown, and done for whoever agrees to it."""
    from bursar.errors import ConsentNeeded

    try:
        return do(None)
    except ConsentNeeded as price:
        if not yes:
            raise ConsentNeeded(f"{price} (--yes agrees)", consent=price.consent) from None
        typer.echo(f"bursar: {price}", err=True)
        return do(price.consent)


def agreed(books: Ledger, verb: Correct | BringIn, key: str | None, by: str | None, *, yes: bool, ask: bool) -> Receipt:
    """Do it, after its price was shown: asked at a terminal, and wherever it does more than charge its releases."""
    from msgspec.structs import replace

    from bursar.errors import ConsentNeeded
    from bursar.ledger.arguments import key_of

    chosen, terminal = key_of(key), ask and sys.stdin.isatty()
    shown = _known(books, chosen)  # it was done before: nothing is charged, and nobody is asked
    while True:
        try:
            if not shown and _show(books, verb, by) and terminal and not yes:
                typer.confirm("Is that meant?", abort=True, err=True)
            return books.office.submit(books.request(verb, key=chosen, by=by))
        except ConsentNeeded as price:
            if not yes and not terminal:
                raise ConsentNeeded(f"{price} (--yes agrees)", consent=price.consent) from None
            typer.echo(f"bursar: {price}", err=True)
            if not yes:
                typer.confirm("Is that meant?", abort=True, err=True)
            shown, verb = True, replace(verb, consent=price.consent)


def _known(books: Ledger, key: str) -> bool:
    with books.store.reading() as reader:
        return reader.key(key) is not None


def _show(books: Ledger, verb: Any, by: str | None) -> bool:
    """What it would take of each scope, and what is left afterwards; nothing where it would be refused."""
    from bursar.ledger.views.rehearsed import rehearsed

    found = rehearsed(books.office, verb, books.actor if by is None else by).changes
    for one in found:
        typer.echo(f"bursar: {one.taken}", err=True)
    return bool(found)
