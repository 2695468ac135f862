"""Where ledgers live: memory, SQLite, PostgreSQL; one contract."""

from __future__ import annotations

import os

from bursar.errors import InputError, described
from bursar.extras import needs
from bursar.ledger.stores._base import Store as Store


def store_of(url: str | os.PathLike[str] | Store, *, create: bool = True) -> Store:
    """The store of an address: ``memory://``, ``sqlite:///budget.db`` (or a path), ``postgresql://…``."""
    if isinstance(url, Store):
        return url
    if isinstance(url, os.PathLike):
        url = f"sqlite:///{os.fspath(url)}"
    if not isinstance(url, str):
        raise InputError(
            f"a ledger's address is a text such as sqlite:///budget.db, not {described(url)}", argument="url"
        )
    if url == "memory://":
        from bursar.ledger.stores.memory import MemoryStore

        return MemoryStore()
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        from bursar.ledger.stores.sqlite.store import SqliteStore

        return SqliteStore(url.removeprefix("sqlite:///"), create=create)
    if url.startswith(("postgresql://", "postgres://")):
        with needs("postgres", "PostgreSQL"):
            from bursar.ledger.stores.postgres.store import PostgresStore

        return PostgresStore(url)
    raise InputError(
        f"a ledger's address starts with sqlite:///, postgresql:// or memory://, not {described(url)}", argument="url"
    )
