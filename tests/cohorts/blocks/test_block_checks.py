"""What `verify` sees of blocks: counters that were changed, lost or added, and charges below their price."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

import bursar as b
from bursar.cohorts import BlockLedger
from bursar.errors import ScopeFrozen
from bursar.ledger.journal import blocks as geometry
from bursar.ledger.ledger import Ledger
from support.patience import NET
from support.where import BLOCK_CLIENTS


@pytest.fixture
def charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with charged blocks, in tiles of up to 12, that verifies."""
    monkeypatch.setattr(geometry, "TILE", 12)
    path = tmp_path / "budget.db"
    with Ledger(path, alert=None) as ledger:
        made = BlockLedger.create(ledger, "ads", {"day": 7, "segment": 11}, rho="1/50")
        made.spend(b.Gaussian(sigma=30), day=(0, 5), segment=(3, 9))
        made.spend(b.Gaussian(sigma=20), day=(2, 3))
        assert ledger.verify(reprice=True)
    return path


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE counters SET amounts = zeroblob(length(amounts)) WHERE tile = 4",
        "UPDATE counters SET most = 0 WHERE tile = 4",
        "DELETE FROM counters WHERE tile = 4",
        "INSERT INTO counters VALUES ('ads', 'rho', 1000, 1, zeroblob(8))",
        "UPDATE lines SET spent = 0 WHERE scope = 'ads'",
        "INSERT INTO counters SELECT 'ads', 'rho', 1000 + tile, most, amounts FROM counters",
    ],
)
def test_a_changed_counter_is_seen(charged: Path, change: str) -> None:
    """Whatever was changed in the table of counters, verify says so."""
    raw = apsw.Connection(str(charged))
    raw.execute(change)
    assert raw.changes() > 0
    raw.close()
    with Ledger(charged, alert=None) as ledger:
        assert any("ads" in problem for problem in ledger.verify().problems)


def test_the_price_of_a_charge_is_computed_anew(charged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A charge that was cheaper than its price is found by repricing."""
    from bursar.ledger.budget.currencies.zcdp import Zcdp

    with Ledger(charged, alert=None) as ledger:
        dear = Zcdp.ask
        currency = ledger.scope("ads").currency
        currency._prices.clear()  # type: ignore[attr-defined]
        monkeypatch.setattr(Zcdp, "ask", lambda self, release: _doubled(dear(self, release)))
        found = ledger.verify(reprice=True)
        currency._prices.clear()  # type: ignore[attr-defined]
    assert len([problem for problem in found.problems if "less than its price" in problem]) == 2


def _doubled(price: Any) -> Any:
    amounts = {line: 2 * amount for line, amount in price.amounts.items()}
    return type(price)(amounts, units=price.units)


def test_lost_entries_close_the_blocks(charged: Path) -> None:
    """After a restored backup nobody knows what blocks have spent: nothing is charged any more, and nothing is left."""
    copy = charged.with_name("copy.db")
    with Ledger(charged, alert=None) as ledger:
        ledger.backup(str(copy))
        BlockLedger(ledger, "ads").spend(b.Gaussian(sigma=20), day=6)
    for end in ("-wal", "-shm"):
        charged.with_name(charged.name + end).unlink(missing_ok=True)
    copy.replace(charged)
    with Ledger(charged, alert=None) as ledger:
        assert ledger.halted is not None
        ledger.restore(assume_spent=True, reason="the disk was replaced")
        made = BlockLedger(ledger, "ads")
        assert made.left(day=0).share == 0
        with pytest.raises(ScopeFrozen, match="were lost"):
            made.spend(b.Gaussian(sigma=1000), day=0)
        assert ledger.verify()


def test_eight_processes_never_exceed_a_block(tmp_path: Path, figures: Any) -> None:
    """Each tries 12 charges of a tenth on overlapping days: every day gets at most ten, whoever wins."""
    path = tmp_path / "budget.db"
    with Ledger(path, alert=None) as ledger:
        BlockLedger.create(ledger, "ads", {"day": 6, "segment": 40}, rho=1)
    command = [sys.executable, str(BLOCK_CLIENTS), f"sqlite:///{path}"]
    running = [subprocess.Popen([*command, str(number), "12", ""], stdout=subprocess.PIPE) for number in range(8)]
    admitted = [process.communicate(timeout=NET)[0].count(b"\n") for process in running]
    assert all(process.returncode == 0 for process in running)
    with Ledger(path, alert=None) as ledger:
        found = ledger.verify(reprice=True)
        assert found, str(found)
        worst = BlockLedger(ledger, "ads").worst(1)
        assert worst[0].share <= 1
        assert sum(admitted) == sum(chained.entry.kind == "charge" for chained in ledger.entries("ads"))
    figures("blocks charged by 8 processes", "12 overlapping boxes each", 96, 0)


@pytest.mark.parametrize(
    "point", ["between whole tiles and others", "between two tiles", "after the tiles", "after the commit"]
)
def test_killed_while_blocks_are_charged(point: str, tmp_path: Path, figures: Any) -> None:
    """All of a charge or nothing of it is there, whatever was acknowledged is, and a retry charges once."""
    path = tmp_path / "budget.db"
    with Ledger(path, alert=None) as ledger:
        BlockLedger.create(ledger, "ads", {"day": 40, "segment": 2000}, rho=1)
    command = [sys.executable, str(BLOCK_CLIENTS), f"sqlite:///{path}", "0", "5"]
    killed = subprocess.run([*command, point], stdout=subprocess.PIPE, check=False)
    assert killed.returncode == -9
    told = killed.stdout.decode().split()
    with Ledger(path, alert=None) as ledger:
        assert ledger.verify()
        keys = {chained.entry.key for chained in ledger.entries("ads")}
        assert set(told) <= keys
        assert ("0-2" in keys) == (point == "after the commit")
    subprocess.run([*command, ""], check=True, stdout=subprocess.PIPE)
    with Ledger(path, alert=None) as ledger:
        assert ledger.verify()
        assert ledger.last("ads") == 6
    figures("blocks killed at a named point", f"kill −9 {point}", 1, 0)
