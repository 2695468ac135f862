"""How a reservation changes: draws, endings, a block that joins; functions from what was held to what is held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bursar.errors import InputError, ReservationClosed
from bursar.ledger.budget.currencies._moves import given_back
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.body import Effect, effect
from bursar.ledger.journal.held import Term, held_in, holding, listed
from bursar.ledger.journal.rows import Balance, ReservationRow

Lines = Callable[[str], Mapping[str, Balance]]
"""The lines of a scope, by its name, as they are now."""


def taken(left: Sequence[Term], what: Release | None) -> tuple[str, list[Term]]:
    """The text of the part that is drawn, and what stays."""
    counts = dict(left)
    if what is None:
        if not counts:
            raise ReservationClosed("everything that was reserved has been drawn")
        return listed(left), []
    for text, count in what.terms:
        if counts.get(text, 0) < count:
            raise InputError(
                f"{count} × {text} is not part of what is left of the reservation: {listed(left) or 'nothing'}",
                argument="amount",
            )
        counts[text] -= count
    return what.text, [(text, count) for text, count in counts.items() if count]


def ended(row: ReservationRow, status: str, lines: Lines) -> tuple[ReservationRow, list[Effect]]:
    """A reservation that ends: what it still held returns to what is left of its lines."""
    held = held_in(row)
    effects = []
    for name, amounts in held.held.items():
        state = lines(name)
        for line, amount in amounts.items():
            if amount:
                effects.append(effect(name, line, state[line], given_back(state[line], amount)))
            amounts[line] = 0
    return holding(row, held, status), effects


def forgotten(row: ReservationRow) -> ReservationRow:
    """A reservation of which nobody knows what was drawn: it holds nothing any more, and nothing comes back."""
    held = held_in(row)
    held.held = {name: dict.fromkeys(amounts, 0) for name, amounts in held.held.items()}
    return holding(row, held, "closed")


def joined(row: ReservationRow, root: str, block: str) -> ReservationRow | None:
    """A reservation on the whole data as it is when a new block shares it; None where it is not on the whole data."""
    held = held_in(row)
    if row.status != "open" or root not in held.scopes:
        return None
    held.scopes.append(block)
    for amounts in (held.held, held.priced or {}):
        if root in amounts:
            amounts[block] = dict(amounts[root])
    return holding(row, held)
