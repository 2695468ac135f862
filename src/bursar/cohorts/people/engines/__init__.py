"""Who computes the admitted rows: DuckDB, embedded, or Spark; the table that is given decides."""

from __future__ import annotations

from typing import Any

from bursar.cohorts.people.engines._base import Engine, discreet
from bursar.cohorts.people.files import Folder
from bursar.errors import InputError, described
from bursar.extras import needs

ENGINES = ("duckdb", "spark")


def engine_of(table: Any, named: str | None, folder: Folder) -> Engine:
    """The engine that was named, or the one that the table belongs to, for files that lie in a folder."""
    home = home_of(table)
    if named is not None and named not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}, not {described(named)}", argument="engine")
    chosen = named or ("spark" if home == "pyspark" else "duckdb")
    if (chosen == "spark") != (home == "pyspark"):
        raise InputError(
            f"engine {chosen} cannot read a {home} table: Spark reads its own frames, DuckDB everything else",
            argument="engine",
        )
    if chosen == "spark":
        with needs("spark", "a Spark table"):
            from bursar.cohorts.people.engines.spark import SparkEngine

        return SparkEngine(table.sparkSession, folder)
    with needs("cohorts", "a person filter"):
        from bursar.cohorts.people.engines.duck import DuckEngine

    return DuckEngine(folder.filesystem)


def engine_in(session: Any, folder: Folder) -> Engine:
    """Spark, for what needs no table."""
    found = session_in(session)
    with needs("spark", "a Spark session"):
        from bursar.cohorts.people.engines.spark import SparkEngine

    return SparkEngine(found, folder)


def session_in(given: Any) -> Any:
    """A Spark session; whatever else was given is refused."""
    if home_of(given) != "pyspark" or not hasattr(given, "createDataFrame"):
        raise InputError(f"spark must be a Spark session, not {described(type(given).__name__)}", argument="spark")
    return given


def home_of(table: Any) -> str:
    """The package that a table belongs to."""
    return type(table).__module__.partition(".")[0]


__all__ = ["ENGINES", "Engine", "discreet", "engine_in", "engine_of", "home_of", "session_in"]
