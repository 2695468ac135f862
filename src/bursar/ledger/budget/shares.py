"""What is left of a scope as one number: a share of its limit.

A scope keeps several lines, and a release may have several ways to be paid. A way has as much left as the line of it
that has least; a scope has as much as the best way that is still open.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.ledger.budget.currencies import Balance, Currency
from bursar.ledger.budget.currencies._step import State


def share_left(currency: Currency, state: State) -> Fraction:
    """The share that is left: of the tightest line of the best way still open."""
    return max(min(of_line(state[line]) for line in lines) for lines in currency.ways.values())


def of_line(balance: Balance) -> Fraction:
    """The share of its limit that one line has left: none where it was given up."""
    return Fraction(balance.left, balance.limit) if balance.limit else Fraction(0)
