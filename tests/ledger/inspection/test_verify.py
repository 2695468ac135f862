"""Verify: flipped bytes, edited rows, rows that no entry accounts for and forged or shortened histories are evident."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import bursar as b
from bursar.ledger.anchors.evidence import Anchored
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.journal.entry import Chain
from bursar.ledger.journal.rows import Head, ReservationRow, ScopeRow
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.memory import MemoryStore
from support.hands import TENTH

TABLES = ("scopes", "lines", "journal", "keys", "released", "reservations", "migrations")
UNLOCKED = "DROP TRIGGER journal_keeps_its_entries; UPDATE journal SET"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A small ledger with a bit of everything, in one file."""
    path = tmp_path / "budget.db"
    with Ledger(f"sqlite:///{path}", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6", key="open")
        ledger.open("team", parent="data", rho="1/10", key="team")
        for number in range(4):
            ledger.spend("team", b.Gaussian(sigma=40.0), key=f"q{number}", by="ann")
        held = ledger.reserve("team", b.Gaussian(sigma=90.0) * 3, ttl=10**6, key="hold")
        ledger.draw(held, b.Gaussian(sigma=90.0), key="draw")
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("team", b.Gaussian(sigma=1.0), key="much")
    edit(f"sqlite:///{path}", "PRAGMA journal_mode = DELETE")
    return path


def edit(url: str, statements: str) -> None:
    """A hand that changes a table and knows how to get around its constraints."""
    if url.startswith("sqlite"):
        with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as raw:
            raw.execute(statements)
    else:
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute(statements)


def dump(path: Path) -> dict[str, list[Any]] | None:
    """All logical values, or None where the file cannot be read."""
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as raw:
            return {table: raw.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES}
    except (apsw.Error, UnicodeDecodeError):
        return None


def noticed(path: Path, anchor: Path) -> bool:
    """Whether opening or verifying complains."""
    try:
        with Ledger(f"sqlite:///{path}", anchor=str(anchor), alert=None) as ledger:
            return ledger.office.halted is not None or not ledger.verify()
    except b.BursarError:
        return True


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_flipped_bytes_are_noticed(every: bool, made: Path, figures: Any) -> None:
    """Single bits of the file, a sample or one in every byte: every change of a logical value is detected."""
    anchor, copy = made.with_name("budget.db-anchor"), made.with_name("copy.db")
    content, before = made.read_bytes(), dump(made)
    rng = random.Random(11)
    places: Sequence[int] = range(len(content)) if every else [rng.randrange(10**9) for _ in range(600)]
    changed = missed = 0
    for place in places:
        for file in made.parent.glob("copy.db*"):
            file.unlink()
        broken = bytearray(content)
        broken[place % len(content)] ^= 1 << (place % 8)
        copy.write_bytes(bytes(broken))
        if dump(copy) != before:
            changed += 1
            missed += not noticed(copy, anchor)
    assert changed > 20
    assert missed == 0
    figures("one bit of the file flipped", "those that change a logical value", changed, missed)


@pytest.mark.parametrize(
    "statements",
    [
        "UPDATE lines SET spent = spent - 1 WHERE spent > 0",
        "UPDATE lines SET held = 0",
        'UPDATE lines SET "limit" = "limit" + 1',
        "UPDATE lines SET splits = replace(splits, '\"1\"', '\"2\"')",
        "DELETE FROM lines WHERE scope = 'team'",
        "UPDATE scopes SET epoch = epoch + 1",
        "DELETE FROM keys WHERE key = 'q1'",
        "UPDATE keys SET seq = 3 WHERE key = 'q2'",
        "INSERT INTO keys VALUES ('stolen', 'data', 2)",
        "UPDATE released SET count = 1",
        "DELETE FROM reservations",
        "UPDATE reservations SET expires = expires + 1",
        "UPDATE scopes SET status = 'frozen'",
        "UPDATE scopes SET terms = replace(terms, 'record', 'person')",
        "DROP TRIGGER journal_loses_nothing; DELETE FROM journal WHERE seq = 9",
        f"{UNLOCKED} body = replace(body, 'gaussian', 'laplacex')",
        f"{UNLOCKED} actor = 'bob' WHERE actor = 'ann'",
        f"{UNLOCKED} at = at - 1 WHERE seq = 3",
    ],
)
def test_edited_rows_are_noticed(statements: str, made: Path) -> None:
    """Whoever edits a table is found out by verify."""
    edit(f"sqlite:///{made}", statements)
    assert noticed(made, made.with_name("budget.db-anchor"))


@pytest.mark.parametrize("change", ["actor = 'bob'", "at = at + 1", "key = 'other'"])
@pytest.mark.parametrize("seq", [3, 4])
def test_an_entry_edited_together_with_its_hash_breaks_the_chain(change: str, seq: int, made: Path) -> None:
    """Whoever also computes the edited entry's own hash anew is found out by the entry that follows it."""
    url, place = f"sqlite:///{made}", f"WHERE root = 'data' AND seq = {seq}"
    edit(url, f"{UNLOCKED} {change} {place}")
    with Ledger(url, alert=None) as ledger:
        edited = ledger.entries("data", after=seq - 1)[0]
        digest = Chain().hash(edited.entry)
        assert digest != edited.hash
        edit(url, f"UPDATE journal SET hash = '{digest}' {place}")
        assert f"entry {seq + 1} does not follow entry {seq}" in str(ledger.verify())


STRAYS = {
    "balance of ghost": "INSERT INTO lines VALUES ('ghost', 'epsilon', 9, 0, 0, '')",
    "list of releases of ghost": "INSERT INTO released VALUES ('ghost', 'laplace(scale=1)', 1)",
    "reservation r9 of ghost": "INSERT INTO reservations VALUES ('r9', 'ghost', 'open', 1, '{}')",
    "reservation r8 of team": "INSERT INTO reservations VALUES ('r8', 'team', 'open', 1, '{}')",
    "scope lost of ghost": "INSERT INTO scopes VALUES ('lost', 'ghost', '', 'quota', 'pure', '{}', 'open', 0)",
    "scope child of ghost": "INSERT INTO scopes VALUES ('child', 'data', 'ghost', 'quota', 'pure', '{}', 'open', 0)",
    "key 'stolen' is not in the journal": "INSERT INTO keys VALUES ('stolen', 'ghost', 2)",
    "team: changes are counted with it": "UPDATE scopes SET epoch = 7 WHERE name = 'team'",
    "are counted": "UPDATE scopes SET epoch = epoch + 1 WHERE name = 'data'",
}
IN_MEMORY: dict[str, tuple[str, str, Any]] = {
    "balance of ghost": ("_lines", "ghost", {"epsilon": Balance(9, 0, 0)}),
    "list of releases of ghost": ("_released", "ghost", {"laplace(scale=1)": 1}),
    "reservation r9 of ghost": ("_reservations", "r9", ReservationRow("r9", "ghost", "open", 1, "{}")),
    "reservation r8 of team": ("_reservations", "r8", ReservationRow("r8", "team", "open", 1, "{}")),
    "scope lost of ghost": ("_scopes", "lost", ScopeRow("lost", "ghost", "", "quota", "pure", "{}", "open")),
    "scope child of ghost": ("_scopes", "child", ScopeRow("child", "data", "ghost", "quota", "pure", "{}", "open")),
    "key 'stolen' is not in the journal": ("_keys", "stolen", ("ghost", 2)),
}
"""The same edits in memory, where changes are counted with roots only."""


def strayed(ledger: Ledger, url: str, named: str) -> bool:
    """Make an edit; False where the store has no such column."""
    if not isinstance(ledger.store, MemoryStore):
        edit(url, STRAYS[named])
    elif named == "are counted":
        heads = ledger.store._tables._heads
        heads["data"] = heads["data"]._replace(epoch=9)
    elif named in IN_MEMORY:
        table, key, row = IN_MEMORY[named]
        getattr(ledger.store._tables, table)[key] = row
    else:
        return False
    return True


@pytest.mark.parametrize("named", STRAYS)
def test_strays_are_named(url: str, named: str) -> None:
    """Each of them, in every table and every store, and nothing before it was there."""
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("team", parent="data", epsilon=1)
        ledger.open("part", parent="data", kind="block")
        ledger.spend("team", TENTH)
        ledger.reserve("team", TENTH, ttl=1000)
        ledger.freeze("team", reason="a question")
        assert ledger.verify(), str(ledger.verify())
        if strayed(ledger, url, named):
            found = ledger.verify()
            assert not found
            assert any(named in problem for problem in found.problems), found.problems


def test_a_store_says_which_entries_it_has(ledger: Ledger) -> None:
    """Hash and kind of those that are there, in a view and in a transaction."""
    ledger.open("data", epsilon=1)
    ledger.spend("data", TENTH)
    expected = {row.entry.seq: (row.hash, row.entry.kind) for row in ledger.entries("data")}
    assert list(expected) == [1, 2]
    with ledger.store.reading() as view:
        assert view.links("data", [1, 2, 3, 10**12]) == expected
        assert view.links("data", []) == view.links("none", [1]) == {}
    with ledger.store.writing() as tx:
        assert tx.links("data", [2]) == {2: expected[2]}


def test_a_rewritten_history_is_noticed_by_its_anchor(made: Path) -> None:
    """A journal that was made anew from the start adds up; only the anchor knows better."""
    made.unlink()
    with Ledger(made, anchor=str(made.with_name("other")), alert=None) as forged:
        forged.open("data", epsilon=1, delta="1e-6", key="open")
        for number in range(12):
            forged.spend("data", b.Gaussian(sigma=400.0), key=f"q{number}")
        assert forged.verify()
    with Ledger(made, alert=None) as ledger:
        with pytest.raises(b.errors.LedgerHalted, match="anchor"):
            ledger.spend("data", b.Gaussian(sigma=400.0))
        assert not ledger.verify()


def test_a_ledger_that_loses_entries_under_us_halts(embedded: Ledger, tmp_path: Path) -> None:
    """An open ledger notices when the file beneath it goes back in time."""
    embedded.open("data", epsilon=1)
    embedded.spend("data", TENTH)
    edit(f"sqlite:///{tmp_path}/budget.db", "DROP TRIGGER journal_loses_nothing; DELETE FROM journal WHERE seq = 2")
    with pytest.raises(b.errors.LedgerHalted, match="were seen"):
        embedded.spend("data", TENTH)


def test_anchors_survive_a_torn_line(tmp_path: Path) -> None:
    """A crash in the middle of an anchor is forgotten, and so is what it left behind."""
    anchors = AnchorFile(str(tmp_path / "anchor"))
    assert anchors.read() == {}
    anchors.append({"a b": Head(3, 0, "h3", 0)})
    with open(anchors.path, "a", encoding="utf-8") as file:
        file.write("\n4 h4 a")
    assert anchors.read() == {"a b": Anchored(3, "h3")}
    anchors.append({"a b": Head(5, 0, "h5", 0)})
    assert anchors.read() == {"a b": Anchored(5, "h5")}
    anchors.close()


def test_a_keyed_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a key the chain is an HMAC: without it nobody can verify it, or continue it unnoticed."""
    monkeypatch.setenv("BURSAR_CHAIN_KEY", "a secret")
    with Ledger(tmp_path / "budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        assert ledger.verify()
    monkeypatch.delenv("BURSAR_CHAIN_KEY")
    with Ledger(tmp_path / "budget.db", alert=None) as ledger:
        assert not ledger.verify()


def test_clock_steps(tmp_path: Path) -> None:
    """Whatever the wall clock does, journal time rises and replay needs no clock."""
    times = iter([10**15, 5, 0, 10**14, 2 * 10**15, 7, *([3] * 50)])
    with Ledger(tmp_path / "budget.db", alert=None, clock=lambda: next(times)) as ledger:
        ledger.open("data", epsilon=1)
        for _ in range(5):
            ledger.spend("data", TENTH)
        at = [row.entry.at for row in ledger.entries("data")]
        assert at == sorted(set(at))
        assert ledger.verify()


@pytest.mark.parametrize(
    ("edit_it", "named"),
    [
        ("DELETE FROM lines WHERE scope = 'data' AND line = 'splits'", "splits is missing"),
        ("DELETE FROM lines WHERE scope = 'data'", "delta, splits is missing"),
        ("INSERT INTO lines VALUES ('data', 'epsilon', 9, 0, 0, '')", "epsilon is missing, or should not be there"),
        ("UPDATE lines SET splits = '[1,2]' WHERE line = 'splits'", "balance of data is damaged"),
        ("UPDATE lines SET splits = '' WHERE line = 'splits'", "balance of data is damaged"),
    ],
)
def test_a_damaged_balance_halts_by_name(edit_it: str, named: str, tmp_path: Path) -> None:
    """Whatever is asked, the answer names the row; nothing is charged, and verify finds it too."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        first = ledger.spend("data", "laplace(scale=100)")
    edit(url, edit_it)
    asked: list[Callable[[Ledger], object]] = [
        lambda ledger: ledger.show("data"),
        lambda ledger: ledger.quote("data", "laplace(scale=100)"),
        lambda ledger: ledger.spend("data", "laplace(scale=100)"),
        lambda ledger: ledger.reserve("data", "laplace(scale=100)", ttl=9),
        lambda ledger: ledger.correct(first, "laplace(scale=100)", reason="x"),
        lambda ledger: ledger.bring_in("data", "what\nlaplace(scale=100)\n"),
        lambda ledger: ledger.limit("data", epsilon=2, reason="x"),
    ]
    with Ledger(url, alert=None) as ledger:
        for ask in asked:
            with pytest.raises(b.errors.LedgerHalted, match=named):
                ask(ledger)
        assert ledger.last("data") == 2
        assert not ledger.verify()
