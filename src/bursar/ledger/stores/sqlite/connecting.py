"""Connections to a SQLite file: for writing, for looking only, and the numbered changes of its tables."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

import apsw

from bursar.errors import StorageFailed
from bursar.ledger.stores.statements import check_migrations, migrations

PATIENCE = 30_000  # ms, for writers that do not know the lock


def connected(path: str, *, vfs: str | None, synchronous: str, shared: bool) -> apsw.Connection:
    """A connection that makes every commit durable."""
    connection = apsw.Connection(path, vfs=vfs)
    connection.set_busy_timeout(PATIENCE)
    if not shared:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchall()
    if mode != [("wal",)]:
        raise StorageFailed(f"{path}: this file system has no write-ahead log")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    # plans that do not look at values: otherwise a statement may be compiled anew each time it runs
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA wal_autocheckpoint = 1000")
    return connection


def looking_only(path: str, real: str) -> apsw.Connection:
    """A connection to a file that may not be written: as it is, if no log stands beside it."""
    calm = "" if os.path.exists(f"{real}-wal") else "&immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(os.path.abspath(path))}?mode=ro{calm}", flags=flags)


def migrate(db: apsw.Connection) -> None:
    """Run the numbered files that are missing, and check the ones that ran."""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(
            "CREATE TABLE IF NOT EXISTS migrations "
            "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL) STRICT"
        )
        rows: list[Any] = db.execute("SELECT number, hash FROM migrations").fetchall()
        done: dict[int, str] = dict(rows)
        check_migrations(done, "sqlite")
        for number, name, digest, text in migrations("sqlite"):
            if number not in done:
                db.execute(text)
                db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, digest))
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
