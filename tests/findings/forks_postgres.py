"""A ledger on PostgreSQL did not notice that another cluster, made from a backup, had taken its address over: it went
on there while others went on at the first one, and both spent the same budget.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
from shared import judged, postgres

import bursar as b


def place(server: Any) -> str:
    """The folder of a server's socket."""
    return parse_qs(urlsplit(server.get_uri()).query)["host"][0]


def spent(ledger: b.Ledger, name: str) -> tuple[int, str]:
    """How many tenths are admitted, and what the last one is told."""
    count, said = 0, ""
    for number in range(12):
        try:
            ledger.spend("data", "laplace(scale=10)", key=f"{name}-{number}")
            count += 1
        except b.BursarError as refused:
            said = f"{type(refused).__name__}"
    return count, said


def main() -> tuple[bool, str]:
    """A link is the address; both clusters have the same ledger, which one process has open."""
    with postgres() as one, postgres() as other:
        tools = Path(one.bin_path)
        urls = [f"postgresql://postgres@/moving?host={place(server)}" for server in (one, other)]
        for server in (one, other):
            with psycopg.connect(server.get_uri(), autocommit=True) as hand:
                hand.execute("CREATE DATABASE moving")
        with b.Ledger(urls[0], alert=None) as ledger:
            ledger.open("data", epsilon=1)
        dump = subprocess.run([tools / "pg_dump", urls[0]], capture_output=True, check=True).stdout
        subprocess.run(
            [tools / "psql", "-q", "-v", "ON_ERROR_STOP=1", urls[1]], input=dump, capture_output=True, check=True
        )
        os.symlink(place(one), "at")
        with b.Ledger(f"postgresql://postgres@/moving?host={os.getcwd()}/at", alert=None) as ledger:
            ledger.show("data")
            os.remove("at")
            os.symlink(place(other), "at")
            with psycopg.connect(one.get_uri(), autocommit=True) as hand:
                hand.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'moving'")
            first, said = spent(ledger, "first")
        with b.Ledger(urls[0], alert=None) as ledger:
            second, _ = spent(ledger, "second")
    return first + second <= 10, f"{first} + {second} charges admitted where 10 fit; the moved one is told: {said}"


if __name__ == "__main__":
    judged(main)
