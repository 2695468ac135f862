"""What people type about cohorts: sizes, ranges, the file of a secret, and the file for admitted rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bursar.cli.shared import whole_number
from bursar.errors import InputError

_MOST = 10**11  # blocks


def size(text: str) -> tuple[str, int]:
    """A dimension: its name and how long it is."""
    name, equals, given = text.partition("=")
    if not equals:
        raise InputError(f"a dimension is written name=size, such as day=365, not {text!r}", argument="dimension")
    return name, whole_number(given, "dimension", at_least=1, at_most=_MOST)


def part(text: str) -> tuple[str, Any]:
    """A range of blocks along a dimension, or one block."""
    name, equals, given = text.partition("=")
    first, colon, last = given.partition(":")
    if not equals:
        raise InputError(f"a range is written day=0:7 or day=3, not {text!r}", argument="range")
    ends = [whole_number(one, "range", at_least=0, at_most=_MOST) for one in ((first, last) if colon else (first,))]
    return name, tuple(ends) if colon else ends[0]


def secret_in(path: Path | None) -> bytes:
    """The secret in a file."""
    if path is None:
        raise InputError("people need --secret-file", argument="secret_file")
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}", argument="secret_file") from None


def new_file(target: Path) -> None:
    """Refuse a file that cannot be made, before anybody is charged for what is to be in it."""
    if target.exists():
        raise InputError(f"{target} exists: admitted rows never overwrite a file", argument="target")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{target.parent} is no folder that can be written to", argument="target")


@contextmanager
def written_whole(target: Path) -> Iterator[None]:
    """A file that is there when all of it is; what an engine says of rows that it cannot write would show them."""
    import duckdb

    from bursar.cohorts.people.engines import discreet

    try:
        with discreet(duckdb.Error):
            yield
    except BaseException:
        target.unlink(missing_ok=True)
        raise
