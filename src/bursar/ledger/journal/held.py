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
    fixed: bool | None = None
    """Whether a part was spent at once, and is not given back."""
    named: list[str] | None = None
    """The scopes that were named; the first ledgers did not write them."""
    priced: dict[str, dict[str, int]] | None = None
    """By scope and line, which of ``units`` is its list of prices; the first ledgers did not keep prices."""
    terms: list[str] | None = None
    """What ``units`` lists prices of."""
    units: list[list[int]] | None = None

    def of(self, scope: str) -> dict[str, int]:
        """What each line of a scope holds."""
        return self.held.get(scope, {})

    def holds(self, scope: str) -> bool:
        """Whether a scope would get something back."""
        return any(self.of(scope).values())

    def unit_prices(self, scope: str, line: str) -> dict[str, int] | None:
        """What one release of each term costs on a line, by the term's text; None where that was not kept."""
        if self.priced is None or self.terms is None or self.units is None:
            return None
        return dict(zip(self.terms, self.units[self.priced[scope][line]], strict=True))


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
