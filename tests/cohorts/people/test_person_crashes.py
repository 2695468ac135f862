"""kill −9 and races: never over budget, never a row without a committed charge."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import files
from bursar.ledger.ledger import Ledger
from support.patience import NET
from support.tables import SECRET, arrow
from support.where import PATHS, PEOPLE_CLIENTS

POINTS = {
    "before the delta": False,
    "in the delta": True,
    "before the sync": True,
    "between two syncs": True,
    "before the commit": True,
    "in the commit": True,
    "after the commit": False,
    "before the rows": False,
}
"""Where a process is killed, and whether a file stays behind that counts for nothing."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS}


def made(path: Path, rho: str = "1/100") -> None:
    """A filter whose people can bear five queries, unless told otherwise."""
    with Ledger(path, alert=None) as ledger:
        PersonFilter.create(ledger, "visits", folder=path.with_name("visits"), person="user", rho=rho, secret=SECRET)


def command(path: Path, number: int, queries: int, point: str) -> list[str]:
    """The program with its arguments."""
    return [sys.executable, str(PEOPLE_CLIENTS), f"sqlite:///{path}", str(number), str(queries), point]


def told(output: str) -> dict[str, str]:
    """Who was handed out, by key."""
    lines = [line.partition(" ") for line in output.splitlines()]
    return {key: who for key, _, who in lines}


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_named_point(point: str, tmp_path: Path, figures: Any) -> None:
    """What was handed out is charged, what was not committed is not, and a retry of its key goes on from there."""
    path = tmp_path / "budget.db"
    made(path)
    killed = subprocess.run(command(path, 0, 5, point), capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert killed.returncode == -9, killed.stderr
    assert list(told(killed.stdout)) == ["0-0", "0-1"]
    with Ledger(path, alert=None) as ledger:
        keys = {chained.entry.key for chained in ledger.entries("visits")}
        assert ("0-2" in keys) == (point in ("after the commit", "before the rows"))
        people = PersonFilter(ledger, "visits", secret=SECRET)
        checked = people.verify()
        assert checked.ok
        assert checked.orphans == POINTS[point]
    retried = subprocess.run(command(path, 0, 7, ""), capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert [len(who) for who in told(retried.stdout).values()] == [3, 3, 3, 3, 3, 0, 0]
    with Ledger(path, alert=None) as ledger:
        assert ledger.verify()
        assert PersonFilter(ledger, "visits", secret=SECRET).verify().ok
    figures("admissions killed at a named point", f"kill −9 {point}", 1, 0)


@pytest.mark.soak
def test_killed_at_random_moments(tmp_path: Path, figures: Any) -> None:
    """Forty processes, two at a time, each killed some time after its first rows: who was handed out is charged."""
    path, chance, handed = tmp_path / "budget.db", random.Random(21), Counter[str]()
    made(path, "1/10")
    keys = set[str]()
    for number in range(0, 40, 2):
        pair = [
            subprocess.Popen(command(path, one, 100, ""), stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
            for one in (number, number + 1)
        ]
        for process in pair:
            assert process.stdout is not None
            output = process.stdout.readline()
            time.sleep(chance.random() / 2)
            process.kill()
            output += process.communicate(timeout=NET)[0]
            told_now = told("\n".join(line for line in output.splitlines() if line.count(" ") == 1))
            keys.update(told_now)
            for who in told_now.values():
                handed.update(who)
        with Ledger(path, alert=None) as ledger:
            assert ledger.verify()
            assert PersonFilter(ledger, "visits", secret=SECRET).verify().ok
            assert keys <= {chained.entry.key for chained in ledger.entries("visits")}
    assert max(handed.values()) <= 50
    assert len(keys) >= 40
    figures("admissions killed at random moments", "kill −9, two processes at a time", 40, 0)


def test_files_and_folders_are_synced_before_they_count(visits: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delta, its folder and all folders up to the one that holds the filter's are durable when the entry is."""
    done: list[Path | str] = []
    sync, submit = files._sync, visits.ledger.office.submit
    monkeypatch.setattr(files, "_sync", lambda path: (done.append(path), sync(path)))
    monkeypatch.setattr(visits.ledger.office, "submit", lambda request: (done.append("commit"), submit(request))[1])
    visits.admit(arrow([("ann", 1.0)]), b.Declared(b.ZCDP(rho="1/500")), key="q")
    (delta,) = visits.folder.path.rglob("*.parquet")
    assert done == [delta, *list(delta.parents)[:4], "commit"]
    assert delta.parents[3] == visits.folder.path.parent


def test_eight_processes_share_one_budget(tmp_path: Path, figures: Any) -> None:
    """Each asks twice: everybody is admitted exactly five times in all, whoever wins."""
    path = tmp_path / "budget.db"
    made(path)
    running = [
        subprocess.Popen(command(path, number, 2, ""), stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for number in range(8)
    ]
    outputs = [process.communicate(timeout=NET)[0] for process in running]
    assert all(process.returncode == 0 for process in running)
    handed: Counter[str] = Counter()
    for output in outputs:
        for who in told(output).values():
            handed.update(who)
    assert handed == {"a": 5, "b": 5, "c": 5}
    with Ledger(path, alert=None) as ledger:
        assert ledger.verify()
        assert ledger.last("visits") == 17
        assert PersonFilter(ledger, "visits", secret=SECRET).verify() == ((), 0)
    figures("people admitted by 8 processes", "2 queries each on the same people", 16, 0)


def test_whoever_comes_second_decides_again(visits: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another query commits between the decision and the commit: the person's budget bears one of both, not two."""
    rows, what = arrow([("ann", 1.0)]), b.Declared(b.ZCDP(rho="1/150"))
    other = PersonFilter(visits.ledger, "visits", secret=SECRET)
    settle, handed = visits.folder.settle, []

    def late(place: str) -> str:
        if not handed:
            handed.append(other.admit(rows, what, key="first").num_rows)
        return settle(place)

    monkeypatch.setattr(visits.folder, "settle", late)
    handed.append(visits.admit(rows, what, key="second").num_rows)
    assert handed == [1, 0]
    assert visits.verify() == ((), 0)
