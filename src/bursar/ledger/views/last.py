"""The last release of a scope, from the end of the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bursar.ledger.journal.body import LOST, body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.stores._base import Reader

FAR = 1000
"""How many entries of a root are looked through; what is longer ago says little about what comes next."""
_STEP = 100


def backwards(reader: Reader, root: str, most: int = FAR, before: int | None = None) -> Iterator[Chained]:
    """A root's entries, the last one (or the last before a number) first."""
    head = reader.head(root)
    end = 0 if head is None else head.seq
    end = end if before is None else min(end, before - 1)
    stop = max(0, end - most)
    while end > stop:
        start = max(stop, end - _STEP)
        page = [one for one in reader.entries(root, start, end - start) if one.entry.seq <= end]
        yield from reversed(page)
        end = start


class Last(NamedTuple):
    """A release, and the number of its entry."""

    what: str
    seq: int


def last_release(reader: Reader, root: str, scope: str) -> Last | None:
    """What was last released in a scope; None where that is nothing, or long ago."""
    for chained in backwards(reader, root):
        body = body_in(chained.entry.body)
        if body.released is not None and body.released != LOST and scope in body.charged():
            return Last(body.released, chained.entry.seq)
    return None
