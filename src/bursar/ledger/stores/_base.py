"""The contract of a store: a few rows, read and written inside transactions that are durable when they end.

`Store.writing` gives a transaction that nobody else's overlaps on the same roots: whatever it read is still true when
it commits, and when it ends without an error what it wrote survives a power cut. `Store.reading` gives a consistent
view. Stores know nothing of privacy; tests/ledger/stores/test_store_contract.py holds them to this.

A store also knows whether it is still the one that others find under its address. Once it is not (its file was moved or
replaced, its server is another one) it is halted for good: neither a writer nor a reader takes the orphan for the
ledger. `Store.settled` asks after a commit and its anchor, before anybody is told: a copy that was opened before the
anchor was written is seen here, one that is opened later sees the anchor.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from bursar.errors import InputError, LedgerHalted
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.rows import Balance, CounterRow, DeltaRow, Head, ReservationRow, ScopeRow
from bursar.ledger.stores._work import Work


class Conflict(Exception):
    """Somebody else wrote what this transaction was about to: nothing was done, try again."""


class Occupied(Exception):
    """Somebody else is writing, and the caller did not want to wait."""


class Doubt(NamedTuple):
    """A reason to compare with the anchors; a ``certain`` one halts a ledger that has none."""

    reason: str
    certain: bool = False


class Reader(ABC):
    """What a view can tell."""

    def damage(self) -> list[str]:
        """What the store itself finds wrong with its files, where it has a way to look."""
        return []

    @abstractmethod
    def head(self, root: str) -> Head | None:
        """The end of a chain."""

    @abstractmethod
    def heads(self) -> dict[str, Head]:
        """The ends of all chains."""

    @abstractmethod
    def scope(self, name: str) -> ScopeRow | None:
        """A scope by its name; None where there is none."""

    @abstractmethod
    def scopes(self, root: str | None = None) -> list[ScopeRow]:
        """All scopes (of a root), by name."""

    @abstractmethod
    def root_under(self, name: str) -> str | None:
        """The first root whose name continues this one after a slash."""

    @abstractmethod
    def balances(self, scope: str) -> dict[str, Balance]:
        """The lines of a scope."""

    @abstractmethod
    def key(self, key: str) -> tuple[str, int] | None:
        """Where the outcome of a key is recorded: root and seq."""

    @abstractmethod
    def every_key(self) -> Iterator[tuple[str, str, int]]:
        """All keys, each with root and number of its entry."""

    @abstractmethod
    def entry(self, root: str, seq: int) -> Chained | None:
        """An entry by its root and number; None where there is none."""

    @abstractmethod
    def entries(self, root: str, after: int = 0, most: int | None = None) -> Iterator[Chained]:
        """A root's entries in order."""

    @abstractmethod
    def links(self, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Hash and kind of those of these entries that are in a root's chain."""

    @abstractmethod
    def strays(self) -> list[tuple[str, str]]:
        """(what, whose) of each row that belongs to a scope or root that does not exist, and of each count of changes
        that stands with a scope other than a root; each pair once, in order.
        """

    @abstractmethod
    def released(self, scope: str) -> list[tuple[str, int]]:
        """What was released in a scope, with counts."""

    @abstractmethod
    def reservation(self, id: str) -> ReservationRow | None:
        """A reservation by its id; None where there is none."""

    @abstractmethod
    def reservations(self, root: str) -> list[ReservationRow]:
        """All reservations of a root."""

    @abstractmethod
    def due(self, root: str, now: int) -> list[ReservationRow]:
        """Open reservations whose time has passed."""

    @abstractmethod
    def marks(self, scope: str, line: str) -> Iterator[tuple[int, int]]:
        """(tile, largest counter) of every tile of a line's blocks that is kept, in order."""

    @abstractmethod
    def largest(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, int]:
        """The largest counter of each of these tiles that is kept, without reading the others."""

    @abstractmethod
    def counters(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, CounterRow]:
        """Those of these tiles that are kept."""

    @abstractmethod
    def deltas(self, root: str, after: int = 0) -> list[DeltaRow]:
        """The files of a root with the entries that made them count, in order, after an entry."""


class Transaction(Reader):
    """What a writer can do besides."""

    whole = False
    """Whether all roots are locked from the start."""

    @abstractmethod
    def lock(self, roots: Sequence[str], keys: Sequence[str] = (), scopes: Sequence[str] = ()) -> None:
        """Keep others from writing to these roots until the end; roots are given in order. The keys and the balances of
        the scopes will be asked for: a store far away may fetch them at once.
        """

    @abstractmethod
    def append(self, chained: Chained, epoch: int) -> Head:
        """Add an entry to its chain, which then ends with what this gives back."""

    @abstractmethod
    def set_balances(self, rows: Iterable[tuple[str, str, Balance]]) -> None:
        """New states of (scope, line), which exist."""

    @abstractmethod
    def add_scope(self, row: ScopeRow, balances: Iterable[tuple[str, Balance]]) -> None:
        """A new scope with its lines."""

    @abstractmethod
    def set_scope(self, row: ScopeRow) -> None:
        """A new status or new terms."""

    @abstractmethod
    def remember(self, key: str, root: str, seq: int) -> None:
        """Keep where the outcome of a key is recorded."""

    @abstractmethod
    def add_released(self, scope: str, what: str, count: int) -> None:
        """Count a release."""

    @abstractmethod
    def set_reservation(self, row: ReservationRow) -> None:
        """A new or changed reservation."""

    @abstractmethod
    def set_counters(self, scope: str, line: str, rows: Sequence[CounterRow]) -> None:
        """New or changed tiles, written at once: there may be more of them than fit into memory."""

    @abstractmethod
    def raise_counters(self, scope: str, line: str, tiles: Sequence[int], amount: int) -> None:
        """Add to every counter of these tiles, known or new, without reading them."""

    @abstractmethod
    def add_delta(self, row: DeltaRow) -> None:
        """A file that counts from now on."""

    def flush(self) -> None:
        """Write what was gathered, where anything is; the end of the transaction does it too."""


class Store(ABC):
    """Where a ledger lives."""

    read_only = False
    """Whether it may be read and nothing else."""

    def __init__(self) -> None:
        self._pid = os.getpid()

    def _check_process(self) -> None:
        """Connections and locks do not survive a fork."""
        if os.getpid() != self._pid:
            raise InputError(
                "an open ledger cannot be used after a fork: spawn processes, or open the ledger only after the fork"
            )

    @abstractmethod
    def writing(self, wait: bool = True) -> Work[Transaction]:
        """A transaction; it commits at the end and rolls back on an error. Without ``wait`` (prompt stores only) it
        raises `Occupied` rather than wait for others.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[Reader]:
        """A consistent view."""

    def answers(self) -> None:
        """Whether it can be read now: whatever is wrong is raised. Nobody who reads for long is waited for."""
        with self.reading() as reader:
            reader.scope("?")

    @abstractmethod
    def backup(self, target: str) -> None:
        """A copy, while others go on."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def settled(self) -> None:
        """After a commit and its anchor: halt where it went to a place that nobody else finds any more."""
        if self.halted is not None:
            raise self.halted

    halted: LedgerHalted | None = None
    """Why this store is no longer the one of its address; it stays so until it is opened anew."""
    doubt: Doubt | None = None
    """Why entries may have been lost although the address is the same; whoever writes compares with the anchors first,
    and clears it.
    """
    pieced = False
    """Whether it was put together when it was opened, from a file and a log that may not belong to each other."""
    prompt = False
    """Whether everything up to the commit is answered at once, and the commit may come from another thread."""
    anchor: str | None = None
    """Where the anchors of this store are kept, unless the ledger was told otherwise."""
    other_anchors: tuple[str, ...] = ()
    """Where they may have been kept before: whatever stands there counts too."""
