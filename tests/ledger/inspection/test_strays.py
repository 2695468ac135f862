"""Rows that no entry accounts for: of scopes that do not exist, in every table and every store; counts of changes."""

from __future__ import annotations

from typing import Any

import pytest

from bursar.ledger.budget.currencies import Balance
from bursar.ledger.journal.rows import ReservationRow, ScopeRow
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.memory import MemoryStore
from support.hands import TENTH

EDITS = {
    "balance of ghost": "INSERT INTO lines VALUES ('ghost', 'epsilon', 9, 0, 0, 0, 0)",
    "list of releases of ghost": "INSERT INTO released VALUES ('ghost', 'laplace(scale=1)', 1)",
    "reservation r9 of ghost": "INSERT INTO reservations VALUES ('r9', 'ghost', 'open', 1, '{}')",
    "reservation r8 of team": "INSERT INTO reservations VALUES ('r8', 'team', 'open', 1, '{}')",
    "scope lost of ghost": "INSERT INTO scopes VALUES ('lost', 'ghost', '', 'quota', 'pure', '{}', 'open', 0)",
    "scope child of ghost": "INSERT INTO scopes VALUES ('child', 'data', 'ghost', 'quota', 'pure', '{}', 'open', 0)",
    "key 'stolen' is not in the journal": "INSERT INTO keys VALUES ('stolen', 'ghost', 2)",
    "team: changes are counted with it": "UPDATE scopes SET epoch = 7 WHERE name = 'team'",
    "are counted": "UPDATE scopes SET epoch = epoch + 1 WHERE name = 'data'",
}


def remembered(store: MemoryStore, named: str) -> bool:
    """The same edit of the tables in memory; False where they have no such column."""
    tables = store._tables
    match named:
        case "balance of ghost":
            tables._lines["ghost"] = {"epsilon": Balance(9, 0, 0, False)}
        case "list of releases of ghost":
            tables._released["ghost"] = {"laplace(scale=1)": 1}
        case "reservation r9 of ghost":
            tables._reservations["r9"] = ReservationRow("r9", "ghost", "open", 1, "{}")
        case "reservation r8 of team":
            tables._reservations["r8"] = ReservationRow("r8", "team", "open", 1, "{}")
        case "scope lost of ghost":
            tables._scopes["lost"] = ScopeRow("lost", "ghost", "", "quota", "pure", "{}", "open")
        case "scope child of ghost":
            tables._scopes["child"] = ScopeRow("child", "data", "ghost", "quota", "pure", "{}", "open")
        case "key 'stolen' is not in the journal":
            tables._keys["stolen"] = ("ghost", 2)
        case "are counted":
            tables._heads["data"] = tables._heads["data"]._replace(epoch=9)
        case _:
            return False
    return True


def edited(ledger: Ledger, url: str, named: str) -> bool:
    """A hand that changes a table and knows how to get around its constraints."""
    if isinstance(ledger.store, MemoryStore):
        return remembered(ledger.store, named)
    connection: Any
    if url.startswith("sqlite"):
        import apsw

        connection = apsw.Connection(url.removeprefix("sqlite:///"))
    else:
        import psycopg

        connection = psycopg.connect(url, autocommit=True)
        connection.execute("SET session_replication_role = replica")
    connection.execute(EDITS[named])
    connection.close()
    return True


@pytest.mark.parametrize("named", EDITS)
def test_strays_are_named(url: str, named: str) -> None:
    """Each of them, and nothing before it was there."""
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("team", parent="data", epsilon=1)
        ledger.open("part", parent="data", kind="block")
        ledger.spend("team", TENTH)
        ledger.reserve("team", TENTH, ttl=1000)
        ledger.freeze("team", reason="a question")
        assert ledger.verify(), str(ledger.verify())
        if edited(ledger, url, named):
            found = ledger.verify()
            assert not found
            assert any(named in problem for problem in found.problems), found.problems


def test_a_store_says_which_entries_it_has(url: str) -> None:
    """Hash and kind of those that are there, in a view and in a transaction."""
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", TENTH)
        expected = {row.entry.seq: (row.hash, row.entry.kind) for row in ledger.entries("data")}
        assert list(expected) == [1, 2]
        with ledger.store.reading() as view:
            assert view.links("data", [1, 2, 3, 10**12]) == expected
            assert view.links("data", []) == view.links("none", [1]) == {}
        with ledger.store.writing() as tx:
            assert tx.links("data", [2]) == {2: expected[2]}
