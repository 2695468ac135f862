"""Tampering and rollback: flipped bytes, edited rows, stale backups and forked copies are evident."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

import bursar as b
from bursar.ledger.anchors.evidence import Anchored
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.journal.entry import Chain, Entry
from bursar.ledger.journal.rows import Head
from bursar.ledger.ledger import Ledger

TABLES = ("scopes", "lines", "journal", "keys", "released", "reservations", "migrations")


def made(folder: Path) -> Path:
    """A small ledger with a bit of everything, in one file."""
    path = folder / "budget.db"
    with Ledger(f"sqlite:///{path}", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6", key="open")
        ledger.open("team", parent="data", rho="1/10", key="team")
        for number in range(4):
            ledger.spend("team", b.Gaussian(sigma=40.0), key=f"q{number}", by="ann")
        held = ledger.reserve("team", b.Gaussian(sigma=90.0) * 3, ttl=10**6, key="hold")
        ledger.draw(held, b.Gaussian(sigma=90.0), key="draw")
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("team", b.Gaussian(sigma=1.0), key="much")
    raw = apsw.Connection(str(path))
    raw.execute("PRAGMA journal_mode = DELETE")
    raw.close()
    return path


def dump(path: Path) -> dict[str, list[Any]] | None:
    """All logical values, or None where the file cannot be read."""
    try:
        raw = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return {table: raw.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES}
        finally:
            raw.close()
    except (apsw.Error, UnicodeDecodeError):
        return None


def noticed(path: Path, anchor: Path) -> bool:
    """Whether opening or verifying complains."""
    try:
        with Ledger(f"sqlite:///{path}", anchor=str(anchor), alert=None) as ledger:
            return ledger.office.halted is not None or not ledger.verify()
    except b.BursarError:
        return True


def flipped(folder: Path, places: list[int]) -> tuple[int, int]:
    """How many flips changed a logical value, and how many of those went unnoticed."""
    path = made(folder)
    anchor = folder / "budget.db-anchor"
    content, before = path.read_bytes(), dump(path)
    changed = missed = 0
    copy = folder / "copy.db"
    for place in places:
        for file in folder.glob("copy.db*"):
            file.unlink()
        broken = bytearray(content)
        broken[place % len(content)] ^= 1 << (place % 8)
        copy.write_bytes(bytes(broken))
        after = dump(copy)
        if after == before:
            continue
        changed += 1
        missed += not noticed(copy, anchor)
    return changed, missed


def test_flipped_bytes_are_noticed(tmp_path: Path, figures: Any) -> None:
    """A sample of single bits of the file: every change of a logical value is detected."""
    rng = random.Random(11)
    changed, missed = flipped(tmp_path, [rng.randrange(10**9) for _ in range(600)])
    assert changed > 20
    assert missed == 0
    figures("one bit of the file flipped", "those that change a logical value", changed, missed)


@pytest.mark.soak
def test_every_flipped_byte_is_noticed(tmp_path: Path, figures: Any) -> None:
    """Every byte of the file."""
    size = made(tmp_path / "probe" if (tmp_path / "probe").mkdir() is None else tmp_path).stat().st_size
    folder = tmp_path / "all"
    folder.mkdir()
    changed, missed = flipped(folder, list(range(size)))
    assert missed == 0
    figures("one bit of the file flipped", "those that change a logical value", changed, missed)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE lines SET spent = spent - 1 WHERE spent > 0",
        "UPDATE lines SET held = 0",
        'UPDATE lines SET "limit" = "limit" + 1',
        "UPDATE lines SET dead = 0",
        'UPDATE lines SET "window" = 3',
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
        "DROP TRIGGER journal_keeps_its_entries; UPDATE journal SET body = replace(body, 'gaussian', 'laplacex')",
        "DROP TRIGGER journal_keeps_its_entries; UPDATE journal SET actor = 'bob' WHERE actor = 'ann'",
        "DROP TRIGGER journal_keeps_its_entries; UPDATE journal SET at = at - 1 WHERE seq = 3",
    ],
)
def test_edited_rows_are_noticed(edit: str, tmp_path: Path) -> None:
    """Whoever edits a table is found out by verify."""
    path = made(tmp_path)
    raw = apsw.Connection(str(path))
    raw.execute(edit)
    raw.close()
    assert noticed(path, tmp_path / "budget.db-anchor")


@pytest.mark.parametrize("edit", ["actor = 'bob'", "at = at + 1", "key = 'other'"])
@pytest.mark.parametrize("seq", [3, 4])
def test_an_entry_edited_together_with_its_hash_breaks_the_chain(edit: str, seq: int, tmp_path: Path) -> None:
    """Whoever also computes the edited entry's own hash anew is found out by the entry that follows it."""
    path = made(tmp_path)
    raw = apsw.Connection(str(path))
    raw.execute(
        f"DROP TRIGGER journal_keeps_its_entries; UPDATE journal SET {edit} WHERE root = 'data' AND seq = {seq}"
    )
    columns = ", ".join(Entry._fields)
    row = raw.execute(f"SELECT {columns} FROM journal WHERE root = 'data' AND seq = {seq}").fetchall()[0]
    edited = Chain().hash(Entry(*row))  # type: ignore[arg-type]
    raw.execute("UPDATE journal SET hash = ? WHERE root = 'data' AND seq = ?", (edited, seq))
    raw.close()
    with Ledger(f"sqlite:///{path}", alert=None) as ledger:
        assert f"entry {seq + 1} does not follow entry {seq}" in str(ledger.verify())


def test_a_rewritten_history_is_noticed_by_its_anchor(tmp_path: Path) -> None:
    """A journal that was made anew from the start adds up; only the anchor knows better."""
    path = made(tmp_path)
    for file in tmp_path.glob("budget.db*"):
        if not file.name.endswith("anchor"):
            file.unlink()
    with Ledger(f"sqlite:///{path}", anchor=str(tmp_path / "other"), alert=None) as forged:
        forged.open("data", epsilon=1, delta="1e-6", key="open")
        for number in range(12):
            forged.spend("data", b.Gaussian(sigma=400.0), key=f"q{number}")
        assert forged.verify()
    with Ledger(f"sqlite:///{path}", anchor=str(tmp_path / "budget.db-anchor"), alert=None) as ledger:
        with pytest.raises(b.errors.LedgerHalted, match="anchor"):
            ledger.spend("data", b.Gaussian(sigma=400.0))
        assert not ledger.verify()


def test_a_stale_backup_halts(tmp_path: Path, figures: Any) -> None:
    """A restored backup would refund what was spent since: the ledger halts until that is counted as spent."""
    path = tmp_path / "budget.db"
    url = f"sqlite:///{path}"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("other", epsilon=1)
        ledger.spend("data", b.Laplace(scale=10), key="a")
        ledger.backup(str(tmp_path / "copy.db"))
        with pytest.raises(b.InputError, match="exists"):
            ledger.backup(str(tmp_path / "copy.db"))
        ledger.spend("data", b.Laplace(scale=10), key="b")
    for file in tmp_path.glob("budget.db-[ws]*"):
        file.unlink()
    shutil.copy(tmp_path / "copy.db", path)
    with Ledger(url, alert=None) as ledger:
        for attempt in (
            lambda: ledger.spend("data", b.Laplace(scale=10), key="c"),
            lambda: ledger.quote("data", b.Laplace(scale=10)),
            lambda: ledger.open("new", epsilon=1),
        ):
            with pytest.raises(b.errors.LedgerHalted, match="older copy"):
                attempt()
        assert ledger.restore(assume_spent=True, reason="the disk died", by="ann")[0].root == "data"
        assert ledger.show("data").line("epsilon").left == 0
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("data", b.Laplace(scale=10), key="c")
        ledger.spend("other", b.Laplace(scale=10), key="d")
        assert ledger.verify()
    with Ledger(url, alert=None) as ledger:
        assert ledger.verify()
    figures("stale backup put in the ledger's place", "SQLite", 1, 0)


def test_a_forked_copy_halts(tmp_path: Path) -> None:
    """Two copies that both went on cannot both be right: the second one to meet the anchor halts."""
    url = f"sqlite:///{tmp_path}/budget.db"
    anchor = str(tmp_path / "anchor")
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup(str(tmp_path / "fork.db"))
        ledger.spend("data", b.Laplace(scale=10), key="a")
    with Ledger(f"sqlite:///{tmp_path}/fork.db", anchor=str(tmp_path / "none"), alert=None) as fork:
        for number in range(3):
            fork.spend("data", b.Laplace(scale=20), key=f"f{number}")
    with Ledger(f"sqlite:///{tmp_path}/fork.db", anchor=anchor, alert=None) as fork:
        with pytest.raises(b.errors.LedgerHalted, match="different copy"):
            fork.spend("data", b.Laplace(scale=10))
        fork.restore(assume_spent=True, reason="the other copy is gone")
        assert fork.show("data").line("epsilon").left == 0
        assert fork.verify()


def test_a_ledger_that_loses_entries_under_us_halts(tmp_path: Path) -> None:
    """An open ledger notices when the file beneath it goes back in time."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", b.Laplace(scale=10))
        raw = apsw.Connection(f"{tmp_path}/budget.db")
        raw.execute("DROP TRIGGER journal_loses_nothing; DELETE FROM journal WHERE seq = 2")
        raw.close()
        with pytest.raises(b.errors.LedgerHalted, match="were seen"):
            ledger.spend("data", b.Laplace(scale=10))


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
    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        assert ledger.verify()
    monkeypatch.delenv("BURSAR_CHAIN_KEY")
    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None) as ledger:
        assert not ledger.verify()


def test_clock_steps(tmp_path: Path) -> None:
    """Whatever the wall clock does, journal time rises and replay needs no clock."""
    times = iter([10**15, 5, 0, 10**14, 2 * 10**15, 7, *([3] * 50)])
    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None, clock=lambda: next(times)) as ledger:
        ledger.open("data", epsilon=1)
        for _ in range(5):
            ledger.spend("data", b.Laplace(scale=10))
        at = [row.entry.at for row in ledger.entries("data")]
        assert at == sorted(set(at))
        assert ledger.verify()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_several_roots_are_restored_at_once(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """An older copy lacks entries of two roots: both are restored, and the third is left as it is."""
    url = f"sqlite:///{tmp_path}/budget.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    anchor = tmp_path / "anchor"
    with Ledger(url, anchor=str(anchor), alert=None) as ledger:
        for root in "xyz":
            ledger.open(root, epsilon=1)
            ledger.spend(root, b.Laplace(scale=100))
    lost = "".join(f"\n9 {'0' * 64} {root} ;" for root in "xy")
    anchor.write_text(anchor.read_text() + lost)
    with Ledger(url, anchor=str(anchor), alert=None) as ledger:
        assert ledger.halted is not None
        ledger.restore(assume_spent=True, reason="an older copy")
        assert [float(ledger.show(root).line("epsilon").left) for root in "xyz"] == [0, 0, 0.99]
        assert ledger.verify()
