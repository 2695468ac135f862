"""The store for tests of your own: nothing outlives the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bursar.errors import InputError, StorageFailed
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.rows import CounterRow, DeltaRow, Head, ReservationRow, ScopeRow
from bursar.ledger.stores._base import Reader, Store, Transaction
from bursar.ledger.stores._work import work


class MemoryReader(Reader):
    """Dictionaries, one for each table."""

    def __init__(self) -> None:
        self._heads: dict[str, Head] = {}
        self._scopes: dict[str, ScopeRow] = {}
        self._lines: dict[str, dict[str, Balance]] = {}
        self._keys: dict[str, tuple[str, int]] = {}
        self._journal: dict[str, list[Chained]] = {}
        self._released: dict[str, dict[str, int]] = {}
        self._reservations: dict[str, ReservationRow] = {}
        self._counters: dict[tuple[str, str], dict[int, CounterRow]] = {}
        self._deltas: dict[tuple[str, int], DeltaRow] = {}

    def head(self, root: str) -> Head | None:
        """The end of a chain."""
        return self._heads.get(root)

    def heads(self) -> dict[str, Head]:
        """The ends of all chains."""
        return dict(sorted(self._heads.items()))

    def scope(self, name: str) -> ScopeRow | None:
        """A scope by its name."""
        return self._scopes.get(name)

    def scopes(self, root: str | None = None) -> list[ScopeRow]:
        """All scopes of a root, or of all, by name."""
        return sorted(row for row in self._scopes.values() if root in (None, row.root))

    def root_under(self, name: str) -> str | None:
        """The first root whose name continues this one."""
        roots = (row.name for row in self._scopes.values() if row.kind == "root")
        return min((root for root in roots if root.startswith(f"{name}/")), default=None)

    def balances(self, scope: str) -> dict[str, Balance]:
        """The lines of a scope."""
        return dict(sorted(self._lines.get(scope, {}).items()))

    def key(self, key: str) -> tuple[str, int] | None:
        """The root and the number of a key's entry."""
        return self._keys.get(key)

    def every_key(self) -> Iterator[tuple[str, str, int]]:
        """All keys with their places."""
        for key, (root, seq) in sorted(self._keys.items()):
            yield key, root, seq

    def entry(self, root: str, seq: int) -> Chained | None:
        """An entry by its root and number."""
        return next((row for row in self._journal.get(root, []) if row.entry.seq == seq), None)

    def entries(self, root: str, after: int = 0, most: int | None = None) -> Iterator[Chained]:
        """The entries of a root in order."""
        rows = [row for row in self._journal.get(root, []) if row.entry.seq > after]
        yield from rows if most is None else rows[:most]

    def links(self, root: str, seqs: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The hash and kind of entries of a chain."""
        wanted = set(seqs)
        rows = (row for row in self._journal.get(root, []) if row.entry.seq in wanted)
        return {row.entry.seq: (row.hash, row.entry.kind) for row in rows}

    def strays(self) -> list[tuple[str, str]]:
        """Of every table; counts of changes stand with roots only, here."""
        rows = self._scopes.values()
        roots = {row.name for row in rows if row.kind == "root"}
        found = [("balance", name) for name in self._lines.keys() - self._scopes.keys()]
        found += [("list of releases", name) for name in self._released.keys() - self._scopes.keys()]
        found += [(f"reservation {row.id}", row.root) for row in self._reservations.values() if row.root not in roots]
        found += [(f"scope {row.name}", row.root) for row in rows if row.root not in roots]
        found += [(f"scope {row.name}", row.parent) for row in rows if row.parent and row.parent not in self._scopes]
        found += [("block counter", name) for name, _ in self._counters if name not in self._scopes]
        found += [("delta", root) for root, _ in self._deltas if root not in roots]
        return sorted(set(found))

    def released(self, scope: str) -> list[tuple[str, int]]:
        """What was released in a scope, with counts."""
        return sorted(self._released.get(scope, {}).items())

    def reservation(self, id: str) -> ReservationRow | None:
        """A reservation by its id."""
        return self._reservations.get(id)

    def reservations(self, root: str) -> list[ReservationRow]:
        """The reservations of a root."""
        return sorted(row for row in self._reservations.values() if row.root == root)

    def due(self, root: str, now: int) -> list[ReservationRow]:
        """Open and past their time."""
        return [row for row in self.reservations(root) if row.status == "open" and row.expires <= now]

    def marks(self, scope: str, line: str) -> Iterator[tuple[int, int]]:
        """The largest counter of each tile."""
        for tile, row in sorted(self._counters.get((scope, line), {}).items()):
            yield tile, row.most

    def largest(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, int]:
        """The largest counter of some tiles."""
        return {tile: row.most for tile, row in self.counters(scope, line, tiles).items()}

    def counters(self, scope: str, line: str, tiles: Sequence[int]) -> dict[int, CounterRow]:
        """Some tiles of a line."""
        known = self._counters.get((scope, line), {})
        return {tile: known[tile] for tile in tiles if tile in known}

    def deltas(self, root: str, after: int = 0) -> list[DeltaRow]:
        """The files of a root in order."""
        return sorted(row for row in self._deltas.values() if row.root == root and row.seq > after)


class MemoryTransaction(MemoryReader, Transaction):
    """Writes at once, and remembers how to undo."""

    whole = True

    def __init__(self) -> None:
        super().__init__()
        self.undo: list[Callable[[], object]] = []

    def lock(self, roots: Sequence[str], keys: Sequence[str] = (), scopes: Sequence[str] = ()) -> None:
        """Nothing more to lock: the store has one writer at a time."""

    def append(self, chained: Chained, epoch: int) -> Head:
        """Add an entry at the end of its root's list."""
        entry, digest = chained
        rows = self._journal.setdefault(entry.root, [])
        rows.append(chained)
        self.undo.append(rows.pop)
        head = Head(entry.seq, entry.at, digest, epoch)
        self._put(self._heads, entry.root, head)
        return head

    def set_balances(self, rows: Iterable[tuple[str, str, Balance]]) -> None:
        """Checked as the other stores' constraints do."""
        for scope, line, balance in rows:
            splits = () if balance.splits is None else balance.splits.each
            below = min(*balance[:3], *(number for split in splits for number in split)) < 0
            if below or balance.spent + balance.held > balance.limit:
                raise StorageFailed(f"{scope}.{line} would exceed its limit")
            self._put(self._lines[scope], line, balance)

    def add_scope(self, row: ScopeRow, balances: Iterable[tuple[str, Balance]]) -> None:
        """A new scope."""
        if row.name in self._scopes:
            raise StorageFailed(f"scope {row.name} exists")
        self._put(self._scopes, row.name, row)
        self._put(self._lines, row.name, dict(balances))

    def set_scope(self, row: ScopeRow) -> None:
        """A changed scope."""
        self._put(self._scopes, row.name, row)

    def remember(self, key: str, root: str, seq: int) -> None:
        """Keep the place of a new key."""
        if key in self._keys:
            raise StorageFailed(f"key {key} exists")
        self._put(self._keys, key, (root, seq))

    def add_released(self, scope: str, what: str, count: int) -> None:
        """Add to the count of a release."""
        counts = self._released.setdefault(scope, {})
        self._put(counts, what, counts.get(what, 0) + count)

    def set_reservation(self, row: ReservationRow) -> None:
        """Keep a reservation, new or changed."""
        self._put(self._reservations, row.id, row)

    def set_counters(self, scope: str, line: str, rows: Sequence[CounterRow]) -> None:
        """Keep tiles, new or changed."""
        known = self._counters.setdefault((scope, line), {})
        for row in rows:
            self._put(known, row.tile, row)

    def raise_counters(self, scope: str, line: str, tiles: Sequence[int], amount: int) -> None:
        """Add to the largest counter of each."""
        known = self._counters.setdefault((scope, line), {})
        for tile in tiles:
            before = known.get(tile, CounterRow(tile, 0, b""))
            self._put(known, tile, before._replace(most=before.most + amount))

    def add_delta(self, row: DeltaRow) -> None:
        """Keep a file's place."""
        self._put(self._deltas, (row.root, row.seq), row)

    def _put(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        if key in table:
            before = table[key]
            self.undo.append(lambda: table.__setitem__(key, before))
        else:
            self.undo.append(lambda: table.pop(key, None))
        table[key] = value


class MemoryStore(Store):
    """All in this process."""

    def __init__(self) -> None:
        super().__init__()
        self._tables = MemoryTransaction()
        self._lock = threading.RLock()

    @work
    def writing(self, wait: bool = True) -> Generator[Transaction, None, None]:
        """One at a time; undone on an error."""
        with self._lock:
            self._tables.undo.clear()
            try:
                yield self._tables
            except BaseException:
                while self._tables.undo:
                    self._tables.undo.pop()()
                raise

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """The same tables, while nobody writes."""
        with self._lock:
            yield self._tables

    def backup(self, target: str) -> None:
        """Refuse: nothing outlives the process."""
        raise InputError("a memory ledger has no backup: open one with sqlite:///…", argument="target")

    def close(self) -> None:
        """Nothing to let go of: no file is open."""
