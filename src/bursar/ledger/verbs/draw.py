"""Draw: spend a part of what was reserved. Close: give back what was not drawn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

from bursar.errors import ReservationClosed, ReservationExpired
from bursar.ledger.arguments import reservation_id, said_if, with_reason
from bursar.ledger.budget.refusals import within_share
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.reservations import as_reserved, drawn, share_moved, taken
from bursar.ledger.commit.catalogue import usable
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Body, Draft, Effect, effect, kept
from bursar.ledger.journal.held import held_in, holding, listed
from bursar.ledger.journal.rows import ReservationRow
from bursar.ledger.receipt import Reservation
from bursar.ledger.verbs._base import Told


class Draw(Told, frozen=True):
    """A part of a reservation, or all that is left of it."""

    name: ClassVar[str] = "draw"
    reservation: str
    part: Release | None
    cap: Fraction | None = None
    """The largest share of any limit that it may take; None where there is no such rule."""
    reason: str | None = None

    @property
    def held_by(self) -> str | None:
        """The reservation that it draws from or ends."""
        return self.reservation

    def fields(self) -> dict[str, Any]:
        """Which one, and what of it, and the reason if there is one."""
        asked = {"reservation": self.reservation, "what": None if self.part is None else self.part.text}
        return with_reason(asked, self.reason)

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Turn a part of what is held into spent."""
        row = open_one(posting, self.reservation)
        held = held_in(row)
        for name in [*held.scopes, row.root]:
            usable(posting.scope(name))
        if not held.left and self.part is None:
            raise ReservationClosed("everything that was reserved has been drawn")
        parts = held.left if self.part is None else as_reserved(held.left, self.part)
        text, left = listed(parts) if self.part is None else self.part.text, taken(held.left, parts)
        effects: list[Effect] = []
        for name in held.scopes:
            scope = posting.scope(name)
            state = posting.lines(scope)
            after = drawn(held, name, state, parts)
            for line, balance in after.items():
                within_share(self.cap, share_moved(state[line], balance), name)
            effects += [effect(name, line, state[line], balance) for line, balance in after.items()]
        effects += _mentioned(posting, set(held.scopes) - {one.scope for one in effects}, held.scopes)
        held.left = left
        body = Body(effect=effects, released=text, reservation=kept(holding(row, held)))
        return [Draft("draw", row.root, body)]


def draw(
    reservation: str | Reservation, amount: Any = None, cap: Fraction | None = None, reason: str | None = None
) -> Draw:
    """A draw as people give it."""
    part = None if amount is None else release_of(amount)
    return Draw(reservation_id(reservation), part, cap, said_if(reason))


class Close(Told, frozen=True):
    """The end of a reservation."""

    name: ClassVar[str] = "close"
    reservation: str

    @property
    def held_by(self) -> str | None:
        """The reservation that it draws from or ends."""
        return self.reservation

    def fields(self) -> dict[str, Any]:
        """Which reservation is to end."""
        return {"reservation": self.reservation}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Give back what was not drawn."""
        return [posting.ending(open_one(posting, self.reservation), "closed")]


def open_one(posting: Posting, id: str) -> ReservationRow:
    """A reservation that can still be drawn from."""
    row = posting.rows.reservation(id)
    if row is None:
        raise ReservationClosed(f"there is no reservation {id!r}")
    posting.expire(row.root)
    if row.status == "expired" or (row.status == "open" and row.expires <= posting.now):
        raise ReservationExpired(f"reservation {id} has expired: what it held was given back")
    if row.status != "open":
        raise ReservationClosed(f"reservation {id} is closed")
    return row


def cancel(posting: Posting, root: str, names: set[str]) -> None:
    """Close the reservations that hold something of these scopes; what was not drawn never ran, so it comes back."""
    for row in posting.rows.reservations(root):
        if row.status == "open" and any(map(held_in(row).holds, names)):
            posting.post(posting.ending(row, "closed"))


def _mentioned(posting: Posting, silent: set[str], names: Sequence[str]) -> list[Effect]:
    """A line of each scope in which all was spent when it was reserved: the entry still says what was released."""
    rows = []
    for name in names:
        if name in silent:
            line, balance = next(iter(posting.lines(posting.scope(name)).items()))
            rows.append(effect(name, line, balance, balance))
    return rows
