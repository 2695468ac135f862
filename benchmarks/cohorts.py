"""Cohorts at scale: each case in a process of its own, in CPU-seconds and peak memory, beside a floor of the same run.

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

SECRET = bytes(range(32))
SHARE = float(os.environ.get("BURSAR_BENCH_SHARE", "1"))


class Spent(NamedTuple):
    """What a piece of work took."""

    seconds: float
    cpu: float


def spent(run: Callable[[], object]) -> Spent:
    """Run it once."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def written(path: Path, size: int) -> None:
    """So many bytes, written and synced."""
    piece = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def blocks(folder: Path, mixed: bool) -> dict[str, object]:
    """One charge on every block of a grid; mixed tiles hold 8 bytes for each block, even ones a single number."""
    import bursar as b
    from bursar.cohorts import BlockLedger

    side = round(9000 * math.sqrt(SHARE))
    with b.Ledger(folder / "budget.db", alert=None) as ledger:
        made = BlockLedger.create(ledger, "ads", {"day": side, "segment": side}, rho=1)
        for strip in range(64, side, 128) if mixed else ():
            made.spend(b.Gaussian(sigma=100), segment=strip)
        size = 8 * side * side
        floor = spent(lambda: written(folder / "floor", size))
        took = spent(lambda: made.spend(b.Gaussian(sigma=100)))
    return {"what": f"{side * side:,} blocks, {'mixed' if mixed else 'even'} tiles", "took": took, "floor": floor}


def admit(folder: Path) -> dict[str, object]:
    """One query of a tenth of the people, against a snapshot of all of them and ten deltas."""
    import pyarrow as pa

    import bursar as b
    from bursar.cohorts import PersonFilter

    people, asked = round(10**7 * SHARE), round(10**6 * SHARE)
    with b.Ledger(folder / "budget.db", alert=None) as ledger:
        made = PersonFilter.create(ledger, "visits", folder=folder / "v", person="user", rho=1, secret=SECRET)
        made.admit(pa.table({"user": range(people)}), b.Gaussian(sigma=100), key="all")
        made.compact()
        for number in range(10):
            made.admit(pa.table({"user": range(number, people, 100)}), b.Gaussian(sigma=100), key=f"delta {number}")
        table = pa.table({"user": range(0, people, people // asked)})
        paths = [str(path) for row in made._look().rows[1:] for path in made.folder.parts(row.path)]
        floor = spent(lambda: _decoded(paths, "SUM(octet_length(person)), SUM(charge)"))
        took = spent(lambda: made.admit(table, b.Gaussian(sigma=100), key="measured"))
    return {"what": f"{asked:,} charges against {people:,} people, ten deltas", "took": took, "floor": floor}


def replay(folder: Path) -> dict[str, object]:
    """A long list of charges, decided by skip in buckets."""
    import duckdb

    import bursar as b
    from bursar.cohorts import PersonFilter

    charges = round(10**8 * SHARE)
    path = str(folder / "charges.parquet")
    duckdb.connect().execute(
        f"COPY (SELECT range // 1000000 AS query, (hash(range) % {max(charges // 10, 1)})::BIGINT AS person, "
        f"(hash(range + 1) % 1000)::BIGINT AS charge FROM range({charges})) TO '{path}' (FORMAT parquet)"
    )
    with b.Ledger("memory://", alert=None) as ledger:
        made = PersonFilter.create(ledger, "visits", folder=folder / "v", person="user", rho="4e-6", secret=SECRET)
        floor = spent(lambda: _decoded([path], "SUM(query), SUM(person), SUM(charge)"))
        took = spent(lambda: made.replay(path, folder / "out"))
    return {"what": f"{charges:,} charges replayed in 64 buckets", "took": took, "floor": floor}


def _decoded(paths: list[str], columns: str) -> None:
    """Columns of these files, read and forgotten."""
    import duckdb

    listed = ", ".join(f"'{path}'" for path in paths)
    duckdb.connect().execute(f"SELECT {columns} FROM read_parquet([{listed}])").fetchall()


CASES: dict[str, Callable[[Path], dict[str, object]]] = {
    "mixed": lambda folder: blocks(folder, True),
    "even": lambda folder: blocks(folder, False),
    "admit": admit,
    "replay": replay,
}


def one(name: str) -> None:
    """One case, as JSON, with the largest memory that this process ever had."""
    with tempfile.TemporaryDirectory() as folder:
        found = CASES[name](Path(folder))
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps(found))


def rows() -> list[str]:
    """The table of the page of results."""
    lines = [
        f"{SHARE:g} of the full size. The floor writes and syncs the same bytes (blocks), or decodes the same Parquet "
        "files (people), in the same process.",
        "",
        "| what | seconds | CPU-s | floor, seconds | floor, CPU-s | ratio | peak, GB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        took, floor = Spent(*found["took"]), Spent(*found["floor"])
        ratio = took.seconds / floor.seconds if name in ("mixed", "even") else took.cpu / floor.cpu
        numbers = f"{took.seconds:.2f} | {took.cpu:.2f} | {floor.seconds:.2f} | {floor.cpu:.2f} | {ratio:.2f}×"
        lines.append(f"| {found['what']} | {numbers} | {found['peak']:.2f} |")
    return lines


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        print("\n".join(rows()))
