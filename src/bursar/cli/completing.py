"""What a shell may offer while somebody types: names of scopes from the ledger, names of theorems, and words of closed
lists. Completion never disturbs: where a ledger cannot be read, nothing is offered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

import typer

DEFAULT = "budget.db"


def scope_names(context: typer.Context, incomplete: str) -> list[str]:
    """The scopes of the ledger that is meant."""
    return _beginning(incomplete, _scopes(context))


def joined_scopes(context: typer.Context, incomplete: str) -> list[str]:
    """The same, after the commas of those that are named already."""
    done, comma, last = incomplete.rpartition(",")
    named = done.split(",")
    found = _beginning(last, (name for name in _scopes(context) if name not in named))
    return [f"{done}{comma}{name}" for name in found]


def theorem_names(incomplete: str) -> list[str]:
    """The theorems, by all their names."""
    from bursar.theorems import ALIASES, THEOREMS

    return _beginning(incomplete, [*(theorem.id for theorem in THEOREMS), *ALIASES])


def among(*words: str) -> Callable[[str], list[str]]:
    """Words of a closed list."""

    def offered(incomplete: str) -> list[str]:
        return _beginning(incomplete, words)

    return offered


def address(where: str) -> str:
    """A ledger's address: a bare path is a SQLite file."""
    return where if "://" in where else f"sqlite:///{where}"


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _scopes(context: typer.Context) -> list[str]:
    """The names in the ledger; none where it cannot be read, for whatever reason."""
    with suppress(Exception):
        from bursar.ledger.stores import store_of

        where = context.params.get("ledger") or os.environ.get("BURSAR_LEDGER") or DEFAULT
        store = store_of(address(where), create=False)
        try:
            with store.reading() as reader:
                return sorted(row.name for row in reader.scopes())
        finally:
            store.close()
    return []
