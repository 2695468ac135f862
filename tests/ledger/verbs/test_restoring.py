"""Going on after a loss: nothing that may have been spent comes back, by whatever way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from support.copies import put
from support.hands import TENTH, Clock, left

Work = Callable[[Ledger], object]
_PUT_BACK = "import sqlite3, sys; a, b = map(sqlite3.connect, sys.argv[1:]); a.backup(b); a.close(); b.close()"


def behind(tmp_path: Path, before: Work, since: Work, clock: Clock) -> Ledger:
    """A ledger of which everything since a backup is lost."""
    path = tmp_path / "budget.db"
    with Ledger(path, alert=None, clock=clock) as ledger:
        before(ledger)
        ledger.backup(str(tmp_path / "copy.db"))
        since(ledger)
    put(tmp_path / "copy.db", path, "copied, without the log")
    return Ledger(path, alert=None, clock=clock)


def after_a_loss(tmp_path: Path, before: Work, since: Work, clock: Clock) -> Ledger:
    """The same, restored."""
    found = behind(tmp_path, before, since, clock)
    found.restore(assume_spent=True, reason="the disk died")
    return found


def test_a_stale_backup_halts(tmp_path: Path, figures: Any) -> None:
    """A restored backup would refund what was spent since: the ledger halts until that is counted as spent."""

    def before(ledger: Ledger) -> None:
        ledger.open("data", epsilon=1)
        ledger.open("other", epsilon=1)
        ledger.spend("data", TENTH, key="a")

    def since(ledger: Ledger) -> None:
        with pytest.raises(b.InputError, match="exists"):
            ledger.backup(str(tmp_path / "copy.db"))
        ledger.spend("data", TENTH, key="b")

    with behind(tmp_path, before, since, Clock()) as ledger:
        for attempt in (
            lambda: ledger.spend("data", TENTH, key="c"),
            lambda: ledger.quote("data", TENTH),
            lambda: ledger.open("new", epsilon=1),
        ):
            with pytest.raises(b.errors.LedgerHalted, match="older copy"):
                attempt()
        assert ledger.restore(assume_spent=True, reason="the disk died", by="ann")[0].root == "data"
        assert left(ledger, "data") == 0
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("data", TENTH, key="c")
        ledger.spend("other", TENTH, key="d")
        assert ledger.verify()
    with Ledger(tmp_path / "budget.db", alert=None) as ledger:
        assert ledger.verify()
    figures("stale backup put in the ledger's place", "SQLite", 1, 0)


def test_a_forked_copy_halts(tmp_path: Path) -> None:
    """Two copies that both went on cannot both be right: the second one to meet the anchor halts."""
    path, copy, anchor = tmp_path / "budget.db", tmp_path / "fork.db", str(tmp_path / "anchor")
    with Ledger(path, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup(str(copy))
        ledger.spend("data", TENTH, key="a")
    with Ledger(copy, anchor=str(tmp_path / "none"), alert=None) as fork:
        for number in range(3):
            fork.spend("data", b.Laplace(scale=20), key=f"f{number}")
    with Ledger(copy, anchor=anchor, alert=None) as fork:
        with pytest.raises(b.errors.LedgerHalted, match="different copy"):
            fork.spend("data", TENTH)
        fork.restore(assume_spent=True, reason="the other copy is gone")
        assert left(fork, "data") == 0
        assert fork.verify()


@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
def test_several_roots_are_restored_at_once(url: str, tmp_path: Path) -> None:
    """An older copy lacks entries of two roots: both are restored, and the third is left as it is."""
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
        assert [float(left(ledger, root)) for root in "xyz"] == [0, 0, 0.99]
        assert ledger.verify()


def test_what_was_held_may_have_been_drawn(tmp_path: Path) -> None:
    """Reservations of the copy end with nothing given back: no draw, no close and no expiry returns anything."""
    ids: list[str] = []

    def before(ledger: Ledger) -> None:
        ledger.open("data", epsilon=1)
        ledger.open("team", parent="data", epsilon="1/2")
        ids.append(ledger.reserve("team", TENTH * 5, ttl=1000).id)

    clock = Clock()
    with after_a_loss(tmp_path, before, lambda ledger: ledger.draw(ids[0]), clock) as ledger:
        for ended in (lambda: ledger.draw(ids[0]), lambda: ledger.close(ids[0])):
            with pytest.raises(b.errors.ReservationClosed):
                ended()
        clock.now += 10**12
        for name in ("data", "team"):
            assert left(ledger, name) == 0
            assert ledger.show(name).line("epsilon").held == 0
            assert ledger.quote(name, TENTH).fits == 0
        assert ledger.verify()


def test_limits_that_were_raised_since_are_lost_too(tmp_path: Path) -> None:
    """A root that was restored is never raised again; a new one serves."""

    def since(ledger: Ledger) -> None:
        ledger.limit("data", epsilon=3, reason="more")
        ledger.spend("data", TENTH * 30)

    with after_a_loss(tmp_path, lambda ledger: ledger.open("data", epsilon=1), since, Clock()) as ledger:
        with pytest.raises(b.InputError, match="lost"):
            ledger.limit("data", epsilon=3, reason="again")
        ledger.open("part", parent="data", kind="block")
        assert ledger.quote("part", TENTH).fits == 0
        ledger.open("fresh", epsilon=1)
        ledger.spend("fresh", TENTH)
        assert ledger.verify()


def test_a_root_that_was_lost_whole_is_not_opened_afresh(tmp_path: Path) -> None:
    """The anchor knows its name."""

    def since(ledger: Ledger) -> None:
        ledger.open("data", epsilon=1)
        ledger.spend("data", TENTH * 10)

    with after_a_loss(tmp_path, lambda ledger: ledger.open("other", epsilon=1), since, Clock()) as ledger:
        with pytest.raises(b.InputError, match="lost"):
            ledger.open("data", epsilon=1)
        ledger.spend("other", TENTH)
        assert ledger.verify()


@pytest.mark.parametrize("who", ["another", "itself"])
def test_a_process_that_saw_the_lost_entries(tmp_path: Path, who: str) -> None:
    """It has scopes in mind that are lost now, with as many changes as the restored ones: it looks again."""
    url, copy = f"sqlite:///{tmp_path}/budget.db", tmp_path / "copy.db"
    with Ledger(url, alert=None) as live:
        live.open("data", epsilon=1)
        live.backup(str(copy))
        live.limit("data", epsilon=2, reason="more")
        live.spend("data", TENTH * 20)
        # in a process of its own: a second SQLite in this one would drop the locks of the first
        subprocess.run([sys.executable, "-c", _PUT_BACK, str(copy), str(tmp_path / "budget.db")], check=True)
        if who == "itself":
            live.restore(assume_spent=True, reason="the copy came back")
        else:
            with Ledger(url, alert=None) as other:
                other.restore(assume_spent=True, reason="the copy came back")
        with pytest.raises(b.InputError, match="lost"):
            live.limit("data", epsilon=3, reason="again")
        with pytest.raises(b.BudgetExceeded):
            live.spend("data", TENTH)
        assert live.verify()
