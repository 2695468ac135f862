"""Benchmarks of the ledger: against the disk itself, in batches, as the journal grows, and what new prices cost."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from crowds import group_commit, many_roots, processes
from places import DEFAULT, SCOPES, SMALL, compared, disk_file, folder, postgres

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.statements import queries
from bursar.ledger.verbs.spend import spend

_NUMBERS = itertools.count()
_QUERIES = queries()


def embedded() -> list[str]:
    """One charge per commit, against writing and syncing the same bytes, in turns; on this disk, and on slower ones."""
    rows = ["| sync | what | a second | ratio | CPU beyond the sync |", "|---|---|---|---|---|"]
    for scope, extras in {"default": (0.0, 1.0, 2.0, 5.0), "pure": (0.0, 2.0)}.items():
        for extra in extras:
            rows += _one_by_one(extra, scope)
    return rows


def _one_by_one(extra: float, scope: str) -> list[str]:
    rounds, each = (20, 60) if extra == 0 else (5, 40)
    count = rounds * each
    with folder() as place, disk_file(f"{place}/budget.db", extra, SCOPES[scope]) as ledger:
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
    measured = [(f"charge, one per commit, {scope} scope", charges)] + (
        [("the same statements, SQLite alone", bare)] if bare[0] else []
    )
    for name, (wall, cpu) in measured:
        rate, beyond = count / wall, 1e6 * (cpu - syncs[1]) / count
        rows.append(f"| {time_of} | {name} | {rate:,.0f} | {rate / disk:.2f} | {beyond:.0f} µs |")
    if free[0]:
        rows.append(f"| none | charge, the sync left out | {count / free[0]:,.0f} | | {1e6 * free[1] / count:.0f} µs |")
    return rows


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
    db.execute(_QUERIES["append"], ("data", 10**9 + number, 0, "spend", "", "", "x" * 1000, "x" * 64, "x" * 64))
    db.execute(_QUERIES["remember"], (f"bare-{number}", "data", 1))
    db.execute(_QUERIES["set_balance"], (10**16, number, 0, "", "data", "delta"))
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


def batches() -> list[str]:
    """One transaction for many waiting charges, without threads: what the ledger itself costs."""
    rows = ["| store | one a commit | 64 a commit | ratio | CPU a charge in batches |", "|---|---|---|---|---|"]
    for scope in SCOPES:
        with folder() as place:
            rows.append(_batched(f"SQLite, {scope} scope", f"sqlite:///{place}/budget.db", None, SCOPES[scope]))
    with postgres() as url, folder() as place:
        rows.append(_batched("PostgreSQL, one hot root", url, f"{place}/anchor"))
    return rows


def _batched(name: str, url: str, anchor: str | None, limits: dict[str, Any] = DEFAULT) -> str:
    with Ledger(url, anchor=anchor, alert=None) as ledger:
        ledger.open("data", **limits)
        rates, cpu = [], 0.0
        for many, rounds in ((1, 500), (64, 60)):
            ledger.spend("data", SMALL)
            start, used = time.perf_counter(), time.process_time()
            for _ in range(rounds):
                batch_of(ledger, many)
            rates.append(many * rounds / (time.perf_counter() - start))
            cpu = 1e6 * (time.process_time() - used) / (many * rounds)
    return compared(name, rates, cpu)


def batch_of(ledger: Ledger, many: int) -> None:
    """So many charges in one transaction."""
    ledger.commit([ledger.request(spend("data", SMALL)) for _ in range(many)])


def growth() -> list[str]:
    """A charge on an empty ledger and after a million entries; verifying all of them."""
    rows = ["| entries | CPU a charge | commit of one charge |", "|---|---|---|"]
    with folder() as place, Ledger(f"sqlite:///{place}/budget.db", alert=None) as ledger:
        ledger.open("data", **DEFAULT)
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


def new_prices() -> list[str]:
    """What a charge takes whose price nobody knows, on a default scope with all its splits alive."""
    rows = ["| release, at (1, 1e-6) | CPU of the first charge | of ten of them as one plan |", "|---|---|---|"]
    for what in (
        b.RandomizedResponse(epsilon=0.01),
        b.Laplace(scale=100.0),
        b.Gaussian(sigma=50.0),
        b.DiscreteGaussian(sigma=50.0),
        b.DiscreteLaplace(scale=100.0),
        b.PoissonSampled(b.Gaussian(sigma=5.0), rate=0.01),
        b.Declared(b.ApproxDP(0.01, 1e-12)),
    ):
        times = []
        for number, release in enumerate((what, what * 10)):
            with Ledger("memory://", alert=None) as ledger:
                ledger.open("data", epsilon=1, delta=f"1.0000{number + 1}e-6")
                start = time.process_time()
                ledger.spend("data", release)
                times.append(1e3 * (time.process_time() - start))
        rows.append(f"| {what} | {times[0]:.0f} ms | {times[1]:.0f} ms |")
    return rows


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Ledger: one charge per commit, embedded": embedded,
    "Ledger: eight processes, embedded": processes,
    "Ledger: threads share commits": group_commit,
    "Ledger: batches": batches,
    "Ledger: a thousand roots in PostgreSQL, thirty-two clients": many_roots,
    "Ledger: a million entries": growth,
    "Ledger: new prices on the default scope": new_prices,
}

if __name__ == "__main__":
    for title, run in SECTIONS.items():
        if len(sys.argv) < 2 or sys.argv[1] in title:
            print(f"## {title}", *run(), "", sep="\n")
