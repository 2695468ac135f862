"""Copies of a SQLite ledger: however one comes into its place, both together never spend more than the limit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import bursar as b
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite.rows import Write
from bursar.ledger.stores.sqlite.store import SqliteStore
from support.copies import PARTS, Spender, made, put
from support.disks import FailingDisk, FailingFile, Fault
from support.hands import TENTH

WAYS = ["moved", "moved, without the log", "copied", "copied, without the log"]


@pytest.mark.parametrize("before", [0, 40])
@pytest.mark.parametrize("how", WAYS)
def test_a_backup_in_the_place_of_an_open_file(
    how: str, before: int, tmp_path: Path, spender: Callable[..., Spender], figures: Any
) -> None:
    """One process has it open, another opens the backup: both spend by turns, and together at most what fits."""
    path = tmp_path / "budget.db"
    copy = made(path)
    first = spender(path)
    admitted = first.spend(before)[0]
    put(copy, path, how)
    second = spender(path)
    ends = {}
    for _ in range(30):
        for one in (first, second):
            count, ends[one] = one.spend(7)
            admitted += count
    assert admitted <= PARTS
    if how != "copied":  # there both still share the file and its log
        assert ends[first] == "ledger_halted"
    figures("backup put in the place of an open file", how, admitted, max(0, admitted - PARTS))


def test_a_moved_file_halts_for_good(tmp_path: Path) -> None:
    """Neither writers nor readers take the orphan for the ledger, not even when it comes back; a new one does."""
    path = tmp_path / "budget.db"
    made(path)
    with Ledger(path, alert=None) as ledger:
        ledger.spend("data", TENTH)
        ledger.show("data")
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(b.errors.LedgerHalted, match="moved"):
            ledger.show("data")
        (tmp_path / "elsewhere.db").rename(path)
        attempts: list[Callable[[], object]] = [
            lambda: ledger.spend("data", TENTH),
            lambda: ledger.show("data"),
            lambda: ledger.quote("data", TENTH),
            lambda: ledger.entries("data"),
            ledger.verify,
            lambda: ledger.backup(str(tmp_path / "late.db")),
            lambda: ledger.restore(assume_spent=True, reason="it moved"),
        ]
        for attempt in attempts:
            with pytest.raises(b.errors.LedgerHalted, match="moved"):
                attempt()
        assert ledger.halted is not None
    with Ledger(path, alert=None) as ledger:
        assert ledger.spend("data", TENTH).seq == 3
        assert ledger.verify()


def test_the_first_reader_opens_the_same_file(tmp_path: Path) -> None:
    """The connection for reading is made when it is needed: by then the name may lead to another file."""
    path = tmp_path / "budget.db"
    copy = made(path)
    store = SqliteStore(str(path))
    os.replace(copy, path)
    with pytest.raises(b.errors.LedgerHalted, match="moved"), store.reading():
        pass
    with pytest.raises(b.errors.LedgerHalted, match="moved"), store.writing():
        pass
    store.close()


def test_a_move_in_the_middle_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the first look and the commit: nothing is written. After the commit: nobody is told that it passed."""
    path = tmp_path / "budget.db"
    made(path)
    away = tmp_path / "away.db"
    for owner, method, entries in ((Write, "flush", 1), (AnchorFile, "append", 2)):
        with Ledger(path, alert=None) as ledger:
            original = getattr(owner, method)

            def moving(*arguments: Any, original: Any = original) -> Any:
                if path.exists():
                    path.rename(away)
                return original(*arguments)

            monkeypatch.setattr(owner, method, moving)
            with pytest.raises(b.errors.LedgerHalted, match="moved"):
                ledger.spend("data", TENTH)
            monkeypatch.undo()
        away.rename(path)
        with Ledger(path, alert=None) as ledger:
            assert ledger.last("data") == entries


def test_a_file_system_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the question is unknown the ledger works; where asking fails nothing is charged."""
    answers: list[object] = []

    def asked(self: FailingFile, op: int, pointer: int) -> bool:
        if op == apsw.SQLITE_FCNTL_HAS_MOVED and answers:
            if isinstance(answers[0], Exception):
                raise answers[0]
            return False
        return bool(apsw.VFSFile.xFileControl(self, op, pointer))

    monkeypatch.setattr(FailingFile, "xFileControl", asked, raising=False)
    vfs = FailingDisk("unasked", Fault(10**9, "EIO"))
    with Ledger(SqliteStore(str(tmp_path / "budget.db"), vfs="unasked"), alert=None) as ledger:
        ledger.open("data", epsilon=1)
        answers.append(False)
        ledger.spend("data", TENTH)
        answers[0] = apsw.IOError("input/output error")
        with pytest.raises(b.errors.StorageFailed):
            ledger.spend("data", TENTH)
        answers.clear()
        assert ledger.spend("data", TENTH).seq == 3
    del vfs


def pieced(folder: Path, scopes: int) -> Ledger:
    """A crashed ledger whose file was put back from a backup, and whose log stayed."""
    path, crashed = folder / "budget.db", folder / "crashed.db"
    with Ledger(path, alert=None) as ledger:
        for root in ("a", "b", "c"):
            ledger.open(root, epsilon=1, key=f"k{root}")
        for number in range(scopes):  # so that the balances of b and c stand on different pages
            ledger.open(f"b{number:03}", parent="a", epsilon=1, key=f"k{number:03}")
        ledger.backup(str(folder / "copy.db"))
        ledger.spend("b", TENTH * 10, key="l")
        ledger.store._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)  # type: ignore[attr-defined]
        ledger.spend("c", TENTH, key="m")
        shutil.copy(folder / "copy.db", crashed)
        shutil.copy(f"{path}-wal", f"{crashed}-wal")
    return Ledger(crashed, anchor=f"{path}-anchor", alert=None)


def test_a_log_that_belongs_to_another_file(tmp_path: Path) -> None:
    """Wherever the pages end: the journal may even end where it should, while the balance is the backup's."""
    said = []
    for scopes in range(200, 207):
        folder = tmp_path / str(scopes)
        folder.mkdir()
        with pieced(folder, scopes) as ledger:
            with pytest.raises(b.errors.LedgerHalted) as halted:
                ledger.spend("b", TENTH * 10)
            said.append(str(halted.value))
            assert not ledger.verify()
    assert any("log beside" in text for text in said)
