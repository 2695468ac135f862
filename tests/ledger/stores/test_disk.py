"""Power cuts and broken disks: nothing acknowledged is lost, nothing is charged twice, the journal still adds up."""

from __future__ import annotations

import random
import shutil
import threading
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite.store import SqliteStore
from bursar.ledger.verbs.spend import spend
from support.disks import Disk, FailingDisk, Fault, RecordingDisk

CHARGE = b.Laplace(scale=1000)


def recorded(folder: Path, charges: int, **weaker: str) -> Disk:
    """A ledger's life on a disk that remembers, checkpoints included; synced as users' ledgers are, unless weaker."""
    disk = Disk()
    name = f"recording-{uuid.uuid4().hex}"
    vfs = RecordingDisk(name, disk)
    store = SqliteStore(str(folder / "budget.db"), vfs=name, **weaker)
    store._writer.execute("PRAGMA wal_autocheckpoint = 20")
    with Ledger(store, alert=None) as ledger:
        ledger.open("data", epsilon=1, key="open")
        disk.acknowledge("open")
        for number in range(charges):
            ledger.spend("data", CHARGE, key=f"q{number}")
            disk.acknowledge(f"q{number}")
        held = ledger.reserve("data", CHARGE * 5, ttl=1000, key="hold")
        disk.acknowledge("hold")
        ledger.draw(held, CHARGE * 2, key="draw")
        disk.acknowledge("draw")
    del vfs
    return disk


def losses(disk: Disk, folder: Path, each: int, seed: int, *, enough: int | None = None) -> tuple[int, int]:
    """How many images were opened, and how many had lost an acknowledged charge or did not add up."""
    seen: set[int] = set()
    lost = 0
    for known, files in disk.images(random.Random(seed), each):
        mark = hash((frozenset(known), tuple(sorted(files.items()))))
        if mark in seen or not files.get("budget.db"):
            lost += "open" in known and not files.get("budget.db")
            continue
        seen.add(mark)
        lost += _broken(known, files, folder / str(len(seen)))
        if enough is not None and lost >= enough:
            break
    return len(seen), lost


def _broken(known: set[str], files: dict[str, bytes], folder: Path) -> bool:
    """Open an image as after a restart."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    try:
        with Ledger(f"sqlite:///{folder}/budget.db", alert=None) as ledger:
            found = ledger.verify()
            with ledger.store.reading() as reader:
                keys = {key for key, _, _ in reader.every_key()}
        return not found or not known <= keys
    except b.BursarError:
        return bool(known)
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize(("charges", "fates", "lives"), [(10, 3, 1), pytest.param(60, 6, 8, marks=pytest.mark.soak)])
def test_power_cuts_lose_nothing(charges: int, fates: int, lives: int, tmp_path: Path, figures: Any) -> None:
    """At every write and every sync of a ledger's life, with several fates of the unsynced writes."""
    total = 0
    for seed in range(1, lives + 1):
        live = tmp_path / f"live{seed}"
        live.mkdir()
        images, lost = losses(recorded(live, charges), tmp_path, fates, seed)
        assert images > 150
        assert lost == 0
        total += images
    figures("power cut, every write and sync boundary", "SQLite, synchronous=FULL", total, 0)


def test_ledgers_sync_fully(tmp_path: Path) -> None:
    """What the power cuts above are survived by is what a ledger has that is opened by its address."""
    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None) as ledger:
        assert isinstance(ledger.store, SqliteStore)
        assert ledger.store._writer.execute("PRAGMA synchronous").fetchall() == [(2,)]
        assert ledger.store._writer.execute("PRAGMA journal_mode").fetchall() == [("wal",)]


def test_weaker_syncing_is_caught(tmp_path: Path, figures: Any) -> None:
    """Negative control: with synchronous=NORMAL acknowledged charges disappear, and the harness sees it."""
    (tmp_path / "live").mkdir()
    disk = recorded(tmp_path / "live", 10, synchronous="NORMAL")
    images, lost = losses(disk, tmp_path, 2, 1)
    assert lost > 5
    figures("power cut", "SQLite, synchronous=NORMAL", images, lost, control=True)


def in_two_steps(ledger: Ledger, key: str) -> None:
    """A charge that is decided here and made durable in another thread, as the service does it."""
    request = ledger.request(spend("data", CHARGE), key=key)
    finish = ledger.begin([request])
    assert finish is not None
    thread = threading.Thread(target=finish)
    thread.start()
    thread.join()
    if request.failure is not None:
        raise request.failure


def life(folder: Path, fault: Fault) -> set[str]:
    """A short life on a failing disk, every failed request retried once with its key: what was acknowledged."""
    name = f"failing-{uuid.uuid4().hex}"
    vfs = FailingDisk(name, fault)
    told: set[str] = set()
    path = str(folder / "budget.db")

    def opened() -> Ledger:
        store = SqliteStore(path, vfs=name)
        store._writer.execute("PRAGMA wal_autocheckpoint = 20")
        return Ledger(store, alert=None)

    try:
        ledger = opened()
    except (b.errors.StorageFailed, b.errors.LedgerHalted):
        ledger = opened()
    with ledger:
        for key in ("open", *(f"q{number}" for number in range(6))):
            for _ in range(2):
                try:
                    if key == "open":
                        ledger.open("data", epsilon=1, key=key)
                    elif key in ("q1", "q4"):
                        in_two_steps(ledger, key)
                    else:
                        ledger.spend("data", CHARGE, key=key)
                    told.add(key)
                    break
                except b.errors.StorageFailed:
                    continue
    del vfs
    return told


def check_life(folder: Path, told: set[str]) -> None:
    """Everything acknowledged is there once, and the rest was not charged."""
    with Ledger(f"sqlite:///{folder}/budget.db", alert=None) as ledger:
        found = ledger.verify(reprice=True)
        assert found, str(found)
        with ledger.store.reading() as reader:
            keys = {key for key, _, _ in reader.every_key()}
        assert told <= keys
        spent = ledger.show("data").line("epsilon").spent
        assert spent * 1000 == len(keys - {"open"})


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "short write", "read-only", "EIO on read"])
def test_broken_disks(error: str, tmp_path: Path, figures: Any) -> None:
    """The k-th call fails, for every k: requests are refused or succeed on retry, never both charged and lost."""
    tried = 0
    for at in range(1, 10_000):
        folder = tmp_path / str(at)
        folder.mkdir()
        fault = Fault(at, error)
        told = life(folder, fault)
        check_life(folder, told)
        if not fault.struck:
            break
        assert len(told) == 7
        tried += 1
        shutil.rmtree(folder)
    assert tried > 20
    figures("disk failure at the k-th call, every k", error, tried, 0)


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    """The refusal has the code storage_full, and the same key passes when there is room again."""
    name = f"failing-{uuid.uuid4().hex}"
    fault = Fault(10**9, "ENOSPC")
    vfs = FailingDisk(name, fault)
    with Ledger(SqliteStore(str(tmp_path / "budget.db"), vfs=name), alert=None) as ledger:
        ledger.open("data", epsilon=1)
        fault.at = fault.calls + 1
        with pytest.raises(b.errors.StorageFull, match="disk is full") as refused:
            ledger.spend("data", CHARGE, key="k")
        assert refused.value.code == "storage_full"
        assert not ledger.spend("data", CHARGE, key="k").replayed
    del vfs


def test_a_change_that_failed_is_not_remembered(tmp_path: Path) -> None:
    """A scope is opened and used in a transaction that the disk refuses; then somebody else freezes the root, which is
    the change of the same number: the ledger that failed sees it.
    """
    name = f"failing-{uuid.uuid4().hex}"
    fault = Fault(10**9, "ENOSPC")
    vfs = FailingDisk(name, fault)
    path = str(tmp_path / "budget.db")
    with Ledger(SqliteStore(path, vfs=name), alert=None) as ledger, Ledger(f"sqlite:///{path}", alert=None) as other:
        ledger.open("data", epsilon=1)
        made: list[Any] = []
        real, ledger.office.batches = ledger.office.batches, SimpleNamespace(submit=made.append)  # type: ignore[assignment]
        ledger.open("quota", parent="data", epsilon=1)
        ledger.spend("quota", CHARGE)
        ledger.office.batches = real
        fault.at = fault.calls + 1
        ledger.commit(made)
        assert [type(one.failure) for one in made] == [b.errors.StorageFull, b.errors.StorageFull]
        other.freeze("data", reason="a question")
        with pytest.raises(b.errors.ScopeFrozen):
            ledger.spend("data", CHARGE)
    del vfs
