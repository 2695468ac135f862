"""Where a person filter meets its ledger: what the journal says now, what a key was answered with, and the commit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.cohorts.people.charges import limit_of
from bursar.cohorts.people.commit import Commit, LostRace, counted
from bursar.cohorts.people.files import Folder
from bursar.cohorts.people.objects import settled
from bursar.cohorts.people.units import MOST, NANO
from bursar.errors import CurrencyMismatch
from bursar.ledger.arguments import key_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Delta, body_in
from bursar.ledger.journal.rows import DeltaRow
from bursar.ledger.ledger import Ledger

_NOWHERE = Delta("delta", "", "", 0)


class Seen(NamedTuple):
    """A filter as the ledger shows it at one moment."""

    scope: Scope
    after: int
    rows: list[DeltaRow]

    @property
    def limit(self) -> int:
        """What admissions may charge anybody: the budget, without what is set aside for questions about the filter."""
        return limit_of(self.scope.target["rho"]) - reserve_of(self.scope)

    def counted(self) -> list[DeltaRow]:
        """The files that say what everybody was charged."""
        return counted(self.scope, self.rows)

    def room(self, worst: int) -> None:
        """Refuse what could make sums larger than whole numbers of 64 bits: known from the texts of the queries."""
        if sum(row.worst for row in self.rows) + worst > MOST:
            raise CurrencyMismatch(f"{self.scope.name} has counted all that it can: create a new filter")


def reserve_of(scope: Scope) -> int:
    """What a filter set aside when it was created, in units, rounded up."""
    return math.ceil(Fraction((scope.cohort or {}).get("reserve", 0)) * NANO)


def as_asked(ledger: Ledger, name: str, key: str | None, folder: str) -> str:
    """A folder as the request for a new filter has it: the whole path; or as it was typed, where an earlier version has
    written it so under this key, and is asked again.
    """
    if key is not None:
        with ledger.store.reading() as reader:
            row = reader.scope(name) if reader.key(key_of(key)) is not None else None
        if row is not None and ((Scope(row).cohort or {}).get("folder")) == folder:
            return folder
    return settled(folder)


class Desk(NamedTuple):
    """One filter's ledger, name and folder."""

    ledger: Ledger
    name: str
    folder: Folder

    def look(self) -> Seen:
        """The filter now."""
        self.ledger.office.check()
        with self.ledger.store.reading() as reader:
            scope = self.ledger.office.view(reader).scope(self.name)
            head = reader.head(self.name)
            return Seen(scope, 0 if head is None else head.seq, reader.deltas(self.name))

    def known(self, key: str) -> bool:
        """Whether a key has been answered before."""
        with self.ledger.store.reading() as reader:
            return reader.key(key) is not None

    def recorded(self, key: str, asked: dict[str, Any], by: str | None) -> DeltaRow | None:
        """What a key was answered with before, if this is the same query."""
        if not self.known(key):
            return None
        verb = Commit(self.name, asked, -1, _NOWHERE)
        return self.ledger.office.submit(self.ledger.request(verb, key=key, by=by))

    def commit(
        self, key: str, asked: dict[str, Any], by: str | None, after: int, place: str, kind: str, worst: int
    ) -> DeltaRow | None:
        """Make a delta count, and give what counts for the key: it may be what another process wrote; None where
        somebody else came first with something else.
        """
        delta = Delta(kind, place, self.folder.settle(place), worst)
        verb = Commit(self.name, asked, after, delta)
        try:
            row = self.ledger.office.submit(self.ledger.request(verb, key=key, by=by))
        except LostRace:
            self.folder.drop(place)
            return None
        if row.path != place:
            self.folder.drop(place)
        return row

    def reserve(self) -> int:
        """What was set aside for questions about the filter itself, in units."""
        return reserve_of(self.ledger.scope(self.name))

    def largest_limit(self) -> int:
        """Of all that a steward has ever set, in units."""
        rows = [row for chained in self.ledger.entries(self.name) for row in body_in(chained.entry.body).scopes or ()]
        return max(limit_of(Scope(row).target["rho"]) for row in rows)
