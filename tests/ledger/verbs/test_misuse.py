"""What people do to ledgers: shut them, interrupt them, move them, look at them from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.budget.currencies import currency_with
from bursar.ledger.budget.currencies._base import Line
from bursar.ledger.commit.catalogue import Catalogue
from bursar.ledger.inspection.export import verifier
from bursar.ledger.ledger import Ledger
from support.hands import FACTS
from support.patience import NET
from support.where import CLIENTS

CHARGE = b.Laplace(scale=1000)


def test_a_ledger_that_was_shut_touches_nothing(tmp_path: Path) -> None:
    """It refuses, and writes to no file that has since got its number."""
    ledger = Ledger(f"sqlite:///{tmp_path}/a.db", alert=None)
    ledger.open("data", epsilon=1)
    ledger.shut()
    with open(tmp_path / "victim", "w+b", buffering=0) as victim:
        victim.write(b"PRECIOUS DATA")
        for attempt in (lambda: ledger.spend("data", CHARGE), lambda: ledger.quote("data", CHARGE)):
            with pytest.raises(b.BursarError):
                attempt()
        victim.seek(0)
        assert victim.read() == b"PRECIOUS DATA"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no interval timers")
def test_interrupts_leave_the_ledger_usable(tmp_path: Path) -> None:
    """Ctrl-C at hundreds of moments: this process and others go on, and all adds up."""
    url = f"sqlite:///{tmp_path}/a.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        command = [sys.executable, str(CLIENTS), "struck", url, "150"]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=NET).stdout.split()
        assert told[-1] == "last"
        found = ledger.verify(reprice=True)
        assert found, str(found)
        with ledger.store.reading() as reader:
            assert set(told) <= {key for key, _, _ in reader.every_key()}


def test_lost_entries_leave_the_odometer_unknown(tmp_path: Path) -> None:
    """After a restore nobody knows what was released, and nothing pretends to."""
    path = tmp_path / "a.db"
    with Ledger(path, alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        ledger.backup(str(tmp_path / "copy.db"))
        ledger.spend("data", b.Gaussian(sigma=20))
    for file in tmp_path.glob("a.db-[ws]*"):
        file.unlink()
    os.replace(tmp_path / "copy.db", path)
    with Ledger(path, alert=None) as ledger:
        ledger.restore(assume_spent=True, reason="lost")
        shown = ledger.show("data")
        assert shown.odometer is None
        assert shown.hindsight is None
        assert "entries were lost" in ledger.export("opendp", root="data", facts=FACTS)
        assert ledger.verify()


def test_a_root_is_as_its_worst_block(tmp_path: Path) -> None:
    """What is shown of a root with blocks is the guarantee, and what was released there is not forgotten."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", CHARGE * 100)
        ledger.open("north", parent="data", kind="block")
        ledger.open("south", parent="data", kind="block")
        ledger.spend("south", CHARGE * 300)
        shown = ledger.show("data")
        assert shown.worst_block == "south"
        assert float(shown.line("epsilon").left) == pytest.approx(0.6)
        assert shown.odometer == pytest.approx(0.4)
        assert ledger.show("north").odometer == pytest.approx(0.1)
        assert "south: laplace(scale=1000)*300" in ledger.export("opendp", root="data", facts=FACTS)
        assert ledger.verify()


def test_anchors_that_cannot_serve(tmp_path: Path) -> None:
    """One that cannot be written stops charges before they are made; one that cannot be read halts; none is said."""
    for number, bad in enumerate((tmp_path / "no folder" / "anchor", tmp_path)):
        with Ledger(f"sqlite:///{tmp_path}/{number}.db", anchor=str(tmp_path / f"fine{number}"), alert=None) as ledger:
            ledger.open(f"data{number}", epsilon=1)
        with (
            pytest.raises(b.BursarError),
            Ledger(f"sqlite:///{tmp_path}/{number}.db", anchor=str(bad), alert=None) as ledger,
        ):
            ledger.spend(f"data{number}", CHARGE, key="k")
        with Ledger(f"sqlite:///{tmp_path}/{number}.db", anchor=str(tmp_path / f"fine{number}"), alert=None) as ledger:
            assert ledger.show(f"data{number}").line("epsilon").spent == 0
    (tmp_path / "garbage").write_text("this is no anchor", encoding="utf-8")
    damaged = Ledger(f"sqlite:///{tmp_path}/0.db", anchor=str(tmp_path / "garbage"), alert=None)
    with pytest.raises(b.errors.LedgerHalted, match="no anchor file"):
        damaged.spend("data0", CHARGE)
    damaged.shut()
    with Ledger(f"sqlite:///{tmp_path}/0.db", anchor=str(tmp_path / "new"), alert=None) as ledger:
        found = ledger.verify()
        assert found
        assert found.anchored == 1  # a new anchor is brought up to the end of the chain at once


@pytest.fixture
def readable() -> Iterator[Path]:
    """A ledger that others may read and not write."""
    folder = Path(tempfile.mkdtemp())
    with Ledger(folder / "a.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", CHARGE)
    folder.chmod(0o555)
    for file in folder.iterdir():
        file.chmod(0o444)
    yield folder / "a.db"
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no user ids")
def test_an_auditor_may_read(readable: Path) -> None:
    """Somebody without the right to write can look, verify and export, and is refused everything else."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        with Ledger(readable, alert=None) as ledger:
            assert ledger.show("data").line("epsilon").spent > 0
            assert ledger.verify()
            assert ledger.export().startswith('{"bursar"')
            with pytest.raises(b.errors.StorageFailed, match=r"only be read|anchor cannot be written"):
                ledger.spend("data", CHARGE)
    finally:
        os.seteuid(before)


def test_looking_creates_nothing(tmp_path: Path) -> None:
    """Commands that look at a ledger that is not there say so, and leave no file."""
    from typer.testing import CliRunner

    from bursar.cli.main import app

    for words in (["verify"], ["show"], ["export"], ["spend", "a", "laplace(scale=1)"]):
        done = CliRunner().invoke(app, ["ledger", *words, "--ledger", str(tmp_path / "missing.db")])
        assert done.exit_code == 2
        assert "there is no ledger" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_query_is_checked_before_it_is_paid(tmp_path: Path) -> None:
    """What cannot run, or has no key, is not charged."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        with pytest.raises(b.InputError, match="function"):
            ledger.run("data", CHARGE, 3, key="k")  # type: ignore[arg-type]
        with pytest.raises(b.InputError, match="key"):
            ledger.run("data", CHARGE, lambda: 1, key=None)  # type: ignore[arg-type]
        with pytest.raises(b.errors.CostInvalid, match="sums"):
            ledger.spend("data", CHARGE, delta="1e-6")
        assert ledger.show("data").line("epsilon").spent == 0


def test_the_standalone_check_of_nothing(tmp_path: Path) -> None:
    """An empty, a missing or a foreign file is exit code 2 and one line."""
    (tmp_path / "check.py").write_text(verifier(), encoding="utf-8")
    (tmp_path / "empty").write_text("", encoding="utf-8")
    (tmp_path / "foreign").write_text("hello\n", encoding="utf-8")
    for name in ("empty", "missing", "foreign", "--help"):
        given = name if name.startswith("-") else str(tmp_path / name)
        done = subprocess.run(
            [sys.executable, "-I", str(tmp_path / "check.py"), given], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_a_table_from_a_spreadsheet() -> None:
    """A byte-order mark does not hide the first column."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.bring_in("data", "\ufeffwhat,count\r\nlaplace(scale=10),2\r\n")
        assert float(ledger.show("data").line("epsilon").spent) == 0.2


def test_receipts_speak() -> None:
    """A receipt prints what was done and where it stands."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1, key="o")
        before = time.time_ns() // 1000
        receipt = ledger.spend("data", CHARGE, key="k")
        assert before <= receipt.at <= time.time_ns() // 1000 + 1  # an entry is later than the one before it
        assert str(receipt) == "charged laplace(scale=1000): entry 2 of data, key k"


@pytest.mark.parametrize(
    "cheap",
    [
        lambda ledger: ledger.spend("data", b.Laplace(scale=10)),
        lambda ledger: ledger.reserve("data", b.Laplace(scale=10), ttl=60),
        lambda ledger: ledger.bring_in("data", "what,count\nlaplace(scale=10),2\nlaplace(scale=20),1\n"),
        lambda ledger: ledger.correct(("data", 2), b.Laplace(scale=10), reason="forgotten"),
    ],
)
def test_charges_below_their_price_are_found(monkeypatch: pytest.MonkeyPatch, cheap: Any) -> None:
    """A ledger that once charged half of what it should have adds up, and repricing says where it did not."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", b.Laplace(scale=10))
        real = Line.price
        with monkeypatch.context() as wrong:
            wrong.setattr(Line, "price", lambda line, cost: real(line, cost) // 2)
            currency_with.cache_clear()
            ledger.office.catalogue = Catalogue()
            cheap(ledger)
        currency_with.cache_clear()
        ledger.office.catalogue = Catalogue()
        assert ledger.verify()
        problems = str(ledger.verify(reprice=True).problems)
        assert "entry 3 charged data less than its price" in problems
