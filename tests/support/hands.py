"""What tests of the verbs share: a release, a clock, a look at what is left."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger

TENTH = b.Laplace(scale=10)
FACTS: dict[str, Any] = {
    "data_curators": ["The Bureau"],
    "intended_use": "Planning of schools",
    "data_product_type": "Summary statistics",
    "data_product_region": "Norway",
    "description": "Counts by district: people, households",
    "publication_date": "2026-07-01",
}
"""What no ledger knows, and the registry wants."""


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000_000

    def __call__(self) -> int:
        """The time now."""
        return self.now


def left(ledger: Ledger, scope: str, line: str = "epsilon") -> Fraction:
    """What a line has left."""
    return ledger.show(scope).line(line).left


def agreed(ledger: Ledger, entry: object, what: object, **more: Any) -> b.Receipt:
    """A correction that does more than charge its release: refused first, then made with the consent to that."""
    with pytest.raises(b.errors.ConsentNeeded) as price:
        ledger.correct(entry, what, **more)
    return ledger.correct(entry, what, **more, consent=price.value.consent)


def brought_in(ledger: Ledger, scope: str, table: str, **more: Any) -> b.Receipt:
    """Past releases, whatever they do beyond their price."""
    try:
        return ledger.bring_in(scope, table, **more)
    except b.errors.ConsentNeeded as price:
        return ledger.bring_in(scope, table, **more, consent=price.consent)
