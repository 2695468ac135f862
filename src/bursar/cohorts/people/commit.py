"""The commit of a person filter: an entry that makes a delta count, if nothing has changed since it was computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from bursar.cohorts.blocks.charge import chargeable
from bursar.cohorts.people.units import NANO
from bursar.errors import BursarError, ScopeUnknown
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.posting import Posting
from bursar.ledger.commit.request import Met, Verb
from bursar.ledger.journal.body import Body, Delta, Draft, body_in, effects_of
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.rows import DeltaRow


class LostRace(BursarError):
    """Somebody else's entry came first: what was computed does not count."""


class Commit(Verb[DeltaRow], frozen=True):
    """A delta or a snapshot, and the entry after which it was computed."""

    name: ClassVar[str] = "admit"
    scope: str
    asked: Mapping[str, Any]
    """The query, from its text alone: a key answers for this."""
    after: int
    delta: Delta

    @property
    def about(self) -> Sequence[str]:
        """The root of the people."""
        return (self.scope,)

    def fields(self) -> dict[str, Any]:
        """The query; where its delta lies is no part of the request."""
        return {"scope": self.scope, **self.asked}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """One entry, if the chain still ends where it did."""
        scope = chargeable(posting.scope(self.scope), "people")
        head = posting.rows.head(scope.row.root)
        if head is None or head.seq != self.after:
            raise LostRace(f"{self.scope} was charged by somebody else meanwhile")
        before = posting.lines(scope)
        balance = before["rho"]
        worst = scope.currency.lines["rho"].price(Fraction(self.delta.worst, NANO))
        # nobody has spent more, whatever the filter admitted; what is held is for questions about the filter itself
        spent = min(balance.limit - balance.held, balance.spent + worst)
        after = {**before, "rho": balance._replace(spent=spent)}
        kind = "admit" if self.delta.kind == "delta" else "compact"
        return [Draft(kind, scope.row.root, Body(effect=effects_of(scope.name, before, after), delta=self.delta))]

    def answer(self, chained: Chained, again: bool, scope: Met) -> DeltaRow:
        """The delta that counts for this key."""
        delta = body_in(chained.entry.body).delta
        if delta is None:
            raise ScopeUnknown(f"entry {chained.entry.seq} of {chained.entry.root} admits nobody")
        return DeltaRow(chained.entry.root, chained.entry.seq, delta.kind, delta.path, delta.digest, delta.worst)


def counted(scope: Scope, rows: Sequence[DeltaRow]) -> list[DeltaRow]:
    """The files that say what everybody was charged: the last snapshot, and the deltas after it."""
    snapshots = [place for place, row in enumerate(rows) if row.kind == "snapshot"]
    return list(rows[snapshots[-1] :] if snapshots else rows)
