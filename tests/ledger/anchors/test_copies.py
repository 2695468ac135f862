"""Copies of a SQLite ledger and links to it: whatever its name leads to, no two spend more together than the limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An empty ledger, in a folder of its own, with a backup of it beside it: copy.db."""
    (tmp_path / "real").mkdir()
    return made(tmp_path / "real" / "budget.db").with_name("budget.db")


@pytest.fixture
def together(path: Path, spender: Callable[..., Spender], figures: Any) -> Callable[..., list[str]]:
    """A process spends, the backup comes, another opens: both spend by turns, at most what fits; what stopped each."""

    def spend(what: str, kind: str, before: int, how: str, names: tuple[Path, Path]) -> list[str]:
        first, admitted, ends = spender(names[0]), before, ["", ""]
        assert first.spend(before)[0] == before
        put(path.with_name("copy.db"), path, how)
        second = spender(names[1])
        for _ in range(30):
            for place, one in enumerate((first, second)):
                count, ends[place] = one.spend(7)
                admitted += count
        assert admitted <= PARTS
        figures(what, kind, admitted, max(0, admitted - PARTS))
        return ends

    return spend


@pytest.mark.parametrize("before", [0, 40])
@pytest.mark.parametrize("how", ["moved", "moved, without the log", "copied", "copied, without the log"])
def test_a_backup_in_the_place_of_an_open_file(how: str, before: int, path: Path, together: Any) -> None:
    """However it comes there: the process that had the file open stops, or sees the same as the other."""
    ends = together("backup put in the place of an open file", how, before, how, (path, path))
    if how != "copied":  # there both still share the file and its log
        assert ends[0] == "ledger_halted"


@pytest.mark.parametrize("name", ["link.db", "folder/budget.db"])
@pytest.mark.parametrize("linked", ["before", "after"])
def test_a_stale_copy_through_a_link(name: str, linked: str, path: Path, tmp_path: Path, together: Any) -> None:
    """The anchor belongs to the file, by whatever name it is opened."""
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    names = (tmp_path / name, path) if linked == "before" else (path, tmp_path / name)
    ends = together("stale copy, opened or spent through a link", name, 95, "moved, without the log", names)
    assert ends[1] == "ledger_halted"


@pytest.mark.parametrize(("opened", "first"), [("budget.db", "show"), ("budget.db", "spend"), ("link.db", "spend")])
def test_a_name_that_leads_elsewhere_halts_for_good(opened: str, first: str, path: Path) -> None:
    """Neither writers nor readers take the orphan for the ledger, not even when it comes back; a new one does."""
    name, away = path.with_name(opened), path.with_name("away.db")
    path.with_name("link.db").symlink_to(path)
    with Ledger(name, alert=None) as ledger:
        ledger.spend("data", TENTH)
        ledger.show("data")
        attempts: dict[str, Callable[[], object]] = {
            "spend": lambda: ledger.spend("data", TENTH),
            "show": lambda: ledger.show("data"),
            "quote": lambda: ledger.quote("data", TENTH),
            "entries": lambda: ledger.entries("data"),
            "verify": ledger.verify,
            "backup": lambda: ledger.backup(str(path.with_name("late.db"))),
            "restore": lambda: ledger.restore(assume_spent=True, reason="it moved"),
        }
        name.rename(away)
        if opened == "link.db":
            name.symlink_to(path.with_name("copy.db"))
        with pytest.raises(b.errors.LedgerHalted, match="moved, replaced or removed"):
            attempts[first]()
        away.rename(name)
        for attempt in attempts.values():
            with pytest.raises(b.errors.LedgerHalted, match="moved, replaced or removed"):
                attempt()
        assert ledger.halted is not None
    with Ledger(name, alert=None) as ledger:
        assert ledger.spend("data", TENTH).seq == 3
        assert ledger.verify()


def test_the_first_reader_opens_the_same_file(path: Path) -> None:
    """The connection for reading is made when it is needed: by then the name may lead to another file."""
    store = SqliteStore(str(path))
    path.with_name("copy.db").replace(path)
    for begin in (store.reading, store.writing):
        with pytest.raises(b.errors.LedgerHalted, match="moved"), begin():
            pass
    store.close()


@pytest.mark.parametrize(("owner", "method", "entries"), [(Write, "flush", 1), (AnchorFile, "append", 2)])
def test_moves_in_a_commit(owner: type, method: str, entries: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the first look and the commit: nothing is written. After the commit: nobody is told that it passed."""
    away, original = path.with_name("away.db"), getattr(owner, method)

    def moving(*arguments: Any) -> Any:
        if path.exists():
            path.rename(away)
        return original(*arguments)

    with Ledger(path, alert=None) as ledger, monkeypatch.context() as patched:
        patched.setattr(owner, method, moving)
        with pytest.raises(b.errors.LedgerHalted, match="moved"):
            ledger.spend("data", TENTH)
    away.rename(path)
    with Ledger(path, alert=None) as ledger:
        assert ledger.last("data") == entries


def test_a_file_system_that_cannot_be_asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the question is unknown the ledger works; where asking fails nothing is charged."""
    answers: list[Callable[[], bool]] = []

    def asked(self: FailingFile, op: int, pointer: int) -> bool:
        if op == apsw.SQLITE_FCNTL_HAS_MOVED and answers:
            return answers[0]()
        return bool(apsw.VFSFile.xFileControl(self, op, pointer))

    monkeypatch.setattr(FailingFile, "xFileControl", asked, raising=False)
    vfs = FailingDisk("unasked", Fault(10**9, "EIO"))
    with Ledger(SqliteStore(str(path), vfs="unasked"), alert=None) as ledger:
        answers.append(lambda: False)
        ledger.spend("data", TENTH)
        answers[0] = Mock(side_effect=apsw.IOError("input/output error"))
        with pytest.raises(b.errors.StorageFailed):
            ledger.spend("data", TENTH)
        answers.clear()
        assert ledger.spend("data", TENTH).seq == 3
    del vfs


def test_a_log_that_belongs_to_another_file(tmp_path: Path) -> None:
    """Wherever the pages end: the journal may even end where it should, while the balance is the backup's."""
    said = []
    for scopes in range(200, 207):
        path, crashed = tmp_path / f"budget{scopes}.db", tmp_path / f"crashed{scopes}.db"
        with Ledger(path, alert=None) as ledger:
            for root in ("a", "b", "c"):
                ledger.open(root, epsilon=1, key=f"k{root}")
            for number in range(scopes):  # so that the balances of b and c stand on different pages
                ledger.open(f"b{number:03}", parent="a", epsilon=1, key=f"k{number:03}")
            ledger.backup(str(crashed))  # its file is put back, and the log stays
            ledger.spend("b", TENTH * 10, key="l")
            ledger.store._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)  # type: ignore[attr-defined]
            ledger.spend("c", TENTH, key="m")
            put(Path(f"{path}-wal"), Path(f"{crashed}-wal"), "copied")
        with Ledger(crashed, anchor=f"{path}-anchor", alert=None) as ledger:
            with pytest.raises(b.errors.LedgerHalted) as halted:
                ledger.spend("b", TENTH * 10)
            said.append(str(halted.value))
            assert not ledger.verify()
    assert any("log beside" in text for text in said)


def test_anchors_beside_a_link_count_too(path: Path, tmp_path: Path) -> None:
    """Also the ones that were made beside the link in the past, and where a link takes the place of the file."""
    link, copy = tmp_path / "link.db", path.with_name("copy.db")
    with Ledger(path, anchor=f"{link}-anchor", alert=None) as ledger:  # as it was when anchors stood beside the name
        ledger.spend("data", TENTH)
    link.symlink_to(path)
    with Ledger(link, alert=None) as ledger:
        ledger.spend("data", TENTH)
        assert ledger.verify()
    for name in (link, path):
        assert Path(f"{name}-anchor").read_text().splitlines()[-1].startswith("3 ")
    Path(f"{path}-anchor").unlink()
    put(copy, path, "copied, without the log")
    with Ledger(link, alert=None) as ledger:
        assert "older copy" in str(ledger.halted)
        ledger.restore(assume_spent=True, reason="the disk died")
        assert ledger.verify()
    with Ledger(link, alert=None) as ledger:
        assert ledger.halted is None
    path.rename(path.with_name("old.db"))
    path.symlink_to(copy)
    with Ledger(path, alert=None) as ledger:
        assert "older copy" in str(ledger.halted)


def test_a_second_name_is_refused(path: Path) -> None:
    """A hard link would have a log and an anchor of its own."""
    second = path.with_name("second.db")
    second.hardlink_to(path)
    for name in (path, second):
        with pytest.raises(b.InputError, match="2 names"):
            Ledger(name, alert=None)
    second.unlink()
    with Ledger(path, alert=None) as ledger:
        ledger.spend("data", TENTH)
