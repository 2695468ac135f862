"""What a reservation holds, as the journal and the tables keep it: one reader, one writer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bursar.ledger.journal.entry import canonical
from bursar.ledger.journal.rows import ReservationRow

Term = tuple[str, int]
"""A mechanism's text, and how many of it."""


class Held(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The declared composition, what of it is left, and what each line holds for that."""

    held: dict[str, dict[str, int]]
    """By scope and line, in units."""
    left: list[Term]
    """What has not been drawn."""
    scopes: list[str]
    """Every scope that it was charged to."""
    named: list[str]
    """The scopes that were named."""
    fixed: bool = False
    """Whether a part was spent at once, and is not given back."""
    priced: dict[str, dict[str, int]] = {}
    """By scope and measure, which of ``units`` is its list of prices."""
    splits: dict[str, list[list[int]]] = {}
    """By scope, the terms that each split holds on its pure part; all others it has spent at once."""
    terms: list[str] = []
    """What ``units`` lists prices of."""
    units: list[list[int]] = []

    def of(self, scope: str) -> dict[str, int]:
        """What each line of a scope holds."""
        return self.held.get(scope, {})

    def holds(self, scope: str) -> bool:
        """Whether a scope would get something back."""
        return any(self.of(scope).values()) or any(self.on_splits(scope, self.left))

    def unit_prices(self, scope: str, measure: str) -> dict[str, int]:
        """What one release of each term costs on a measure, by the term's text."""
        return dict(zip(self.terms, self.units[self.priced[scope][measure]], strict=True))

    def on_splits(self, scope: str, parts: Sequence[Term]) -> list[int]:
        """How much each split of a scope holds for a part of the composition; empty where nothing is held so."""
        held = self.splits.get(scope)
        if held is None:
            return []
        units = self.unit_prices(scope, "pure")
        names = [{self.terms[term] for term in terms} for terms in held]
        return [sum(count * units[text] for text, count in parts if text in name) for name in names]


def held_in(row: ReservationRow) -> Held:
    """What a reservation holds."""
    return detail_of(row.detail)


def detail_of(detail: str) -> Held:
    """The same from its text; `ValueError` where it is none."""
    return _decoder.decode(detail)


_decoder = msgspec.json.Decoder(Held)


def holding(row: ReservationRow, held: Held, status: str | None = None) -> ReservationRow:
    """A reservation that holds something else now."""
    return row._replace(detail=canonical(held), status=row.status if status is None else status)


def listed(left: Sequence[Term]) -> str:
    """Terms with their counts as a composition's text has them."""
    return " + ".join(text if count == 1 else f"{text}*{count}" for text, count in left)
