"""Forks and second endings: what a process has open is its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from support.patience import NET, until

CHARGE = b.Laplace(scale=1000)


def in_a_child(url: str, work: str) -> str:
    """What a forked child says, whose parent has the ledger open; in a process of its own, as pytest has threads."""
    text = f"""
import os, sys
import bursar as b
from bursar.ledger.ledger import Ledger
ledger = Ledger({url!r}, alert=None)
reading, writing = os.pipe()
if os.fork() == 0:
    try:
        said = {work}
    except b.BursarError as problem:
        said = problem
    os.write(writing, str(said).encode())
    os._exit(0)
os.wait()
print(os.read(reading, 10_000).decode())
ledger.spend("data", b.Laplace(scale=1000))
assert ledger.verify()
"""
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=NET).stdout


@pytest.mark.parametrize(
    ("work", "said"),
    [
        ("ledger.spend('data', b.Laplace(scale=1000))", "cannot be used after a fork"),
        ("Ledger({url!r}, alert=None)", "was open in the process that this one was forked from"),
        ("ledger.shut()", "None"),
    ],
)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_child_leaves_the_parents_ledger_alone(work: str, said: str, tmp_path: Path) -> None:
    """It may neither use it nor open it anew, since SQLite shares its locks with the parent's, and it shuts nothing."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
    assert said in in_a_child(url, work.format(url=url))


def test_shutting_twice_harms_no_other_ledger(tmp_path: Path) -> None:
    """Two ledgers on one file in one process: one is shut twice, the other goes on."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as other:
        other.open("data", epsilon=1)
        with Ledger(url, alert=None) as ledger:
            ledger.shut()
        assert other.spend("data", CHARGE).seq == 2


def test_two_ledgers_in_two_processes_do_not_deadlock(tmp_path: Path) -> None:
    """Threads of two processes, one for each of two files: the system sees processes that wait for each other."""
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in "xy"]
    for url in urls:
        with Ledger(url, alert=None) as ledger:
            ledger.open("data", epsilon=1)
    text = f"""
import threading
import bursar as b
from bursar.ledger.ledger import Ledger
failed = []
def work(url):
    with Ledger(url, alert=None) as ledger:
        for _ in range(300):
            try:
                ledger.spend("data", b.Laplace(scale=10**9))
            except b.BursarError as problem:
                failed.append(problem)
threads = [threading.Thread(target=work, args=(url,)) for url in {urls!r}]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed[:1])
"""
    running = [subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=NET)[0].strip() for process in running] == ["[]", "[]"]


def test_views_are_not_behind_what_was_seen_meanwhile(tmp_path: Path) -> None:
    """Quotes and statements while others spend: what a view shows may be older than the last commit, and is fine."""
    with Ledger(f"sqlite:///{tmp_path}/budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        problems: list[Exception] = []
        done: list[int] = []

        def spend() -> None:
            try:
                for _ in range(400):
                    ledger.spend("data", b.Laplace(scale=10**9))
            finally:
                done.append(1)

        def look() -> None:
            while len(done) < 2:
                try:
                    ledger.quote("data", b.Laplace(scale=10**9))
                    ledger.show("data")
                except b.BursarError as problem:
                    problems.append(problem)

        threads = [threading.Thread(target=work) for work in (spend, spend, look, look)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []


INTERRUPTED = """
import signal, sys
import bursar as b
from bursar.ledger.ledger import Ledger
url, anchor = sys.argv[1:]
ledger = Ledger(url, anchor=anchor, alert=None)
told, struck, number = 0, 0, 0


def strike(_, frame):  # in the ledger only, not in this loop
    global struck
    while frame is not None:
        if frame.f_code.co_name == "spend":
            struck += 1
            raise KeyboardInterrupt
        frame = frame.f_back


signal.signal(signal.SIGINT, strike)
print("ready", flush=True)
while struck < 200 or told <= 20:
    number += 1
    try:
        ledger.spend("data", b.Laplace(scale=10**9), key=f"k{number}")
        told += 1
        print(f"k{number}", flush=True)
    except (KeyboardInterrupt, b.errors.StorageFailed):
        pass
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_interrupts_lose_nothing_and_hold_nothing(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Ctrl-C hundreds of times in the middle of charges: what was told is there, and others may write at once."""
    url = f"sqlite:///{tmp_path}/budget.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    anchor = str(tmp_path / "anchor")
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        command = [sys.executable, "-c", INTERRUPTED, url, anchor]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            told = interrupted(process)
            ledger.spend("data", CHARGE)  # that process waits for us: had it kept a lock, this would never end
        finally:
            process.kill()
            process.communicate()
        assert len(told) > 20
        with ledger.store.reading() as reader:
            assert told <= {key for key, _, _ in reader.every_key()}
        assert ledger.verify()


def interrupted(process: subprocess.Popen[str]) -> set[str]:
    """Strike a process again and again, and let it be told something in between; the keys that it was told."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    told: list[str] = []

    def read(lines: Iterator[str]) -> None:
        for line in takewhile(lambda line: line != "done\n", lines):
            told.append(line.strip())

    reader = threading.Thread(target=read, args=(process.stdout,))
    reader.start()
    while reader.is_alive():
        before = len(told)
        for _ in range(10):
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        until(lambda: len(told) > before or not reader.is_alive())
    return set(told)
