"""What a request would do, decided as in a transaction, on a view: nothing is written, and nobody is kept waiting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.posting import Posting
from bursar.ledger.commit.request import Request, Verb
from bursar.ledger.commit.view import View
from bursar.ledger.journal.body import Draft
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.held import Held
from bursar.ledger.journal.rows import Balance, ScopeRow
from bursar.ledger.stores._base import Reader, Transaction


class Rehearsal(Posting):
    """A transaction that only seems to write: what it posts is seen by itself alone."""

    def __init__(self, view: View[Reader]) -> None:
        super().__init__(cast("Transaction", view.rows), cast("Any", None), view.catalogue, view.now, view.seen)
        self.view = view
        self.after: dict[str, dict[str, Balance]] = {}
        """The lines of each scope that was posted to, as they would be."""
        self.scopes: dict[str, ScopeRow] = {}
        """New or changed scopes, as they would be."""
        self._ended: set[str] = set()

    def perform(self, verb: Verb[Any], actor: str) -> list[Draft]:
        """What a verb would write."""
        drafts = list(verb.decide(self, actor))
        for draft in drafts:
            self.post(draft)
        return drafts

    def lines(self, scope: Scope) -> dict[str, Balance]:
        """As they are, apart from what was posted here."""
        return {**self.view.lines(scope), **self.after.get(scope.name, {})}

    def debited(self, names: Sequence[str], *releases: Release) -> tuple[Scope, ...]:
        """Every scope that a charge debits, as everybody sees it."""
        return self.view.debited(names, *releases)

    def released(self, name: str) -> list[tuple[str, int]]:
        """What was released in a scope, as everybody sees it."""
        return self.view.released(name)

    def reserved(self, root: str) -> dict[str, Held]:
        """The open reservations that were not ended here."""
        return {id: held for id, held in self.view.reserved(root).items() if id not in self._ended}

    def expire(self, root: str) -> None:
        """Nothing: a view has given back what is due."""

    def post(self, draft: Draft, request: Request[Any] | None = None, actor: str = "") -> Chained:
        """Keep in mind what it would change."""
        for one in draft.body.effect:
            self.after.setdefault(one.scope, {})[one.line] = one.after
        self.scopes.update({row.name: row for row in draft.body.scopes or ()})
        self._ended |= {one.id for one in (draft.body.reservation, *(draft.body.reservations or ())) if one is not None}
        return cast("Chained", None)
