"""What moves amounts that `step` has charged before: draws, returns, new limits, corrections beyond a limit, losses.

Each is a pure function from a balance to the next one, and none of them lets a split live again.
"""

from __future__ import annotations

from bursar.ledger.budget.currencies.splits import exhausted
from bursar.ledger.journal.rows import Balance


def drawn(before: Balance, amount: int) -> Balance:
    """A part of what is held becomes spent."""
    return before._replace(spent=before.spent + amount, held=before.held - amount)


def given_back(before: Balance, kept: int) -> Balance:
    """What a reservation still held returns to what is left."""
    return before._replace(held=before.held - kept)


def relimited(before: Balance, limit: int, beyond: int) -> Balance:
    """Another limit, once what went ``beyond`` the old one is paid."""
    return before._replace(limit=limit, spent=before.spent + beyond)


def filled(before: Balance, asked: int | None = None) -> tuple[Balance, int]:
    """A line after a correction that its limit does not allow, and what went beyond; all of it where nobody knows how
    much was ``asked``.
    """
    if before.splits is not None:
        return forfeited(before), 0
    most = before.limit - before.held
    truth = most if asked is None else before.spent + asked
    after = before._replace(spent=min(truth, most))
    return after, truth - after.spent


def forfeited(before: Balance) -> Balance:
    """All that was left or held counts as spent: nobody knows what became of it."""
    if before.splits is not None:
        return before._replace(splits=exhausted(before.splits))
    return before._replace(spent=before.limit, held=0)
