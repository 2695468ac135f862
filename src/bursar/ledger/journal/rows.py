"""What tables keep beside the journal: the lines of scopes, the scopes themselves, reservations, the ends of chains."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Split(NamedTuple):
    """What is left of one split of an (ε, δ) target, in units (`bursar.ledger.budget.currencies.splits`)."""

    gaussian: int
    """Units of B²."""
    pure: int
    """Units of ε, apart from those that are held."""
    held: int
    """Units of ε that are set aside for reservations."""
    mode: int
    """How its Gaussian part has paid so far; 0 where the split has been given up."""


class Splits(NamedTuple):
    """All splits of a scope, with the target that they divide."""

    gaussian: int
    """What the undivided target allows Gaussians."""
    pure: int
    """The ε of the target."""
    epsilon: str
    """The same as a number."""
    each: tuple[Split, ...]


class Balance(NamedTuple):
    """One line's state, in units. A line of splits has no amounts of its own."""

    limit: int
    spent: int
    held: int
    splits: Splits | None = None

    @property
    def left(self) -> int:
        """What may still be charged."""
        return self.limit - self.spent - self.held


def row_of(balance: Balance) -> tuple[int, int, int, str]:
    """A balance as a table keeps it."""
    splits = "" if balance.splits is None else _encoder.encode(balance.splits).decode()
    return (balance.limit, balance.spent, balance.held, splits)


def balance_in(limit: int, spent: int, held: int, splits: str) -> Balance:
    """A balance that a table keeps; `ValueError` where it keeps something else."""
    return Balance(limit, spent, held, _decoder.decode(splits) if splits else None)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Splits)


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
