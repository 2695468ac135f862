"""The body of an entry: what was asked, and everything that it changed. Read and written here and nowhere else.

The fields stand in the order in which the journal has them: the effects first, the request last and as it was given, so
that a replay compares texts. What an entry does not say is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bursar.ledger.journal.rows import Balance, ReservationRow, ScopeRow

LOST = "unknown releases: entries were lost"
"""What is released by an entry that restores a ledger: what its scopes have cost is not known any more."""


class Effect(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How one line of a scope changed, in units."""

    scope: str
    line: str
    before: Balance
    """The line as the entry found it."""
    after: Balance
    """The line as the entry left it."""


def effect(scope: str, line: str, before: Balance, after: Balance) -> Effect:
    """A change of one line."""
    return Effect(scope, line, before, after)


def effects_of(scope: str, before: Mapping[str, Balance], after: Mapping[str, Balance]) -> list[Effect]:
    """What a step changes; one row at least, which says where this was released."""
    rows = [effect(scope, line, was, after[line]) for line, was in before.items() if was != after[line]]
    if not rows:
        line, was = next(iter(before.items()))
        rows = [effect(scope, line, was, was)]
    return rows


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A reservation as it is after an entry."""

    id: str
    status: str
    expires: str
    detail: str

    def row(self, root: str) -> ReservationRow:
        """The reservation as a table keeps it, in the root of its entry."""
        return ReservationRow(self.id, root, self.status, int(self.expires), self.detail)


def kept(row: ReservationRow) -> Kept:
    """A reservation's row as the journal keeps it."""
    return Kept(row.id, row.status, str(row.expires), row.detail)


class Short(msgspec.Struct, frozen=True, array_like=True):
    """Why a request was refused: which line of which scope had not enough left, in units."""

    scope: str
    line: str
    asked: str
    spent: str
    held: str
    limit: str
    left: str

    def numbers(self) -> dict[str, int]:
        """The amounts by name."""
        return {name: int(getattr(self, name)) for name in ("asked", "spent", "held", "limit", "left")}


class Basis(msgspec.Struct, frozen=True, array_like=True):
    """What an engine found of a composed release, on which its price rests: no later engine can change that price."""

    what: str
    at: str
    """The cut of its profile, or the δ at which it is priced."""
    version: int
    numbers: str
    """The points of its profile, or the ends of an interval that holds its ε: floats, with spaces between them."""


class Gone(msgspec.Struct, frozen=True):
    """What a restored ledger had lost: up to which entry, and why it goes on."""

    anchor: tuple[str, str]
    reason: str


class Charge(msgspec.Struct, frozen=True, array_like=True):
    """What a charge added to every block of a box: a half-open range for each dimension, and units on each line."""

    ranges: list[tuple[int, int]]
    amounts: dict[str, int]


class Exhausted(msgspec.Struct, frozen=True, array_like=True):
    """The blocks for which a charge was refused: how many there are, and the first of them."""

    count: int
    first: list[list[int]]


class Delta(msgspec.Struct, frozen=True, array_like=True):
    """A file of what people were charged, outside the ledger: private, and known here by its hash alone."""

    kind: str
    """``delta``, or a ``snapshot`` that stands for all before it."""
    path: str
    digest: str
    worst: int
    """The most that it charges anybody, by the text of the query."""


class Counts(msgspec.Struct, frozen=True, array_like=True):
    """Numbers of people with noise, which were released by their entry: those with too little left, and the others."""

    exhausted: int
    others: int
    cost: int
    """What everybody was charged for it."""


class Body(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Everything that an entry says beside its place in the chain."""

    effect: list[Effect]
    approved_by: str | None = None
    bases: list[Basis] | None = None
    blocks: Charge | None = None
    certificate: int | None = None
    """The version of the certificates on which a charge rests."""
    consent: str | None = None
    corrects: tuple[str, int] | None = None
    counts: Counts | None = None
    delta: Delta | None = None
    exhausted: Exhausted | None = None
    imported: list[str] | None = None
    inherited: list[tuple[str, int]] | None = None
    """What had been released on the whole data when a block of it was opened."""
    lost: Gone | None = None
    opening: list[str] | None = None
    """What had been released before a scope was opened."""
    overdrawn: list[str] | None = None
    reason: str | None = None
    refusal: Short | None = None
    released: str | None = None
    reservation: Kept | None = None
    reservations: list[Kept] | None = None
    """Others that changed with it."""
    scopes: list[ScopeRow] | None = None
    """New or changed ones."""
    request: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))

    def asked(self) -> dict[str, Any]:
        """The request, read; empty where nobody asked."""
        found: dict[str, Any] | None = msgspec.json.decode(self.request)
        return found or {}

    def charged(self) -> list[str]:
        """The scopes of its effects, each once."""
        return list(dict.fromkeys(effect.scope for effect in self.effect))


class Draft(msgspec.Struct, eq=False):
    """An entry to be written: its kind, the root in whose chain it stands, and its body but for the request."""

    kind: str
    root: str
    body: Body
    above: int = 0
    """Entries up to this number are known to have been lost: it takes a later one."""


def text_of(body: Body) -> str:
    """The body as the journal has it."""
    return _encoder.encode(body).decode()


def body_in(text: str) -> Body:
    """A body that the journal has; `ValueError` where it is none."""
    return _decoder.decode(text)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Body)
