"""kill −9 and races of drivers of Spark: never over budget, never a row without a committed charge."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bursar.cohorts import PersonFilter
from bursar.ledger.ledger import Ledger
from support.patience import NET
from support.people_clients import admissions
from support.tables import SECRET, Rows
from support.where import PATHS, SPARK_CLIENTS

Frames = Callable[[Rows], Any]
KILLED = -9
POINTS = {
    "before the delta": (KILLED, False, False),
    "in the delta": (KILLED, False, True),
    "before the sync": (KILLED, False, True),
    "between two syncs": (KILLED, False, True),
    "before the commit": (KILLED, False, True),
    "in the commit": (KILLED, False, True),
    "after the commit": (KILLED, True, False),
    "before the rows": (KILLED, True, False),
    "before the frame is computed": (KILLED, True, False),
    "Java, in the delta": (1, False, False),
}
"""Where a driver is killed, or its Java: how the driver ends, whether its query counts, and whether a file stays behind
that does not.
"""
SAMPLE = ("in the delta", "before the frame is computed")
THREE: Rows = [(name, 1.0) for name in "abc"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS}


def made(path: Path) -> str:
    """A filter whose people can bear five queries; where its ledger is."""
    with Ledger(path, alert=None) as ledger:
        PersonFilter.create(
            ledger, "visits", folder=path.with_name("visits"), person="user", rho="1/100", secret=SECRET
        )
    return f"sqlite:///{path}"


def driver(url: str, number: int, queries: int, point: str, folder: Path) -> subprocess.Popen[str]:
    """A process with a Spark of its own, whose Java ends with it."""
    command = [sys.executable, SPARK_CLIENTS, folder / f"java {number} {queries}", url, number, queries, point]
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )


def told(output: str) -> dict[str, str]:
    """Who was handed out, by key."""
    lines = [line.partition(" ") for line in output.splitlines()]
    return {key: who for key, _, who in lines}


def killed(point: str, folder: Path, table: Any) -> None:
    """Two queries, and a third that is killed: then another driver asks for all of them again, and for four more."""
    end, counts, stays = POINTS[point]
    path = folder / "budget.db"
    url = made(path)
    first = driver(url, 0, 3, point, folder)
    output, errors = first.communicate(timeout=NET)  # Java has the pipes too: it is gone when they end
    assert first.returncode == end, errors
    assert list(told(output)) == ["0-0", "0-1"]
    with Ledger(path, alert=None) as ledger:
        assert ("0-2" in {chained.entry.key for chained in ledger.entries("visits")}) == counts
        assert PersonFilter(ledger, "visits", secret=SECRET).verify() == ((), stays)
        again = PersonFilter(ledger, "visits", secret=SECRET)
        retried = "\n".join(admissions(again, "0", "7", lambda: None, table))
        assert [len(who) for who in told(retried).values()] == [3, 3, 3, 3, 3, 0, 0]
        assert ledger.verify()
        assert again.verify() == ((), stays)


def raced(drivers: int, queries: int, folder: Path) -> None:
    """So many drivers ask so often for the same people, more than these can bear: everybody is admitted five times."""
    path = folder / "budget.db"
    url = made(path)
    running = [driver(url, number, queries, "", folder) for number in range(drivers)]
    ended = [process.communicate(timeout=NET) for process in running]
    assert [process.returncode for process in running] == [0] * drivers, [errors for _, errors in ended]
    handed = Counter(one for output, _ in ended for who in told(output).values() for one in who)
    assert handed == dict.fromkeys("abc", 5)
    with Ledger(path, alert=None) as ledger:
        assert ledger.verify()
        assert ledger.last("visits") == 1 + queries * drivers
        assert PersonFilter(ledger, "visits", secret=SECRET).verify() == ((), 0)


pytestmark = pytest.mark.ci


@pytest.mark.parametrize("point", SAMPLE)
def test_a_driver_killed_at_a_named_point(point: str, tmp_path: Path, sparkle: Frames, figures: Any) -> None:
    """What was handed out is charged, what was not committed is not, and a retry of its key goes on from there."""
    killed(point, tmp_path, sparkle(THREE))
    figures("admissions by Spark killed at a named point", f"kill −9 {point}", 1, 0)


@pytest.mark.soak
@pytest.mark.parametrize("point", POINTS)
def test_a_driver_killed_at_every_point(point: str, tmp_path: Path, sparkle: Frames, figures: Any) -> None:
    """The same at all of them, and where Java is killed and its driver is not."""
    killed(point, tmp_path, sparkle(THREE))
    figures("admissions by Spark killed at a named point", f"kill −9 {point}", 1, 0)


def test_two_drivers_share_one_budget(tmp_path: Path, figures: Any) -> None:
    """Each asks three times: everybody is admitted exactly five times in all, whoever wins."""
    raced(2, 3, tmp_path)
    figures("people admitted by drivers of Spark", "2 processes, 3 queries each on the same people", 6, 0)


@pytest.mark.soak
def test_eight_drivers_share_one_budget(tmp_path: Path, figures: Any) -> None:
    """Each asks twice: everybody is admitted exactly five times in all, whoever wins."""
    raced(8, 2, tmp_path)
    figures("people admitted by drivers of Spark", "8 processes, 2 queries each on the same people", 16, 0)
