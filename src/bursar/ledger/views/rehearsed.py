"""What a verb would do, before it is done: for whoever is to say yes to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from bursar.errors import BudgetExceeded, StorageFailed
from bursar.ledger.budget.currencies import Unpriced
from bursar.ledger.budget.refusals import refusal_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.office import Office
from bursar.ledger.commit.rehearsal import Rehearsal
from bursar.ledger.commit.request import Verb
from bursar.ledger.journal.body import Draft
from bursar.ledger.receipt import Taken, taken_of

_PRICINGS = 50


class Change(NamedTuple):
    """A scope before and after; before there may have been none."""

    before: Scope | None
    after: Scope
    taken: Taken
    """What it would take, and what would be left."""


class Rehearsed(NamedTuple):
    """All that would change, or the refusal."""

    changes: list[Change]
    refusal: BudgetExceeded | None
    drafts: list[Draft]


def rehearsed(office: Office, verb: Verb[Any], actor: str) -> Rehearsed:
    """What a verb would do now; prices that are missing are found first. Whatever it would raise is raised."""
    for _ in range(_PRICINGS):
        office.check()
        try:
            with office.store.reading() as reader:
                return _on(Rehearsal(office.view(reader)), verb, actor)
        except Unpriced as missing:
            office.find(missing)
    raise StorageFailed("others kept spending while this was being priced: ask again")


def _on(stage: Rehearsal, verb: Verb[Any], actor: str) -> Rehearsed:
    drafts = stage.perform(verb, actor)
    for draft in drafts:
        if draft.body.refusal is not None:
            refused = draft.body.refusal
            return Rehearsed([], refusal_of(stage.met(refused.scope), refused, False), drafts)
    changes = []
    for name in dict.fromkeys([*stage.scopes, *stage.after]):
        row = stage.rows.scope(name)
        before = None if row is None else Scope(row)
        after = Scope(stage.scopes[name]) if name in stage.scopes else before
        assert after is not None
        lines = stage.after[name] if before is None else stage.lines(before)
        state = after.currency.opening() if before is None else stage.view.lines(before)
        changes.append(Change(before, after, taken_of(name, state, lines)))
    return Rehearsed(changes, None, drafts)
