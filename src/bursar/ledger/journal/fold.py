"""The fold: what an entry changes, and what a journal adds up to.

`changes_of` says what one entry does to the tables, from the entry alone. Whoever writes an entry applies exactly that
to the store (`bursar.ledger.commit.posting`); whoever verifies applies it to `Books`, which also check that each entry
starts from the state that the ones before it left, and that no line ever exceeds its limit.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from bursar.ledger.journal.body import Body, Charge
from bursar.ledger.journal.rows import Balance, DeltaRow, ReservationRow, ScopeRow
from bursar.ledger.journal.rules import NOTHING, broken


class Changes(NamedTuple):
    """What an entry does to the tables, apart from the lines, which are its effects."""

    scopes: list[ScopeRow]
    reservations: list[ReservationRow]
    released: list[tuple[str, str, int]]
    """(scope, what, how often) to be counted."""
    epoch: int
    """How often the root's scopes have been changed by then."""
    blocks: Charge | None
    """What is added to the root's blocks."""
    delta: DeltaRow | None
    """The file that counts from now on."""


def changes_of(root: str, seq: int, kind: str, body: Body, epoch: int) -> Changes:
    """What an entry with this number changes, after ``epoch`` changes of the root's scopes."""
    reservations = []
    if body.reservation is not None:
        reservations.append(body.reservation.row(root))
    for one in body.reservations or ():
        reservations.append(one.row(root))
    delta = None if body.delta is None else DeltaRow(root, seq, *msgspec.structs.astuple(body.delta))
    changed = body.scopes or [], reservations, _released(body), _epoch(seq, kind, body, epoch)
    return Changes(*changed, body.blocks, delta)


def _released(body: Body) -> list[tuple[str, str, int]]:
    """What was released where."""
    if body.released is not None:
        what = body.released
        if len(body.effect) == 1:
            return [(body.effect[0].scope, what, 1)]
        return [(scope, what, 1) for scope in body.charged()]
    pairs = [(what, 1) for what in body.imported or body.opening or ()]
    pairs += body.inherited or ()
    return [(scope, what, count) for scope in body.charged() for what, count in pairs] if pairs else []


def _epoch(seq: int, kind: str, body: Body, epoch: int) -> int:
    if kind == "restore" and body.scopes is not None:
        return seq  # more changes than any process can have seen of the history that is lost
    return epoch + (body.scopes is not None)


class Books:
    """Scopes, lines, reservations, keys and releases of one root, from its entries alone."""

    def __init__(self, keys: dict[str, tuple[str, int]] | None = None) -> None:
        self.scopes: dict[str, ScopeRow] = {}
        self.lines: dict[tuple[str, str], Balance] = {}
        self.reservations: dict[str, ReservationRow] = {}
        self.keys: dict[str, tuple[str, int]] = {} if keys is None else keys
        """Shared by all roots: the first entry of a key answers for it."""
        self.released: dict[tuple[str, str], int] = {}
        self.charges: list[Charge] = []
        """What was added to the root's blocks, in order."""
        self.deltas: list[DeltaRow] = []
        self.problems: list[str] = []
        self.epoch = 0

    def apply(self, root: str, seq: int, kind: str, key: str, body: Body) -> None:
        """Add one entry, and note what is wrong with it."""
        self.problems += [f"entry {seq} {wrong}" for wrong in broken(kind, body)]
        for row in body.effect:
            if row.before != self.lines.get((row.scope, row.line), NOTHING):
                self.problems.append(f"entry {seq} does not start from what {row.scope}.{row.line} was")
            self.lines[row.scope, row.line] = row.after
        changes = changes_of(root, seq, kind, body, self.epoch)
        self.epoch = changes.epoch
        for scope, what, count in changes.released:
            self.released[scope, what] = self.released.get((scope, what), 0) + count
        for given in changes.scopes:
            self.scopes[given.name] = given
        for reservation in changes.reservations:
            self.reservations[reservation.id] = reservation
        if changes.blocks is not None:
            self.charges.append(changes.blocks)
        if changes.delta is not None:
            self.deltas.append(changes.delta)
        if key:
            self.keys.setdefault(key, (root, seq))
