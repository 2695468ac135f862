"""Old ledgers: a file or a database of an earlier form is brought up to date when it is opened."""

from __future__ import annotations

from pathlib import Path

import apsw
import psycopg

import bursar as b
from bursar.ledger.ledger import Ledger

HEADS = """
CREATE TABLE heads (root TEXT PRIMARY KEY, seq BIGINT NOT NULL, at BIGINT NOT NULL, hash TEXT NOT NULL,
                    epoch BIGINT NOT NULL);
INSERT INTO heads SELECT root, seq, at, hash, (SELECT epoch FROM scopes WHERE name = journal.root) FROM journal
    WHERE seq = (SELECT MAX(seq) FROM journal AS other WHERE other.root = journal.root);
ALTER TABLE scopes DROP COLUMN epoch;
DELETE FROM migrations WHERE number = 2;
"""
"""Back to the first form, in which the ends of the chains had a table of their own."""


def used(url: str, anchor: str) -> None:
    """A ledger with a root that a steward has changed."""
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("quota", parent="data", epsilon=1)
        ledger.spend("quota", b.Laplace(scale=10))
        ledger.open("other", rho=1)


def still_good(url: str, anchor: str) -> None:
    """It verifies, goes on, and keeps the count of a steward's changes."""
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        assert ledger.verify()
        ledger.spend("quota", b.Laplace(scale=10))
        ledger.freeze("quota", reason="a question")
        assert ledger.verify()
        with ledger.store.reading() as reader:
            assert {root: (head.seq, head.epoch) for root, head in reader.heads().items()} == {
                "data": (5, 3),
                "other": (1, 1),
            }


def test_a_file_of_the_first_form(tmp_path: Path) -> None:
    """SQLite: opened, migrated, and used."""
    url, anchor = f"sqlite:///{tmp_path}/budget.db", str(tmp_path / "anchor")
    used(url, anchor)
    raw = apsw.Connection(f"{tmp_path}/budget.db")
    raw.execute(HEADS)
    raw.close()
    still_good(url, anchor)


def test_a_database_of_the_first_form(postgres: str, tmp_path: Path) -> None:
    """PostgreSQL: the same."""
    anchor = str(tmp_path / "anchor")
    used(postgres, anchor)
    with psycopg.connect(postgres) as raw:
        raw.execute(HEADS)  # type: ignore[arg-type]
    still_good(postgres, anchor)
