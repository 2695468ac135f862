"""What every store promises: atomic, isolated, append-only, checked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.journal.entry import FIRST, Chained, Entry
from bursar.ledger.journal.rows import Head, ReservationRow, ScopeRow, Split, Splits
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores import Store, store_of
from bursar.ledger.stores._base import Conflict
from bursar.ledger.verbs.draw import draw
from bursar.ledger.verbs.spend import spend

ROW = ScopeRow("data", "data", "", "root", "pure", "{}", "open")
EMPTY = Balance(100, 0, 0)
SPLIT = Balance(0, 0, 0, Splits(100, 100, "1", (Split(3, 4, 5, 1), Split(0, 0, 0, 0))))
ENTRY = Entry("data", 1, 5, "open", "k", "ann", '{"effect":[]}', FIRST)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An empty store of each kind."""
    made = store_of(url)
    yield made
    made.close()


def filled(store: Store) -> None:
    """A scope, an entry, a key, a release and a reservation."""
    with store.writing() as tx:
        tx.lock([])
        tx.add_scope(ROW, [("epsilon", EMPTY), ("splits", SPLIT)])
        tx.append(Chained(ENTRY, "h1"), 1)
        tx.remember("k", "data", 1)
        tx.add_released("data", "laplace(scale=1)", 1)
        tx.set_reservation(ReservationRow("r", "data", "open", 50, "{}"))


def test_what_was_written_is_read(store: Store) -> None:
    """Every table, after a commit, in a view and in a transaction."""
    filled(store)
    for view in (store.reading, store.writing):
        with view() as reader:
            assert reader.head("data") == Head(1, 5, "h1", 1)
            assert reader.heads() == {"data": Head(1, 5, "h1", 1)}
            assert reader.scope("data") == ROW
            assert reader.scopes() == reader.scopes("data") == [ROW]
            assert list(reader.balances("data").items()) == [("epsilon", EMPTY), ("splits", SPLIT)]
            assert reader.key("k") == ("data", 1)
            assert list(reader.every_key()) == [("k", "data", 1)]
            assert reader.entry("data", 1) == Chained(ENTRY, "h1")
            assert list(reader.entries("data")) == [Chained(ENTRY, "h1")]
            assert reader.released("data") == [("laplace(scale=1)", 1)]
            assert reader.reservation("r") == ReservationRow("r", "data", "open", 50, "{}")
            assert reader.due("data", 49) == []
            assert [row.id for row in reader.due("data", 50)] == ["r"]
            assert reader.head("none") is reader.scope("none") is reader.key("none") is None
            assert reader.entry("data", 2) is reader.reservation("none") is None


def test_a_transaction_sees_its_own_writes(store: Store) -> None:
    """Before the commit, and others do not."""
    filled(store)
    with store.writing() as tx:
        tx.lock(["data"])
        tx.set_balances([("data", "epsilon", EMPTY._replace(spent=7))])
        tx.append(Chained(ENTRY._replace(seq=2, prev="h1"), "h2"), 1)
        tx.remember("k2", "data", 2)
        assert tx.balances("data")["epsilon"].spent == 7
        assert tx.head("data") == Head(2, 5, "h2", 1)
        assert tx.key("k2") == ("data", 2)
        found = tx.entry("data", 2)
        assert found is not None
        assert found.hash == "h2"
    with store.reading() as reader:
        assert reader.balances("data")["epsilon"].spent == 7


def test_an_error_leaves_nothing(store: Store) -> None:
    """Whatever was written before it is gone."""
    filled(store)
    with pytest.raises(ZeroDivisionError), store.writing() as tx:  # noqa: PT012
        tx.lock(["data"])
        tx.set_balances([("data", "epsilon", EMPTY._replace(spent=7))])
        tx.append(Chained(ENTRY._replace(seq=2), "h2"), 1)
        tx.remember("k2", "data", 2)
        tx.add_released("data", "laplace(scale=1)", 5)
        tx.set_reservation(ReservationRow("r", "data", "closed", 50, "{}"))
        tx.set_scope(ROW._replace(status="closed"))
        tx.add_scope(ROW._replace(name="other"), [("epsilon", EMPTY)])
        raise ZeroDivisionError
    with store.reading() as reader:
        assert reader.balances("data")["epsilon"] == EMPTY
        assert reader.head("data") == Head(1, 5, "h1", 1)
        assert reader.key("k2") is reader.scope("other") is None
        assert reader.released("data") == [("laplace(scale=1)", 1)]
        assert reader.scope("data") == ROW
        assert reader.reservation("r") == ReservationRow("r", "data", "open", 50, "{}")


@pytest.mark.parametrize(
    "bad",
    [
        EMPTY._replace(spent=101),
        EMPTY._replace(spent=60, held=41),
        EMPTY._replace(spent=-1),
        EMPTY._replace(held=-1),
        EMPTY._replace(limit=-1),
        SPLIT._replace(splits=Splits(100, 100, "1", (Split(3, -4, 5, 1),))),
    ],
)
def test_constraints_repeat_the_rule(store: Store, bad: Balance) -> None:
    """No store keeps a line beyond its limit, whoever asks it to."""
    filled(store)
    with pytest.raises(b.errors.StorageFailed), store.writing() as tx:  # noqa: PT012
        tx.lock(["data"])
        tx.set_balances([("data", "epsilon", bad)])
    with store.reading() as reader:
        assert reader.balances("data")["epsilon"] == EMPTY


def test_keys_and_scopes_are_unique(store: Store) -> None:
    """A second one with the same name is a conflict or a failure, never a second row."""
    filled(store)
    with pytest.raises((b.errors.StorageFailed, Conflict)), store.writing() as tx:  # noqa: PT012
        tx.lock(["data"])
        tx.remember("k", "data", 9)
    with pytest.raises((b.errors.StorageFailed, Conflict)), store.writing() as tx:  # noqa: PT012
        tx.lock([])
        tx.add_scope(ROW, [("epsilon", EMPTY)])
    with store.reading() as reader:
        assert reader.key("k") == ("data", 1)


def test_entries_come_in_pages(store: Store) -> None:
    """Thousands of entries in order, from any place, at most so many."""
    filled(store)
    with store.writing() as tx:
        tx.lock(["data"])
        for seq in range(2, 2502):
            tx.append(Chained(ENTRY._replace(seq=seq), f"h{seq}"), 1)
    with store.reading() as reader:
        assert [row.entry.seq for row in reader.entries("data")] == list(range(1, 2502))
        assert [row.entry.seq for row in reader.entries("data", 2400)] == list(range(2401, 2502))
        assert [row.entry.seq for row in reader.entries("data", 5, 1500)] == list(range(6, 1506))


def test_the_journal_is_append_only(tmp_path: Path, postgres: str) -> None:
    """The databases themselves refuse to change or delete an entry."""
    import apsw
    import psycopg

    for address in (f"sqlite:///{tmp_path}/a.db", postgres):
        made = store_of(address)
        filled(made)
        made.close()
    raw = apsw.Connection(f"{tmp_path}/a.db")
    with psycopg.connect(postgres, autocommit=True) as other:
        for statement in ("UPDATE journal SET body = ''", "DELETE FROM journal"):
            with pytest.raises(apsw.ConstraintError, match="append-only"):
                raw.execute(statement)
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                other.execute(statement)  # type: ignore[arg-type]
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            other.execute("TRUNCATE journal")


def test_a_writer_role_cannot_rewrite(server: str, postgres: str) -> None:
    """A role that may spend can add to the journal, and has no right to change or delete."""
    import psycopg

    from bursar.ledger.stores.postgres.store import PostgresStore

    store = PostgresStore(postgres)
    filled(store)
    schema = postgres.rsplit("%3D", 1)[1]
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute(f"CREATE ROLE w{schema}")  # type: ignore[arg-type]
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO w{schema}")  # type: ignore[arg-type]
        store.grant_writer(f"w{schema}")
        owner.execute(f"SET ROLE w{schema}")  # type: ignore[arg-type]
        owner.execute("INSERT INTO journal VALUES ('data', 2, 6, 'spend', '', '', '{}', 'h1', 'h2')")
        for statement in (
            "UPDATE journal SET body = ''",
            "DELETE FROM journal",
            "DELETE FROM keys",
            "DELETE FROM lines",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                owner.execute(statement)  # type: ignore[arg-type]
        owner.execute("RESET ROLE")
        owner.execute(f"DROP OWNED BY w{schema}")  # type: ignore[arg-type]
        owner.execute(f"DROP ROLE w{schema}")  # type: ignore[arg-type]
    store.close()


def test_migrations_are_checked(tmp_path: Path) -> None:
    """A ledger whose migrations are not the ones known here is not touched."""
    import apsw

    store_of(f"sqlite:///{tmp_path}/a.db").close()
    raw = apsw.Connection(f"{tmp_path}/a.db")
    raw.execute("UPDATE migrations SET hash = 'other'")
    raw.close()
    with pytest.raises(b.errors.LedgerHalted, match="migration"):
        store_of(f"sqlite:///{tmp_path}/a.db")


@pytest.mark.parametrize(
    "bad", ["", "budget.db", "mysql://x", "sqlite:///", 7, None, "sqlite:////no/such/folder/a.db", "postgresql:/"]
)
def test_bad_addresses(bad: object) -> None:
    """An address that no store understands is refused."""
    with pytest.raises(b.InputError):
        store_of(bad)  # type: ignore[arg-type]


def test_one_bad_request_does_not_harm_its_batch(ledger: Ledger) -> None:
    """In one transaction: what is refused is refused alone, the others are charged."""
    ledger.open("data", epsilon=1)
    made = [
        ledger.request(spend("data", b.Laplace(scale=10)), key="a"),
        ledger.request(spend("data", b.Laplace(scale=1)), key="too much"),
        ledger.request(draw("no reservation"), key="no"),
        ledger.request(spend("nowhere", b.Laplace(scale=10)), key="lost"),
        ledger.request(spend("data", b.Laplace(scale=10)), key="a"),
        ledger.request(spend("data", b.Laplace(scale=10)), key="z"),
    ]
    assert ledger.quote("data", b.Laplace(scale=1)).fits == 1
    assert ledger.quote("data", b.Laplace(scale=10)).fits == 10
    ledger.commit(made)
    failures = [None if one.failure is None else type(one.failure).__name__ for one in made]
    assert failures == [None, "BudgetExceeded", "ReservationClosed", "ScopeUnknown", None, None]
    assert made[4].outcome.replayed
    assert float(ledger.show("data").line("epsilon").spent) == 0.2


def test_a_batch_in_two_steps(ledger: Ledger) -> None:
    """What is begun is decided at once where the store is prompt, and true only when its rest has run elsewhere."""
    ledger.open("data", epsilon=1)
    made = [ledger.request(spend("data", b.Laplace(scale=2)), key=key) for key in "abc"]
    assert ledger.quote("data", b.Laplace(scale=2)).fits == 2  # now the price is known
    finish = ledger.begin(made)
    if not ledger.store.prompt:
        assert finish is None
        assert ledger.show("data").line("epsilon").spent == 0
        return
    assert finish is not None
    assert ledger.show("data").line("epsilon").spent == 0
    assert ledger.begin([ledger.request(spend("data", b.Laplace(scale=10)))]) is None  # one at a time
    thread = threading.Thread(target=finish)
    thread.start()
    thread.join()
    assert [type(one.failure) for one in made] == [type(None), type(None), b.BudgetExceeded]
    assert ledger.show("data").line("epsilon").spent == 1
    again = [ledger.request(spend("data", b.Laplace(scale=2)), key="c")]
    finish = ledger.begin(again)
    assert finish is not None
    finish()
    assert isinstance(again[0].failure, b.BudgetExceeded)
    assert again[0].failure.replayed
    assert ledger.verify()


def test_a_root_that_was_not_locked_is_not_written(postgres: str) -> None:
    """A scope may come to be between the lock and the charge: the transaction is tried again, with the right lock."""
    store = store_of(postgres)
    filled(store)
    with pytest.raises(Conflict), store.writing() as tx:  # noqa: PT012
        tx.lock([])
        tx.append(Chained(ENTRY._replace(seq=2), "h2"), 1)
    with store.writing() as tx:
        tx.lock(["data"])
        tx.append(Chained(ENTRY._replace(seq=2), "h2"), 1)
    store.close()


def test_a_scope_that_never_came_to_be_is_looked_up_anew(ledger: Ledger) -> None:
    """After a failed transaction the catalogue trusts neither the root nor the path of what it met there."""
    ledger.open("left", epsilon=1)
    ledger.open("right", epsilon=1)
    with ledger.store.reading() as reader:
        catalogue = ledger.office.catalogue
        scope, path, _ = catalogue.find("left", reader)
        catalogue._known["ghost"] = (7, scope, path)
        assert catalogue.root("ghost", reader) == "left"
        catalogue.doubt()
        assert catalogue.root("ghost", reader) is None
        assert catalogue.likely("ghost") == []
        assert catalogue.root("left", reader) == "left"
