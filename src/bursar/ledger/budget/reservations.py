"""How a reservation changes: draws, endings, a block that joins. What is given as `Held` is changed in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from bursar.errors import InputError
from bursar.ledger.budget.currencies._moves import drawn as spent
from bursar.ledger.budget.currencies._moves import given_back as returned
from bursar.ledger.budget.currencies.splits import LINE, moved
from bursar.ledger.budget.release import Release, spelled
from bursar.ledger.journal.body import Effect, effect
from bursar.ledger.journal.held import Held, Term, held_in, holding, listed
from bursar.ledger.journal.rows import Balance, ReservationRow
from bursar.mechanisms import PATTERNS

Lines = Callable[[str], Mapping[str, Balance]]
"""The lines of a scope, by its name, as they are now."""


def as_reserved(left: Sequence[Term], what: Release) -> list[Term]:
    """The terms of a part by the texts with which they were reserved: numbers may have been written otherwise."""
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


def holds(state: Mapping[str, Balance]) -> bool:
    """Whether reservations hold something of these lines."""
    return any(
        balance.held or (balance.splits is not None and any(split.held for split in balance.splits.each))
        for balance in state.values()
    )


def given_back(held: Held, scope: str, state: Mapping[str, Balance]) -> dict[str, Balance]:
    """The lines to which a scope's part of a reservation returns."""
    after = {line: returned(state[line], amount) for line, amount in held.of(scope).items() if amount}
    return after | _on_splits(held, scope, state, held.left, back=True)


def drawn(held: Held, scope: str, state: Mapping[str, Balance], parts: Sequence[Term]) -> dict[str, Balance]:
    """The lines of a scope after a part of a reservation is spent, which it holds no more."""
    after = {}
    for line, amount in held.of(scope).items():
        units = held.unit_prices(scope, line)
        asked = sum(count * units[text] for text, count in parts)
        held.held[scope][line] = amount - asked
        after[line] = spent(state[line], asked)
    return after | _on_splits(held, scope, state, parts, back=False)


def share_moved(before: Balance, after: Balance) -> Fraction:
    """The share of its limit that a draw moves from held to spent on a line."""
    if before.splits is None or after.splits is None:
        return Fraction(before.held - after.held, before.limit or 1)
    moves = [one.held - other.held for one, other in zip(before.splits.each, after.splits.each, strict=True)]
    return Fraction(max(moves), before.splits.pure or 1)


def _on_splits(
    held: Held, scope: str, state: Mapping[str, Balance], parts: Sequence[Term], *, back: bool
) -> dict[str, Balance]:
    balance = state.get(LINE)
    if balance is None or balance.splits is None or not (amounts := held.on_splits(scope, parts)):
        return {}
    return {LINE: balance._replace(splits=moved(balance.splits, amounts, back=back))}


def ended(row: ReservationRow, status: str, lines: Lines) -> tuple[ReservationRow, list[Effect]]:
    """A reservation that ends: what it still held returns to what is left of its lines."""
    held = held_in(row)
    effects = []
    for name in dict.fromkeys([*held.held, *held.splits]):
        state = lines(name)
        after = given_back(held, name, state)
        effects += [effect(name, line, state[line], balance) for line, balance in after.items()]
    return holding(row, _empty(held), status), effects


def _empty(held: Held) -> Held:
    """The same where nothing is held any more."""
    held.held = {name: dict.fromkeys(amounts, 0) for name, amounts in held.held.items()}
    held.splits = {}
    return held


def forgotten(row: ReservationRow) -> ReservationRow:
    """A reservation of which nobody knows what was drawn: it holds nothing any more, and nothing comes back."""
    return holding(row, _empty(held_in(row)), "closed")


def joined(row: ReservationRow, root: str, block: str) -> ReservationRow | None:
    """A reservation on the whole data as it is when a new block shares it; None where it is not on the whole data."""
    held = held_in(row)
    if row.status != "open" or root not in held.scopes:
        return None
    held.scopes.append(block)
    for amounts in (held.held, held.priced):
        if root in amounts:
            amounts[block] = dict(amounts[root])
    if root in held.splits:
        held.splits[block] = held.splits[root]
    return holding(row, held)
