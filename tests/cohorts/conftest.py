"""Engines of person filters, and tables in their own kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bursar.cohorts import PersonFilter
from bursar.ledger.ledger import Ledger
from support.tables import SECRET, Rows
from support.where import PATHS


@pytest.fixture
def people(ledger: Ledger, tmp_path: Path) -> Callable[..., PersonFilter]:
    """Makes filters in a ledger of each store."""

    def make(name: str = "visits", **terms: Any) -> PersonFilter:
        given: dict[str, Any] = {"rho": "1/100", "person": "user", "secret": SECRET, **terms}
        return PersonFilter.create(ledger, name, folder=tmp_path / name, **given)

    return make


@pytest.fixture
def visits(embedded: Ledger, tmp_path: Path) -> PersonFilter:
    """A filter in an SQLite ledger."""
    return PersonFilter.create(
        embedded, "visits", folder=tmp_path / "visits", person="user", rho="1/100", secret=SECRET
    )


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session that lives as long as this test process, with one thread and few pauses."""
    from support.java import session

    os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), PATHS])
    made = session(tmp_path_factory.mktemp("java"), "local[1]", 1)
    yield made
    made.stop()


@pytest.fixture
def sparkle(spark: Any) -> Callable[[Rows], Any]:
    """Makes Spark frames of (user, value)."""
    return lambda rows: spark.createDataFrame(rows, "user STRING, value DOUBLE")
