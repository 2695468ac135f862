"""The statements of the SQL stores, from their files: named queries, and numbered migrations, which never change."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files

from bursar.errors import LedgerHalted


@cache
def queries(mark: str = "?", file: str = "queries.sql") -> dict[str, str]:
    """The statements of a file by name, with the driver's own placeholder; a folder's batches.sql is for many rows."""
    parts = re.split(r"-- name: (\w+)\n", files_of(file))[1:]
    return {name: body.strip().replace("?", mark) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def files_of(name: str) -> str:
    """The text of a file of statements."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def check_migrations(done: dict[int, str], dialect: str) -> None:
    """Refuse a ledger that a newer or another bursar has changed."""
    known = {number: digest for number, _, digest, _ in migrations(dialect)}
    for number, digest in done.items():
        if known.get(number) != digest:
            raise LedgerHalted(
                f"migration {number} of this ledger is not the one known here: use the bursar that made it"
            )


@cache
def migrations(dialect: str) -> tuple[tuple[int, str, str, str], ...]:
    """(number, name, hash, statements) of each numbered file."""
    found = []
    for file in sorted(files(__package__).joinpath(dialect).iterdir(), key=lambda f: f.name):
        if numbered := re.match(r"(\d{4})_(\w+)\.sql\Z", file.name):
            text = file.read_text(encoding="utf-8")
            found.append((int(numbered[1]), numbered[2], hashlib.sha256(text.encode()).hexdigest(), text))
    return tuple(found)
