"""Many spenders, one budget: never more than the limit, whatever the interleaving."""

from __future__ import annotations

import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite import lock as lock_module
from bursar.ledger.stores.sqlite.lock import writer_lock
from bursar.ledger.verbs.spend import spend
from support.patience import NET, until
from support.where import CLIENTS


def storm(url: str, folder: Path, processes: int, threads: int, attempts: int, parts: int) -> int:
    """All at once; checks the sums, and returns how many attempts were made."""
    anchor = str(folder / "anchor")
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        running = [
            subprocess.Popen(
                [sys.executable, str(CLIENTS), "crowd", url, anchor, f"p{n}", str(threads), str(attempts), str(parts)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for n in range(processes)
        ]
        outputs = [process.communicate(timeout=NET)[0].split() for process in running]
        assert all(process.returncode == 0 for process in running)
        admitted = sum(int(output[0]) for output in outputs)
        refused = sum(int(output[1]) for output in outputs)
        assert admitted + refused == processes * threads * attempts
        charge = -(-PARTS // parts)
        assert admitted == min(PARTS // charge, processes * threads * attempts)
        state = ledger.show("data").line("epsilon")
        assert state.spent * PARTS == admitted * charge
        assert state.spent <= 1
        found = ledger.verify()
        assert found, str(found)
        return admitted + refused


@pytest.mark.parametrize(
    ("kind", "processes", "threads", "attempts"),
    [("sqlite", 2, 16, 160), ("sqlite", 8, 4, 80), ("postgres", 2, 16, 120), ("postgres", 16, 2, 60)],
)
def test_no_overspend_among_processes(
    kind: str, processes: int, threads: int, attempts: int, tmp_path: Path, request: Any, figures: Any
) -> None:
    """Processes and threads spend a scope beyond its end: exactly what fits is admitted."""
    url = f"sqlite:///{tmp_path}/budget.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    tried = storm(url, tmp_path, processes, threads, attempts, processes * threads * attempts * 2 // 3)
    figures("concurrent spending beyond the limit", f"{kind}, {processes} processes of {threads} threads", tried, 0)


def test_no_overspend_among_threads(figures: Any) -> None:
    """The same in memory, with thirty-two threads."""
    admitted = []
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        charge = b.Declared(b.PureDP("1/5040"))

        def work() -> None:
            for _ in range(250):
                try:
                    admitted.append(ledger.spend("data", charge))
                except b.BudgetExceeded:
                    continue

        threads = [threading.Thread(target=work) for _ in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(admitted) == 5040
        assert ledger.show("data").line("epsilon").left == 0
    figures("concurrent spending beyond the limit", "memory, 32 threads", 8000, 0)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "processes", "threads", "attempts"),
    [("sqlite", 4, 32, 3500), ("sqlite", 32, 4, 1000), ("postgres", 8, 32, 1700)],
)
def test_no_overspend_at_length(
    kind: str, processes: int, threads: int, attempts: int, tmp_path: Path, request: Any, figures: Any
) -> None:
    """A million attempts in all."""
    url = f"sqlite:///{tmp_path}/budget.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    tried = storm(url, tmp_path, processes, threads, attempts, processes * threads * attempts * 2 // 3)
    figures("concurrent spending beyond the limit", f"{kind}, {processes} processes of {threads} threads", tried, 0)


def naive(url: str, spend: Callable[[Any], bool], clients: int, attempts: int) -> tuple[int, int]:
    """A broken ledger under the same storm: how many were admitted, and what its table says."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE naive (spent BIGINT)")
        connection.execute("INSERT INTO naive VALUES (0)")
    admitted = [0] * clients
    start = threading.Barrier(clients)

    def work(number: int) -> None:
        with psycopg.connect(url) as mine:
            start.wait()
            for _ in range(attempts):
                admitted[number] += spend(mine)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT spent FROM naive").fetchone()
    assert row is not None
    return sum(admitted), int(row[0])


LIMIT = 60


def check_then_add(connection: Any) -> bool:
    """Reads, compares, adds: two may read before either adds."""
    with connection.transaction():
        (spent,) = connection.execute("SELECT spent FROM naive").fetchone()
        if spent + 1 > LIMIT:
            return False
        connection.execute("SELECT pg_sleep(0.001)")
        connection.execute("UPDATE naive SET spent = spent + 1")
        return True


def read_modify_write(connection: Any) -> bool:
    """Writes back what it computed: additions disappear."""
    with connection.transaction():
        (spent,) = connection.execute("SELECT spent FROM naive").fetchone()
        if spent + 1 > LIMIT:
            return False
        connection.execute("SELECT pg_sleep(0.001)")
        connection.execute("UPDATE naive SET spent = %s", (spent + 1,))
        return True


@pytest.mark.parametrize("spend", [check_then_add, read_modify_write])
def test_naive_patterns_are_caught(spend: Callable[[Any], bool], postgres: str, figures: Any) -> None:
    """Negative controls: with eight clients both let more through than the limit."""
    admitted, _ = naive(postgres, spend, 8, 40)
    assert admitted > LIMIT
    name = spend.__name__.replace("_", " ")
    figures("concurrent spending", f"PostgreSQL, {name}", 320, admitted - LIMIT, control=True)


def holding(path: str) -> subprocess.Popen[str]:
    """A process that wants the lock, says when it has it, and keeps it until it is told to let go."""
    command = [sys.executable, str(CLIENTS), "hold", path]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_turn_is_kept_and_ends(tmp_path: Path) -> None:
    """Who comes again at once goes before the one that waits, until its turn is over; it holds nothing meanwhile."""
    path = str(tmp_path / "lock")
    lock = writer_lock(path)
    before = holding(path)
    assert said(before) == "held"

    def queued(number: int) -> None:
        until(lambda: lock._number(0) >= number)

    def turn() -> None:
        lock._left = time.monotonic_ns() + 10**15  # as if it had been here just now, however slow this machine is
        with lock.held():
            assert lock._mine == 0
        assert lock._until > time.monotonic_ns()
        with lock.held():
            assert lock._mine == 0

    original = lock_module._TURN
    lock_module._TURN = lock_module._ROUND = 10**15  # a turn that does not end here
    try:
        waiting = threading.Thread(target=turn)
        waiting.start()
        queued(1)
        behind = holding(path)
        queued(2)
        before.communicate("done\n", timeout=NET)
        waiting.join(NET)
        assert said(behind) == "held"  # it sleeps for a turn as it knows it, then goes
        assert not lock.take(wait=False)
    finally:
        lock_module._TURN, lock_module._ROUND = original, 8 * original
    behind.communicate("done\n", timeout=NET)
    lock.close()


def test_a_process_that_stops_spending_holds_up_nobody(tmp_path: Path) -> None:
    """One process spends as fast as it can and then sleeps; the other goes on."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        command = [sys.executable, str(CLIENTS), "sprint", url, "300"]
        other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert said(other) == "ready"
        after = 0
        while after < 100:  # it waits for us: had it kept the lock or its turn, this would never end
            ledger.spend("data", b.Laplace(scale=10**9))
            after += select.select([other.stdout], [], [], 0)[0] != []
        assert said(other) == "rests"
        other.kill()
        other.communicate()
        assert ledger.verify()


def test_the_lock_alone_excludes(tmp_path: Path) -> None:
    """Four processes add to one number by reading and writing it: none of their additions is lost."""
    counter = tmp_path / "number"
    counter.write_text("0")
    command = [sys.executable, str(CLIENTS), "add", str(tmp_path / "lock"), str(counter), "300"]
    running = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(NET) for process in running] == [0] * 4
    assert counter.read_text() == "1200"


def test_the_hint_of_the_lock_may_be_wrong(tmp_path: Path) -> None:
    """A crash may leave numbers behind that nobody serves: the next turn goes through the queue and mends it."""
    path = str(tmp_path / "lock")
    lock = writer_lock(path)
    try:
        with lock.held():
            pass
        for following, served in ((7, 3), (3, 7)):
            lock._page[:8], lock._page[16:24] = following.to_bytes(8, "little"), served.to_bytes(8, "little")
            assert not lock.take(wait=False)
            with lock.held():
                pass
            assert lock._page[:8] == lock._page[16:24] == (following + 1).to_bytes(8, "little")
    finally:
        lock.close()


def test_who_does_not_want_to_wait_is_told(tmp_path: Path) -> None:
    """While another process has the turn, a batch in two steps is not begun; afterwards it is."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        holder = holding(f"{tmp_path}/budget.db-lock")
        assert said(holder) == "held"
        assert ledger.quote("data", b.Laplace(scale=10)).passes  # now its price is known
        request = ledger.request(spend("data", b.Laplace(scale=10)))
        assert ledger.begin([request]) is None
        holder.communicate("done\n", timeout=NET)
        finish = ledger.begin([request])
        assert finish is not None
        finish()
        assert request.outcome.seq == 2
