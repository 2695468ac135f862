"""Cohorts at scale: CPU-seconds and peak memory of each case, beside a floor that the same process measures.

Every case is prepared by one process and measured by another, so that the memory is that of the work alone.

BURSAR_BENCH_SHARE=0.1 python benchmarks/cohorts.py        a tenth of everything; 1 is the whole
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from persons import (
    ASKED,
    CHARGES,
    PEOPLE,
    SHARE,
    admit,
    by_spark,
    charges,
    hashed,
    ledger_in,
    people,
    replay,
    spark_alone,
)


class Spent(NamedTuple):
    """What a piece of work took: this process and its children."""

    seconds: float
    cpu: float


class Case(NamedTuple):
    """One row of the table."""

    what: str
    wanted: str
    prepare: Callable[[Path], None]
    measure: Callable[[Path], tuple[Callable[[], object], Callable[[], object]]]
    """The floor, and the work."""
    wall: bool = False
    """Whether the ratio is one of seconds: writing and syncing takes little CPU."""


def _cpu() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def spent(run: Callable[[], object]) -> Spent:
    """Run it once."""
    wall, cpu = time.perf_counter(), _cpu()
    run()
    return Spent(time.perf_counter() - wall, _cpu() - cpu)


def written(path: Path, size: int) -> None:
    """So many bytes, written and synced."""
    piece = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for _ in range(max(1, size >> 20)):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


SIDE = round(9000 * math.sqrt(SHARE))


def blocks(what: str, slices: int, mixed: bool) -> Case:
    """One charge on so many blocks, of which those of a tile have spent the same, or not. Of two slices one is charged:
    every tile has both, so that all of them are cut.
    """
    import bursar as b
    from bursar.cohorts import BlockLedger

    def prepare(folder: Path) -> None:
        with ledger_in(folder) as ledger:
            made = BlockLedger.create(ledger, "ads", {"slice": slices, "day": SIDE, "segment": SIDE}, rho=1)
            for strip in range(64, SIDE, 128) if mixed else ():
                made.spend(b.Gaussian(sigma=100), segment=strip)

    def measure(folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
        def charge() -> None:
            with ledger_in(folder) as ledger:
                BlockLedger(ledger, "ads").spend(b.Gaussian(sigma=100), slice=0)

        return lambda: written(folder / "floor", 8 * SIDE * SIDE), charge

    return Case(f"{SIDE * SIDE:,} blocks, {what}", "3×, 6 s, 0.3 GB", prepare, measure, wall=True)


def cases() -> dict[str, Case]:
    """The rows of the table, by name."""
    return {
        "even": blocks("tiles that have spent the same", 1, mixed=False),
        "mixed": blocks("tiles that have not", 1, mixed=True),
        "cut": blocks("every tile cut by the box", 2, mixed=True),
        "admit": Case(f"{ASKED:,} charges against {PEOPLE:,} people, ten deltas", "3 CPU-s", people, admit),
        "hashed": Case(f"of which {ASKED:,} ids hashed, HMAC-SHA256", "", lambda folder: None, hashed),
        "replay": Case(f"{CHARGES:,} charges replayed", "4.5×, 40 CPU-s, 0.5 GB", charges, replay),
        "spark": Case(f"{CHARGES:,} charges replayed by Spark, local[1]", "2.5×", charges, by_spark),
        "start": Case("of which Spark's start, with a task that does nothing", "", charges, spark_alone),
    }


def _own_peak() -> int:
    """The most memory of this program, in KiB: `getrusage` also counts what its parent had before."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def one(name: str, step: str, folder: Path) -> None:
    """One step of a case; what was measured as JSON, with the largest memory that a process of it ever had."""
    case = cases()[name]
    if step == "prepare":
        case.prepare(folder)
        return
    floor, work = case.measure(folder)
    floors = [spent(floor)]
    took = spent(work)
    floors.append(spent(floor))
    middle = Spent(*(sum(numbers) / 2 for numbers in zip(*floors, strict=True)))
    peak = max(_own_peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 2**20
    print(json.dumps({"took": took, "floor": middle, "peak": peak}))


def rows() -> list[str]:
    """The table of the page of results."""
    lines = [
        f"{SHARE:g} of the full size. The floor writes and syncs 8 bytes for each block, or decodes the same columns "
        "of the same Parquet files and adds up every value (people); it is measured before and after the work in the "
        "same process, and the ratio is one of seconds for blocks, of CPU-seconds for people. The floor of hashed ids "
        "is one plain SHA-256 of each, without a secret. Spark's floor is the embedded replay of the same charges, "
        "each of both in a process of its own, with all of its start-up and, of Spark's, its Java and all workers; its "
        "peak is the largest process. Wanted is what the full size is to take at most.",
        "",
        "| what | wanted | seconds | CPU-s | floor, seconds | floor, CPU-s | ratio | peak, GB |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, case in cases().items():
        with tempfile.TemporaryDirectory() as folder:
            for step in ("prepare", "measure"):
                command = [sys.executable, __file__, name, step, folder]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        took, floor = Spent(*found["took"]), Spent(*found["floor"])
        ratio = took.seconds / floor.seconds if case.wall else took.cpu / floor.cpu
        numbers = f"{took.seconds:.2f} | {took.cpu:.2f} | {floor.seconds:.2f} | {floor.cpu:.2f} | {ratio:.2f}×"
        lines.append(f"| {case.what} | {case.wanted} | {numbers} | {found['peak']:.2f} |")
    return lines


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        print("\n".join(rows()))
