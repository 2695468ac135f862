"""A program that admits people, and prints who before it says so; it can kill itself at a named point.

python people_clients.py URL NUMBER QUERIES POINT
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pyarrow.parquet import ParquetWriter

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import files
from bursar.cohorts.people.engines.duck import _DuckPrepared
from bursar.ledger.ledger import Ledger
from bursar.ledger.stores.sqlite.rows import Write
from support.person_contract import read
from support.tables import SECRET, arrow


def die(*_: Any, **__: Any) -> None:
    """As a power cut would end it, as far as a process can tell."""
    os.kill(os.getpid(), signal.SIGKILL)


def after(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is the last thing that happens."""

    def made(*given: Any, **named: Any) -> None:
        run(*given, **named)
        die()

    return made


def die_at(point: str, ledger: Ledger) -> None:
    """Kill this process when it gets there."""
    if point == "before the delta":
        files.Folder.write = die  # type: ignore[method-assign]
    elif point == "in the delta":
        ParquetWriter.write_batch = after(ParquetWriter.write_batch)
    elif point == "between two syncs":
        files._sync = after(files._sync)
    elif point == "before the sync":
        files.Folder.write = after(files.Folder.write)  # type: ignore[method-assign]
    elif point == "before the commit":
        files.Folder.settle = after(files.Folder.settle)  # type: ignore[method-assign]
    elif point == "in the commit":
        Write.flush = after(Write.flush)  # type: ignore[method-assign]
    elif point == "after the commit":
        ledger.store.settled = die  # type: ignore[method-assign]
    elif point == "before the rows":
        _DuckPrepared.rows = die  # type: ignore[method-assign]


def admissions(people: PersonFilter, number: str, queries: str, third: Callable[[], None], table: Any) -> Iterator[str]:
    """Queries on the same three people, of a fifth of their budget each, and who was handed out; something happens
    before the third.
    """
    for count in range(int(queries)):
        if count == 2:
            third()
        key = f"{number}-{count}"
        rows = people.admit(table, b.Declared(b.ZCDP(rho="1/500")), key=key)
        yield f"{key} {''.join(one for one, _ in read(rows))}"


def main(url: str, number: str, queries: str, point: str) -> None:
    """Queries of an Arrow table."""
    with Ledger(url, alert=None) as ledger:
        people = PersonFilter(ledger, "visits", secret=SECRET)
        table = arrow([(name, 1.0) for name in "abc"])
        for line in admissions(people, number, queries, lambda: die_at(point, ledger), table):
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
