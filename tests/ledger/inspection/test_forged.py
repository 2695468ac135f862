"""Journals that somebody edited and chained anew, tables included: each forgery is found, and none is a crash."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import FIRST, Chain, Entry
from bursar.ledger.journal.rows import row_of
from bursar.ledger.ledger import Ledger

Edit = Callable[[dict[str, Any], list[Any]], object]
"""Changes the body of an entry, and its columns."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with three roots, a reservation, an import and a new limit."""
    path = tmp_path / "budget.db"
    with Ledger(f"sqlite:///{path}", anchor=str(tmp_path / "elsewhere"), alert=None) as ledger:
        ledger.open("data", epsilon=2, delta="1e-5")
        ledger.spend("data", "laplace(scale=5)")
        held = ledger.reserve("data", "laplace(scale=2)*2 + gaussian(sigma=200)", ttl=10**6, key="r")
        ledger.draw(held, "laplace(scale=2)")
        ledger.close(held)
        ledger.limit("data", epsilon=3, reason="more")
        ledger.open("sums", epsilon=2, delta="1e-5", currency="sums")
        ledger.bring_in("sums", "what,count\nlaplace(scale=30),2\n")
        ledger.open("new", epsilon=2, delta="1e-5")
        assert ledger.verify(reprice=True)
    return path


def forge(path: Path, root: str, seq: int, edit: Edit) -> None:
    """Edit an entry, chain all anew, and make the balances what the entries say, as far as they say it."""
    database, chain, prev = sqlite3.connect(path), Chain(), dict[str, str]()
    rows = [[*row] for row in database.execute("SELECT * FROM journal ORDER BY root, seq")]
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {name}")
    for row in rows:
        if (row[0], row[1]) == (root, seq):
            body = json.loads(row[6])
            edit(body, row)
            row[6] = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        row[7] = prev.get(row[0], FIRST)
        row[8] = prev[row[0]] = Chain.hash(chain, Entry(*row[:8]))
        database.execute(
            "UPDATE journal SET kind = ?, body = ?, prev = ?, hash = ? WHERE root = ? AND seq = ?",
            (row[3], row[6], row[7], row[8], row[0], row[1]),
        )
        try:
            for one in body_in(row[6]).effect:
                place = (one.scope, one.line)
                numbers = 'UPDATE lines SET "limit" = ?, spent = ?, held = ?, splits = ? WHERE scope = ? AND line = ?'
                database.execute(numbers, (*row_of(one.after), *place))
        except (ValueError, sqlite3.Error):
            continue
    database.commit()
    database.close()


def verified(path: Path, **how: bool) -> list[str]:
    """What is wrong with it."""
    with Ledger(f"sqlite:///{path}", anchor=str(path.with_name("new anchor")), alert=None) as ledger:
        return list(ledger.verify(**how).problems)


def twice(body: dict[str, Any], row: list[Any]) -> None:
    """The line is charged, and refilled."""
    scope, line, before, after = body["effect"][0]
    body["effect"] = [[scope, line, before, after], [scope, line, after, before]]


def splits_of(body: dict[str, Any], end: int = 3) -> Any:
    """The splits of an entry's effect."""
    return next(one[end][3] for one in body["effect"] if one[1] == "splits")


def cheap_draws(body: dict[str, Any], row: list[Any]) -> None:
    """A reservation that says that its parts cost nothing."""
    detail = json.loads(body["reservation"][3])
    detail["units"] = [[0 for _ in each] for each in detail["units"]]
    body["reservation"][3] = json.dumps(detail, separators=(",", ":"))


FORGERIES: dict[str, tuple[str, int, Edit, str]] = {
    "twice": ("sums", 2, twice, "names a line twice"),
    "another kind": ("sums", 2, lambda body, row: row.__setitem__(3, "status"), "is of the kind status"),
    "no kind": ("sums", 2, lambda body, row: row.__setitem__(3, "gift"), "is of the kind gift"),
    "overdrawn": ("sums", 2, lambda body, row: body.update(overdrawn=["sums"], effect=[]), "overdraws a scope"),
    "limit": ("sums", 2, lambda body, row: body["effect"][0][3].__setitem__(0, 10**18), "changes the limit of"),
    "opening": ("sums", 1, lambda body, row: body["effect"][0][3].__setitem__(0, 10**18), "does not start from"),
    "rich from the start": ("new", 1, lambda body, row: splits_of(body)[3].append([1, 1, 0, 1]), "than its limit"),
    "refilled": ("data", 5, lambda body, row: splits_of(body)[3][-1].__setitem__(1, 10**18), "gives back"),
    "unused again": ("data", 4, lambda body, row: splits_of(body)[3][0].__setitem__(3, 1), "gives back"),
    "three times": ("data", 6, lambda body, row: splits_of(body)[3][0].__setitem__(0, 10**18), "other amounts"),
    "lived on": ("data", 6, lambda body, row: splits_of(body)[3].append([1, 1, 0, 1]), "other amounts than its limit"),
    "draws": ("data", 3, cheap_draws, "holds parts at other prices"),
    "drawn for less": ("data", 4, lambda body, row: splits_of(body)[3][-1].__setitem__(1, 1), "gives back"),
    "null splits": ("data", 2, lambda body, row: body["effect"][-1][3].__setitem__(3, None), "changes the limit"),
    "a word": ("data", 2, lambda body, row: body["effect"][-1][3].__setitem__(3, "x"), "cannot be read"),
    "no reservation": (
        "data",
        4,
        lambda body, row: body["reservation"].__setitem__(0, "other"),
        "the reservations are not",
    ),
    "no detail": ("data", 3, lambda body, row: body["reservation"].__setitem__(3, "{"), "cannot be read"),
    "no terms": ("sums", 1, lambda body, row: body["scopes"][0].__setitem__(5, "7"), "not what the journal says"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_found(name: str, path: Path) -> None:
    """By what an entry of its kind may do, by doing its moves again, or by its price."""
    root, seq, edit, said = FORGERIES[name]
    forge(path, root, seq, edit)
    verified(path)
    assert said in str(verified(path, reprice=True))
