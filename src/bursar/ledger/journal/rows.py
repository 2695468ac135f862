"""What tables keep beside the journal: the lines of scopes, the scopes themselves, reservations, the ends of chains."""

from __future__ import annotations

from typing import NamedTuple


class Balance(NamedTuple):
    """One line's state, in units."""

    limit: int
    spent: int
    held: int
    dead: bool
    window: int = 0
    """Which period ``spent`` belongs to, on scopes that start anew in each."""

    @property
    def numbers(self) -> tuple[int, int, int, int, int]:
        """The five numbers that tables and the journal keep of a line."""
        return (self.limit, self.spent, self.held, int(self.dead), self.window)

    @property
    def left(self) -> int:
        """What may still be charged."""
        return 0 if self.dead else self.limit - self.spent - self.held


class Head(NamedTuple):
    """The last entry of a root's chain, and how often its scopes were changed by a steward."""

    seq: int
    at: int
    hash: str
    epoch: int


class ScopeRow(NamedTuple):
    """A scope, apart from its balances."""

    name: str
    root: str
    parent: str
    kind: str
    currency: str
    terms: str
    """Canonical JSON of the currency's terms, of the unit, the relation and the options."""
    status: str


class CounterRow(NamedTuple):
    """One tile of a line's block counters."""

    tile: int
    most: int
    """The largest of them."""
    amounts: bytes
    """As `bursar.ledger.journal.blocks` keeps them."""


class DeltaRow(NamedTuple):
    """A file of what people were charged, by the entry that made it count."""

    root: str
    seq: int
    kind: str
    """``delta``, or a ``snapshot`` that stands for all before it."""
    path: str
    digest: str
    worst: int
    """The most that it charges anybody, by the text of the query."""


class ReservationRow(NamedTuple):
    """A reservation: what was reserved, what of it was drawn, until when."""

    id: str
    root: str
    status: str
    expires: int
    detail: str
    """What it holds, as `bursar.ledger.journal.held` writes it."""
