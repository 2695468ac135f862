"""What the SQL stores share: a transaction that reads each row once, and writes once at its end.

Rows are read when first needed and kept for the rest of the transaction, changes are gathered and written together
before the commit: a batch of charges on one scope reads and writes its lines once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bursar.errors import LedgerHalted
from bursar.ledger.journal.entry import Chained, Entry
from bursar.ledger.journal.rows import (
    Balance,
    CounterRow,
    DeltaRow,
    Head,
    ReservationRow,
    ScopeRow,
    balance_in,
    row_of,
)
from bursar.ledger.stores._base import Reader, Transaction

_ALL = 2**62
_PAGE = 1000


class SqlReader(Reader):
    """Every question as one query."""

    @abstractmethod
    def _rows(self, name: str, *values: Any) -> list[Any]:
        """Run a named query."""

    def head(self, root: str) -> Head | None:
        """The end of a chain."""
        rows = self._rows("head", root)
        if not rows:
            return None
        head = Head(*rows[0])
        if type(head.seq) is int and type(head.at) is int and type(head.hash) is str and type(head.epoch) is int:
            return head
        raise LedgerHalted(f"the last entry of {root} is damaged")  # a broken file may hold anything anywhere

    def heads(self) -> dict[str, Head]:
        """The ends of all chains."""
        found = {root: self.head(root) for (root,) in self._rows("roots")}
        return {root: head for root, head in found.items() if head is not None}

    def scope(self, name: str) -> ScopeRow | None:
        """A scope by its name."""
        rows = self._rows("scope", name)
        return ScopeRow(*rows[0]) if rows else None

    def scopes(self, root: str | None = None) -> list[ScopeRow]:
        """All scopes of a root, or of all, by name."""
        rows = self._rows("scopes") if root is None else self._rows("scopes_of", root)
        return [ScopeRow(*row) for row in rows]

    def root_under(self, name: str) -> str | None:
        """By its name: in the order of bytes, in which all names are kept, 0 comes after the slash."""
        rows = self._rows("root_under", f"{name}/", f"{name}0")
        return rows[0][0] if rows else None

    def balances(self, scope: str) -> dict[str, Balance]:
        """The lines of a scope, in order: sorting these few here is cheaper than asking for it."""
        rows = sorted(self._rows("balances", scope))
        try:
            return {row[0]: balance_in(*row[1:]) for row in rows}
        except (ValueError, TypeError) as problem:
            raise LedgerHalted(f"the balance of {scope} is damaged: {problem}") from problem

    def key(self, key: str) -> tuple[str, int] | None:
        """The root and the number of a key's entry."""
        rows = self._rows("key", key)
        return (rows[0][0], rows[0][1]) if rows else None

    def every_key(self) -> Iterator[tuple[str, str, int]]:
        """All keys with their places."""
        yield from self._rows("every_key")

    def entry(self, root: str, seq: int) -> Chained | None:
        """An entry by its root and number."""
        rows = self._rows("entry", root, seq)
        return _chained(rows[0]) if rows else None

    def entries(self, root: str, after: int = 0, most: int | None = None) -> Iterator[Chained]:
        """The entries of a root in order, read page by page."""
        left = _ALL if most is None else most
        while left > 0:
            rows = self._rows("entries", root, after, min(left, _PAGE))
            for row in rows:
                yield _chained(row)
            if len(rows) < _PAGE:
                return
            after, left = rows[-1][1], left - len(rows)

    def strays(self) -> list[tuple[str, str]]:
        """Rows of any table that belong to nothing."""
        return [(what, whose) for what, whose in self._rows("strays")]

    def released(self, scope: str) -> list[tuple[str, int]]:
        """What was released in a scope, with counts."""
        return [(what, count) for what, count in self._rows("released", scope)]

    def reservation(self, id: str) -> ReservationRow | None:
        """A reservation by its id."""
        rows = self._rows("reservation", id)
        return ReservationRow(*rows[0]) if rows else None

    def reservations(self, root: str) -> list[ReservationRow]:
        """The reservations of a root."""
        return [ReservationRow(*row) for row in self._rows("reservations", root)]

    def due(self, root: str, now: int) -> list[ReservationRow]:
        """Open and past their time."""
        return [ReservationRow(*row) for row in self._rows("due", root, now)]

    def marks(self, scope: str, line: str) -> Iterator[tuple[int, int]]:
        """The largest counter of each tile, page by page."""
        after, rows = -1, [(0, 0)]
        while rows:
            rows = self._rows("marks", scope, line, after, _PAGE)
            yield from rows
            after = rows[-1][0] if rows else after

    def deltas(self, root: str, after: int = 0) -> list[DeltaRow]:
        """The files of a root in order."""
        return [DeltaRow(*row) for row in self._rows("deltas", root, after)]


class SqlTransaction(SqlReader, Transaction):
    """Keeps what it reads, gathers what it writes."""

    def __init__(self) -> None:
        self._kept_heads: dict[str, Head | None] = {}
        self._kept_lines: dict[str, dict[str, Balance]] = {}
        self._dirty_lines: dict[tuple[str, str], None] = {}
        self._new_epochs: dict[str, int] = {}
        self._appended: dict[tuple[str, int], Chained] = {}
        self._unwritten: list[tuple[Any, ...]] = []
        self._new_keys: dict[str, tuple[str, int]] = {}
        self._unsaid: list[tuple[Any, ...]] = []
        self._asked_keys: dict[str, tuple[str, int] | None] = {}
        self._counted: dict[tuple[str, str], int] = {}

    @abstractmethod
    def _write(self, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Run a named statement once for each row."""

    def head(self, root: str) -> Head | None:
        """The end of a chain, read once in a transaction."""
        if root not in self._kept_heads:
            self._kept_heads[root] = super().head(root)
        return self._kept_heads[root]

    def balances(self, scope: str) -> dict[str, Balance]:
        """The lines of a scope, read once in a transaction."""
        if scope not in self._kept_lines:
            self._kept_lines[scope] = super().balances(scope)
        return dict(self._kept_lines[scope])

    def key(self, key: str) -> tuple[str, int] | None:
        """Also what this transaction will write."""
        if key in self._asked_keys:
            return self._new_keys.get(key) or self._asked_keys[key]
        return self._new_keys.get(key) or super().key(key)

    def entry(self, root: str, seq: int) -> Chained | None:
        """Also what this transaction will write."""
        return self._appended.get((root, seq)) or super().entry(root, seq)

    def append(self, chained: Chained, epoch: int) -> Head:
        """Gather an entry, to be written at the end."""
        entry, digest = chained
        root = entry.root
        self._appended[root, entry.seq] = chained
        self._unwritten.append((*entry, digest))
        before = self._kept_heads.get(root)
        if before is None or before.epoch != epoch:
            self._new_epochs[root] = epoch
        self._kept_heads[root] = head = Head(entry.seq, entry.at, digest, epoch)
        return head

    def set_balances(self, rows: Iterable[tuple[str, str, Balance]]) -> None:
        """Gather new states of lines, to be written at the end."""
        for scope, line, balance in rows:
            self._kept_lines.setdefault(scope, {})[line] = balance
            self._dirty_lines[scope, line] = None

    def add_scope(self, row: ScopeRow, balances: Iterable[tuple[str, Balance]]) -> None:
        """Write a new scope at once: that is rare."""
        self._write("add_scope", [tuple(row)])
        kept = dict(balances)
        self._write("add_line", [(row.name, line, *row_of(balance)) for line, balance in kept.items()])
        self._kept_lines[row.name] = kept

    def set_scope(self, row: ScopeRow) -> None:
        """Write a changed scope at once."""
        self._write("set_scope", [(row.terms, row.status, row.name)])

    def remember(self, key: str, root: str, seq: int) -> None:
        """Gather a key's place, to be written at the end."""
        self._new_keys[key] = (root, seq)
        self._unsaid.append((key, root, seq))

    def add_released(self, scope: str, what: str, count: int) -> None:
        """Gather a count, to be written at the end."""
        self._counted[scope, what] = self._counted.get((scope, what), 0) + count

    def set_reservation(self, row: ReservationRow) -> None:
        """At once: it is read again before the end."""
        self._write("set_reservation", [tuple(row)])

    def set_counters(self, scope: str, line: str, rows: Sequence[CounterRow]) -> None:
        """Write tiles at once: they are large."""
        self._write("set_counters", [(scope, line, *row) for row in rows])

    def raise_counters(self, scope: str, line: str, tiles: Sequence[int], amount: int) -> None:
        """Add to the largest counter, below which all others stay as they do."""
        self._write("raise_counters", [(scope, line, tile, amount, b"") for tile in tiles])

    def add_delta(self, row: DeltaRow) -> None:
        """Write the place of a file at once."""
        self._write("add_delta", [tuple(row)])

    def flush(self) -> None:
        """Write what was gathered; what comes afterwards is gathered anew."""
        if self._unwritten:
            self._write("append", self._unwritten)
            self._unwritten = []
        if self._unsaid:
            self._write("remember", self._unsaid)
            self._unsaid = []
        if self._dirty_lines:
            rows = [(*row_of(self._kept_lines[s][line]), s, line) for s, line in self._dirty_lines]
            self._write("set_balance", rows)
            self._dirty_lines = {}
        if self._counted:
            self._write("add_released", [(*place, count) for place, count in sorted(self._counted.items())])
            self._counted = {}
        if self._new_epochs:
            self._write("set_epoch", [(epoch, root) for root, epoch in self._new_epochs.items()])
            self._new_epochs = {}


def _chained(row: Sequence[Any]) -> Chained:
    return Chained(Entry(*row[:8]), row[8])
