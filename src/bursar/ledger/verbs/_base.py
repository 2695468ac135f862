"""What verbs share: drafts for several roots, refusals that are written down, answers that are receipts."""

from __future__ import annotations

from collections.abc import Sequence

from bursar.ledger.budget.currencies import Refusal
from bursar.ledger.budget.refusals import refusal_of, short
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.request import Met, Verb
from bursar.ledger.journal.body import Body, Draft, Effect, body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.receipt import Receipt, receipt_of


class Told(Verb[Receipt], frozen=True):
    """A verb that is answered by a receipt, or by the refusal that was written down."""

    def answer(self, chained: Chained, again: bool, scope: Met) -> Receipt:
        """The receipt of its entry."""
        raise_refusal(chained, again, scope)
        return receipt_of(chained, again)


def raise_refusal(chained: Chained, again: bool, scope: Met) -> None:
    """Raise what an entry of the kind ``refuse`` records."""
    if chained.entry.kind == "refuse":
        refused = body_in(chained.entry.body).refusal
        assert refused is not None
        raise refusal_of(scope(refused.scope), refused, again)


def refused(scope: Scope, refusal: Refusal) -> list[Draft]:
    """A refusal is an outcome: it is written down, and repeated to whoever repeats the request."""
    return [Draft("refuse", scope.row.root, Body(effect=[], refusal=short(scope, refusal)))]


def by_root(scopes: Sequence[Scope], effects: list[Effect]) -> dict[str, list[Effect]]:
    """The effects on each root's scopes, in the order of the roots."""
    first = scopes[0].row.root
    if effects and (len(scopes) == 1 or all(scope.row.root == first for scope in scopes)):
        return {first: effects}
    root_of = {scope.name: scope.row.root for scope in scopes}
    grouped: dict[str, list[Effect]] = {}
    for effect in effects:
        grouped.setdefault(root_of[effect.scope], []).append(effect)
    return dict(sorted(grouped.items()))
