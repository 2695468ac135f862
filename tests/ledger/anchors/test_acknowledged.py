"""Nobody is answered before the anchor knows the entry he is answered from: no budget is refunded by an old backup."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.ledger import Ledger
from support.patience import NET

TENTH = b.Laplace(scale=10)


def full(*_: Any) -> None:
    """A disk without room."""
    raise OSError(errno.ENOSPC, "no space left")


def opened(path: Path) -> Ledger:
    """The ledger in a file."""
    return Ledger(f"sqlite:///{path}", alert=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a scope, and beside it a copy from before anything was spent."""
    path = tmp_path / "budget.db"
    with opened(path) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup(str(tmp_path / "before.db"))
    return path


def put_back(path: Path) -> None:
    """The copy in the ledger's place."""
    for file in path.parent.glob("budget.db*"):
        if file.name in ("budget.db", "budget.db-wal", "budget.db-shm"):
            file.unlink()
    shutil.copy(path.with_name("before.db"), path)


def halts(path: Path) -> bool:
    """Whether the ledger in this place accepts nothing, and says that something is missing."""
    with opened(path) as ledger:
        return ledger.halted is not None and not ledger.verify()


def again_here(ledger: Ledger, path: Path) -> b.Receipt:
    """The same key, from the same process and ledger."""
    return ledger.spend("data", TENTH, key="k")


def again_elsewhere(ledger: Ledger, path: Path) -> b.Receipt:
    """The same key, from another ledger on the same file."""
    with opened(path) as other:
        return other.spend("data", TENTH, key="k")


@pytest.mark.parametrize("again", [again_here, again_elsewhere])
def test_an_answer_by_key_is_anchored(path: Path, again: Callable[..., b.Receipt]) -> None:
    """The anchor has no room: whoever asks is told so, by the key too; once he is answered an old copy is found out."""
    with pytest.MonkeyPatch.context() as disk, opened(path) as ledger:
        disk.setattr(AnchorFile, "_write", full)
        for _ in range(2):
            with pytest.raises(b.errors.StorageFailed, match="anchor"):
                ledger.spend("data", TENTH, key="k")
        with pytest.raises(b.errors.StorageFailed, match="anchor"):
            again(ledger, path)
        disk.undo()
        assert again(ledger, path).replayed
    put_back(path)
    assert halts(path)


DYING = """
import os, sys
from bursar.ledger.anchors.every import Anchors
from bursar.ledger.ledger import Ledger
with Ledger(sys.argv[1], alert=None) as ledger:
    Anchors.append = lambda self, heads: os.kill(os.getpid(), 9)
    ledger.spend(sys.argv[2:] or "data", "laplace(scale=10)", key="k")
"""


@pytest.mark.parametrize("answered", [True, False])
def test_who_died_before_the_anchor_is_made_up_for(path: Path, answered: bool) -> None:
    """A process is killed between its commit and its anchor: the next that opens the ledger writes what is missing."""
    done = subprocess.run([sys.executable, "-c", DYING, f"sqlite:///{path}"], timeout=NET, check=False)
    assert done.returncode == -9
    with opened(path) as ledger:
        assert ledger.last("data") == 2
        if answered:
            assert ledger.spend("data", TENTH, key="k").replayed
    put_back(path)
    assert halts(path)


def test_who_has_it_open_meanwhile_makes_up_for_it_too(path: Path) -> None:
    """The same where another process had opened the ledger before, and is asked by key."""
    with opened(path) as ledger:
        subprocess.run([sys.executable, "-c", DYING, f"sqlite:///{path}"], timeout=NET, check=False)
        assert ledger.spend("data", TENTH, key="k").replayed
    put_back(path)
    assert halts(path)


def test_a_full_disk_may_be_looked_at(path: Path) -> None:
    """Where the anchor cannot be written a ledger is still opened, to be read."""
    subprocess.run([sys.executable, "-c", DYING, f"sqlite:///{path}"], timeout=NET, check=False)
    with pytest.MonkeyPatch.context() as disk:
        disk.setattr(AnchorFile, "_write", full)
        with opened(path) as ledger:
            assert ledger.show("data").line("epsilon").spent > 0
            with pytest.raises(b.errors.StorageFailed, match="anchor"):
                ledger.spend("data", TENTH)


def known(path: Path) -> dict[str, int]:
    """The last entries that the anchor has."""
    return {root: anchored.seq for root, anchored in AnchorFile(f"{path}-anchor").read().items()}


def test_every_root_of_a_charge_is_anchored(path: Path) -> None:
    """A charge on two roots whose process died: whoever is answered by its key finds both in the anchor."""
    with opened(path) as ledger:
        ledger.open("other", epsilon=1)
        dying = [sys.executable, "-c", DYING, f"sqlite:///{path}", "data", "other"]
        subprocess.run(dying, timeout=NET, check=False)
        assert ledger.spend(["data", "other"], TENTH, key="k").replayed
        assert known(path) == {"data": 2, "other": 2}


@pytest.mark.parametrize("content", [None, b"", "older"])
def test_an_anchor_that_was_lost_meanwhile_is_written_anew(path: Path, content: Any) -> None:
    """The file is removed, emptied or replaced by an older one under a running process: the next answer is anchored."""
    anchor = Path(f"{path}-anchor")
    older = anchor.read_bytes()
    with opened(path) as ledger:
        ledger.spend("data", TENTH, key="k")
        anchor.unlink()
        if content is not None:
            anchor.write_bytes(older if content == "older" else content)
        ledger.office.anchors._files[0]._look_again = 0.0  # type: ignore[union-attr]  # as after a moment
        assert ledger.spend("data", TENTH, key="k").replayed
        assert known(path) == {"data": 2}
