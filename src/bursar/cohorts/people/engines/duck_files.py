"""Tables in files, as DuckDB reads them: Parquet, a folder of it, or CSV."""

from __future__ import annotations

import os
from typing import Any

import duckdb

from bursar.errors import InputError

_MIXED = (
    "SELECT DISTINCT name FROM parquet_schema(?) WHERE num_children IS NULL GROUP BY name "
    "HAVING count(DISTINCT (type, converted_type, logical_type)) > 1 ORDER BY name"
)


def table_at(db: duckdb.DuckDBPyConnection, path: str, person: str) -> Any:
    """The table of a file or a folder, of which ``person`` is the column of ids."""
    if path.endswith(".csv"):
        found = db.read_csv(path, header=True)
        if person not in found.columns:
            return found
        # ids are texts: were 0x10 a number wherever all others are, one person would have two names
        return db.read_csv(path, header=True, dtype={person: "VARCHAR"})
    if not (path.endswith(".parquet") or os.path.isdir(path)):
        raise InputError(
            f"a table is a .parquet or .csv file, or a folder of Parquet files, not {path}", argument="table"
        )
    files = path if path.endswith(".parquet") else f"{path}/**/*.parquet"
    found = db.read_parquet(files)
    # by the kinds of the first file 9.4 would become 9, and "007" the person 7
    mixed = [name for (name,) in db.execute(_MIXED, [files]).fetchall()]
    if mixed:
        raise InputError(
            f"the files of {path} keep {', '.join(mixed)} in different kinds: write all of them with one",
            argument="table",
        )
    return found
