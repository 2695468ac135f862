"""The anchor file: two hashes for one number are a fork, and no line is lost while the file is written anew."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bursar as b
from bursar.ledger.anchors import file as anchor
from bursar.ledger.anchors.evidence import Anchored
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.journal.rows import Head
from bursar.ledger.ledger import Ledger
from bursar.ledger.verbs.spend import spend
from support.copies import PARTS, Spender, made
from support.hands import TENTH, left


def two_copies(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A ledger, a copy of it elsewhere, and one anchor for both."""
    path = tmp_path / "budget.db"
    copy = made(path)
    shared = tmp_path / "shared"
    shared.write_bytes((tmp_path / "budget.db-anchor").read_bytes())
    return path, copy, shared


def test_two_copies_with_one_anchor_stop_each_other(
    tmp_path: Path, spender: Callable[..., Spender], figures: Any
) -> None:
    """Two processes, each on a copy of its own: the first that reads what the other has written halts."""
    path, copy, shared = two_copies(tmp_path)
    first, second = spender(path, shared), spender(copy, shared)
    admitted = first.spend(60)[0]
    count, said = second.spend(60)
    admitted += count
    assert said == "ledger_halted"
    admitted += first.spend(60)[0]
    assert admitted <= PARTS
    figures("two copies that share an anchor", "SQLite", admitted, max(0, admitted - PARTS))


def test_a_copy_that_is_not_the_ledger_halts_for_good(tmp_path: Path) -> None:
    """What it has read stays true, until it is restored; then all that was left is spent."""
    path, copy, shared = two_copies(tmp_path)
    with Ledger(path, anchor=str(shared), alert=None) as one, Ledger(copy, anchor=str(shared), alert=None) as other:
        one.spend("data", TENTH)
        for _ in range(2):
            with pytest.raises(b.errors.LedgerHalted, match="older copy"):
                other.spend("data", TENTH)
        assert other.halted is not None
        other.restore(assume_spent=True, reason="this one it is")
        assert left(other, "data") == 0
        with pytest.raises(b.BudgetExceeded):
            other.spend("data", TENTH)
        assert other.verify()
        with pytest.raises(b.errors.LedgerHalted, match=r"copy|copies"):
            one.spend("data", TENTH)


def forked(tmp_path: Path) -> tuple[Path, Path]:
    """A ledger whose anchor has two hashes for its entries 2 and 3, and the anchor; both copies went on unseen."""
    path, copy, shared = two_copies(tmp_path)
    lines = []
    for one in (path, copy):
        with Ledger(one, anchor=str(tmp_path / f"{one.name}-own"), alert=None) as ledger:
            for number in range(2 + (one == path)):
                ledger.spend("data", TENTH, key=f"{one.name}-{number}")
        lines += (tmp_path / f"{one.name}-own").read_text().splitlines()[1:]
    shared.write_text("".join(f"\n{line}" for line in [shared.read_text().strip(), *lines]))
    return path, shared


def test_two_hashes_for_one_number_are_a_fork(tmp_path: Path) -> None:
    """When it is opened and when it is verified, although the ledger contains its own last anchor."""
    path, shared = forked(tmp_path)
    assert AnchorFile(str(shared)).read()["data"].seq == 4
    with Ledger(path, anchor=str(shared), alert=None) as ledger:
        with pytest.raises(b.errors.LedgerHalted, match="two different entries 2 of data"):
            ledger.spend("data", TENTH)
        assert "two different entries 2 of data" in str(ledger.verify())


def test_a_restore_settles_what_stood_before_it(tmp_path: Path) -> None:
    """The old evidence halts no longer; a copy that goes on afterwards is found again, whatever its numbers."""
    path, shared = forked(tmp_path)
    stray = next(line for line in shared.read_text().splitlines()[::-1] if line.startswith("3 "))
    with Ledger(path, anchor=str(shared), alert=None) as ledger:
        assert [receipt.seq for receipt in ledger.restore(assume_spent=True, reason="two copies")] == [5]
        assert left(ledger, "data") == 0
        ledger.open("fresh", epsilon=1)
        assert ledger.verify()
    with Ledger(path, anchor=str(shared), alert=None) as ledger:
        assert ledger.halted is None
        ledger.spend("fresh", TENTH)
        for line in (stray, stray.replace("3 ", "9 ", 1)):
            before = shared.read_text()
            shared.write_text(f"{before}\n{line}")
            with Ledger(path, anchor=str(shared), alert=None) as again:
                assert again.halted is not None
                assert not again.verify()
            shared.write_text(before)


def test_a_line_between_batches_is_found(tmp_path: Path) -> None:
    """A batch anchors its last entry only, so that another copy's line may fit between two of them by its number."""
    path = tmp_path / "budget.db"
    made(path)
    with Ledger(path, alert=None) as ledger:
        ledger.commit([ledger.request(spend("data", TENTH), key=key) for key in "abc"])
    file = tmp_path / "budget.db-anchor"
    first, last = file.read_text().strip().splitlines()
    assert last.startswith("4 ")
    file.write_text(f"\n{first}\n3 {'0' * 64} data ;\n{last}")
    with Ledger(path, alert=None) as ledger:
        assert "another entry 3" in str(ledger.halted)
        assert "another entry 3" in str(ledger.verify())


def test_lines_in_another_order_are_fine(tmp_path: Path) -> None:
    """Processes append in another order than they commit."""
    path = tmp_path / "budget.db"
    made(path)
    with Ledger(path, alert=None) as ledger:
        ledger.spend("data", TENTH)
        ledger.spend("data", TENTH)
    file = tmp_path / "budget.db-anchor"
    file.write_text("".join(f"\n{line}" for line in file.read_text().strip().splitlines()[::-1]))
    with Ledger(path, alert=None) as ledger:
        assert ledger.halted is None
        assert ledger.verify()


def test_a_long_file_keeps_a_fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not written anew as long as a line in it is in no chain: both lines stay."""
    monkeypatch.setattr(anchor, "_LONGEST", 400)
    path = tmp_path / "budget.db"
    made(path)
    file = tmp_path / "budget.db-anchor"
    with Ledger(path, alert=None) as ledger:
        for _ in range(9):
            ledger.spend("data", b.Laplace(scale=1000))
        stray = f"2 {'0' * 64} data ;"
        with open(file, "a", encoding="utf-8") as other:
            other.write(f"\n{stray}")
        with pytest.raises(b.errors.LedgerHalted):
            ledger.spend("data", TENTH)
        lines = file.read_text().splitlines()
        assert stray in lines
    with Ledger(path, alert=None) as ledger:
        assert ledger.halted is not None
        ledger.restore(assume_spent=True, reason="a copy")
        ledger.open("fresh", epsilon=1)
        for _ in range(9):
            ledger.spend("fresh", b.Laplace(scale=1000))
        assert stray not in file.read_text().splitlines()
        assert ledger.verify()


def test_a_file_of_many_roots_is_seldom_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once in as many commits as there are roots, even when their last anchors alone are longer than the limit."""
    monkeypatch.setattr(anchor, "_LONGEST", 1000)
    monkeypatch.setattr(anchor, "_PATIENCE", 0.0)
    replaced: list[object] = []
    real = os.replace
    monkeypatch.setattr(anchor.os, "replace", lambda *names: (replaced.append(names), real(*names)))
    roots, commits = 40, 160
    with Ledger(tmp_path / "budget.db", alert=None) as ledger:
        for number in range(roots):
            ledger.open(f"r{number}", epsilon=1)
        replaced.clear()
        for number in range(commits):
            ledger.spend(f"r{number % roots}", b.Laplace(scale=1000))
        assert 2 <= len(replaced) <= commits // roots + 1
        assert ledger.verify()
    known = AnchorFile(str(tmp_path / "budget.db-anchor")).read()
    assert {root: seq for root, (seq, _) in known.items()} == {f"r{number}": 5 for number in range(roots)}


APPENDING = """
import os, sys, time
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.journal.rows import Head
path, name = sys.argv[1:]
file, number = AnchorFile(path), 0
while not os.path.exists(path + "-enough"):
    file.ready()
    file.append({f"{name}{number}": Head(1, 0, "h1", 0)})
    number += 1
    time.sleep(0.0003)
print(number)
"""


class AnyChain(SimpleNamespace):
    """A chain that contains whatever is asked for."""

    def links(self, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Every entry's hash is made from its number."""
        return {seq: (f"h{seq}", "spend") for seq in seqs}


def test_no_line_is_lost_while_the_file_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three processes append, each line for a root of its own, and this one writes the file anew all the time."""
    monkeypatch.setattr(anchor, "_limit", lambda known: 0)
    path = str(tmp_path / "anchor")
    running = [
        subprocess.Popen([sys.executable, "-c", APPENDING, path, name], stdout=subprocess.PIPE, text=True)
        for name in "abc"
    ]
    file, times = AnchorFile(path), 0
    reader: Any = AnyChain()
    while times < 12 or {root[0] for root in file.read()} != set("abc") or len(file.read()) < 300:
        file.ready()
        before = os.stat(path).st_ino
        file.shorten(reader)
        times += os.stat(path).st_ino != before
    Path(f"{path}-enough").touch()
    counts = [int(process.communicate()[0]) for process in running]
    assert min(counts) > 0
    expected = {f"{name}{number}" for name, count in zip("abc", counts, strict=True) for number in range(count)}
    assert file.read().keys() == expected
    file.close()


def test_a_part_of_a_line_is_not_told_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes only a part of an anchor: whoever was charged is told, and the rest is as before."""
    file = AnchorFile(str(tmp_path / "anchor"))
    file.append({"data": Head(1, 0, "h1", 0)})
    real = os.write
    monkeypatch.setattr(anchor.os, "write", lambda number, content: real(number, content[:5]))
    with pytest.raises(b.errors.StorageFailed, match="anchor could not be written"):
        file.append({"data": Head(2, 0, "h2", 0)})
    monkeypatch.undo()
    file.append({"data": Head(3, 0, "h3", 0)})
    assert file.read() == {"data": Anchored(3, "h3")}
    file.close()


def test_an_interrupt_leaves_no_number_of_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C just when the file has been closed: its number is forgotten before, and charges go on."""

    def closed_and_struck(file: int) -> None:
        real(file)
        raise KeyboardInterrupt

    kept = AnchorFile(str(tmp_path / "anchor"))
    kept.ready()
    real = os.close
    with monkeypatch.context() as struck:
        struck.setattr(os, "close", closed_and_struck)
        with pytest.raises(KeyboardInterrupt):
            kept._close()
    assert kept._file == -1
    kept.ready()
    kept.append({"data": Head(1, 0, "h1", 0)})
    assert kept.read()["data"].hash == "h1"


def test_a_number_that_another_file_has_got_is_not_written_to(tmp_path: Path) -> None:
    """However the file came to be closed, it is opened again by its name, and the other one keeps what it has."""
    url = f"sqlite:///{tmp_path}/a.db"
    with Ledger(url, anchor=str(tmp_path / "anchor"), alert=None) as ledger:
        ledger.open("data", epsilon=1)
        (file,) = ledger.office.anchors._files
        number = file._file
        os.close(number)
        victim = os.open(tmp_path / "victim", os.O_RDWR | os.O_CREAT)
        if victim != number:
            os.dup2(victim, number)
            os.close(victim)
        os.write(number, b"PRECIOUS DATA")
        ledger.spend("data", TENTH, key="k")
        assert (tmp_path / "victim").read_bytes() == b"PRECIOUS DATA"
        os.close(number)  # it was not closed either
        assert ledger.verify()
