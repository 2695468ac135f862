"""The statements of the engines, from their file, with what each engine calls differently filled in."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from bursar.cohorts.people.charges import OwnNorm, Query


class Dialect(NamedTuple):
    """What engines call differently."""

    hash: str
    """HMAC-SHA256 of ``id`` as 16 bytes, from the pads."""
    div: str
    """Division of whole numbers."""


@cache
def _texts() -> dict[str, str]:
    text = files(__package__).joinpath("statements.sql").read_text(encoding="utf-8")
    parts = re.split(r"-- name: (\w+)\n", text)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def statement(name: str, **values: object) -> str:
    """A statement by its name."""
    return _texts()[name].format(**values)


def charges_statement(query: Query, dialect: Dialect) -> str:
    """Who is charged what."""
    if isinstance(query, OwnNorm):
        scale = f"CAST('{float(1 / query.step)!r}' AS DOUBLE)"
        return statement(
            "contributions",
            hash=dialect.hash,
            div=dialect.div,
            price=query.price,
            most=query.cells,
            scale=scale,
        )
    return statement("participants", hash=dialect.hash, worst=query.worst)
