"""pandas and polars: a table of releases in, the same table with what each costs, and what all of them cost so far.

Columns: ``mechanism`` (a name such as gaussian) with its parameters in columns of their own, or ``release`` (a text
form); ``count``, 1 where it is missing. What is null does not count as given.
"""

from __future__ import annotations

import math
from typing import Any

import bursar as b
from bursar.errors import InputError

_PLAIN = ("mechanism", "release", "count")
ADDED = ("text", "epsilon", "epsilon_so_far")


def priced(table: Any, *, delta: Any) -> Any:
    """The table with three columns more: the release in text, the ε of its row alone, and of all rows up to it."""
    rows = _records(table)
    compositions = [_composition(row, number) for number, row in enumerate(rows)]
    whole = b.Composition()
    columns: dict[str, list[Any]] = {name: [] for name in ADDED}
    for part in compositions:
        whole = whole + part
        columns["text"].append(part.text())
        columns["epsilon"].append(b.account(part, delta=delta).epsilon.upper)
        columns["epsilon_so_far"].append(b.account(whole, delta=delta).epsilon.upper)
    if hasattr(table, "with_columns"):  # polars
        import polars

        return table.with_columns(*(polars.Series(name, values) for name, values in columns.items()))
    return table.assign(**columns)


def _records(table: Any) -> list[dict[str, Any]]:
    """The rows, without nulls."""
    if hasattr(table, "to_dicts"):
        rows = table.to_dicts()
    elif hasattr(table, "to_dict"):
        rows = table.to_dict("records")
    else:
        raise InputError("table must be a pandas or a polars table", argument="table")
    return [{str(name): value for name, value in row.items() if not _null(value)} for row in rows]


def _null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def _composition(row: dict[str, Any], number: int) -> b.Composition:
    try:
        if "release" in row:
            return b.parse(str(row["release"])) * int(row.get("count", 1))
        if "mechanism" not in row:
            raise InputError("there is neither a mechanism nor a release", argument="mechanism")
        given = ", ".join(f"{name}={_text(value)}" for name, value in row.items() if name not in _PLAIN)
        return b.parse(f"{row['mechanism']}({given})") * int(row.get("count", 1))
    except InputError as problem:
        raise InputError(f"row {number}: {problem}", argument="table") from None


def _text(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)
