"""The end of a chain against the tables.

SQLite puts a file together from its pages and those of the log that stands beside it. Put a backup in a file's place
and leave the log there, and the two are of different times: the journal may end where it should while a balance is the
backup's. What the last entries of each root left must therefore be what its tables say; `verify` looks at all of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bursar.errors import LedgerHalted
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.rows import Balance
from bursar.ledger.stores._base import Reader

_BACK = 5  # entries


def check_tails(reader: Reader, roots: Iterable[str]) -> None:
    """Halt where a balance is not what the last entry that changed it has left."""
    for root in roots:
        for (scope, line), left in _left(reader, root).items():
            balance = reader.balances(scope).get(line)
            if balance != left:
                raise LedgerHalted(
                    f"the balance of {scope}.{line} is not what the last entries of {root} left: the log beside the "
                    "file belongs to another one (a copy was put in the file's place, and its log was not removed), or "
                    "somebody changed it. Find the right file with its log, or remove the -wal and -shm files and "
                    "accept the loss with `bursar ledger restore --assume-spent`"
                )


def _left(reader: Reader, root: str) -> dict[tuple[str, str], Balance]:
    """What the last entries say of the lines they changed."""
    head = reader.head(root)
    found: dict[tuple[str, str], Balance] = {}
    for chained in reader.entries(root, 0 if head is None else max(0, head.seq - _BACK)):
        try:
            for one in body_in(chained.entry.body).effect:
                found[one.scope, one.line] = one.after
        except ValueError as problem:
            raise LedgerHalted(f"{root}: entry {chained.entry.seq} cannot be read: {problem!r}") from problem
    return found
