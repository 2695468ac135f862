"""How a reservation changes: draws, endings, a block that joins; functions from what was held to what is held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bursar.errors import InputError
from bursar.ledger.budget.currencies._moves import given_back
from bursar.ledger.budget.release import Release, spelled
from bursar.ledger.journal.body import Effect, effect
from bursar.ledger.journal.held import Term, held_in, holding, listed
from bursar.ledger.journal.rows import Balance, ReservationRow
from bursar.mechanisms import PATTERNS

Lines = Callable[[str], Mapping[str, Balance]]
"""The lines of a scope, by its name, as they are now."""


def as_reserved(left: Sequence[Term], what: Release) -> list[Term]:
    """The terms of a part by the texts with which they were reserved: numbers may have been written otherwise, as
    reservations of earlier versions have all of them as ratios.
    """
    texts = {text for text, _ in left}
    if all(text in texts for text, _ in what.terms):
        return list(what.terms)
    known = {spelled(text): text for text in texts}
    return [(text if text in texts else known.get(spelled(text), text), count) for text, count in what.terms]


def taken(left: Sequence[Term], parts: Sequence[Term]) -> list[Term]:
    """What stays of a reservation when these parts are drawn."""
    counts = dict(left)
    for text, count in parts:
        if counts.get(text, 0) < count:
            raise InputError(
                f"{count} × {text} is not part of what is left of the reservation: {listed(left) or 'nothing'}"
                + _whole_only(left),
                argument="amount",
            )
        counts[text] -= count
    return [(text, count) for text, count in counts.items() if count]


def _whole_only(left: Sequence[Term]) -> str:
    """What to draw instead of a step, where epochs are patterns: no part of one costs less than the whole."""
    pattern = next((text for text, _ in left if any(f"{name}(" in text for name in PATTERNS)), None)
    if pattern is None:
        return ""
    return f"; an epoch is drawn whole, before its first step: draw {pattern}"


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
