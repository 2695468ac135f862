"""Looks at a ledger, for its own methods and for whoever answers on behalf of others, such as a service. What does not
say so takes no time to count.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from bursar.errors import BudgetExceeded, BursarError
from bursar.ledger.arguments import entry_of, names_of, reservation_id
from bursar.ledger.budget.deciding import Seen
from bursar.ledger.budget.instead import instead
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope, scope_name
from bursar.ledger.commit.office import Office
from bursar.ledger.commit.request import Verb
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.held import held_in
from bursar.ledger.receipt import Taken
from bursar.ledger.stores import Store
from bursar.ledger.verbs.correct import charged_by as every_scope
from bursar.ledger.verbs.reserve import Reserve
from bursar.ledger.verbs.spend import Spend, quote
from bursar.ledger.views import standing
from bursar.ledger.views.history import Step, lines_after, read, steps
from bursar.presented import Presented


class OfStore(Presented):
    """Whatever has a store shows itself by its kind and, of a file, its name; an address may hold a password."""

    store: Store

    def _facts(self) -> list[tuple[str, object]]:
        return [("", getattr(self.store, "path", type(self.store).__name__))]


def states(office: Office, scopes: str | Sequence[str], release: Release) -> Seen:
    """The scopes that a charge would debit, as they are now."""
    names = names_of(scopes)
    office.check()
    with office.store.reading() as reader:
        return office.view(reader).states(names, release)


def released(store: Store, scope: str) -> list[tuple[str, int]]:
    """What was released in a scope, with counts."""
    with store.reading() as reader:
        return reader.released(scope_name(scope))


def last(store: Store, root: str) -> int:
    """The number of a root's last entry."""
    with store.reading() as reader:
        head = reader.head(scope_name(root))
    return 0 if head is None else head.seq


def look_at(office: Office, scope: str) -> standing.Seen:
    """A scope as its standing shows it, without what its releases have cost."""
    with office.store.reading() as reader:
        view = office.view(reader)
        return standing.seen(view, view.scope(scope_name(scope)))


def stood(office: Office, scope: str) -> standing.Standing:
    """How a scope stands, with what its releases cost: others read while that is counted."""
    found = look_at(office, scope)
    made = standing.standing(found, more(office, scope, found.like))
    return replace(made, halted=None if office.halted is None else str(office.halted))


def more(office: Office, scope: str, like: str | None) -> int | None:
    """How many more like a release would be admitted; None where nobody can say, as in a frozen scope."""
    if like is None:
        return None
    try:
        release = release_of(like)
        return quote(states(office, scope, release), release).fits
    except BursarError:
        return None


def advised(office: Office, verb: Verb[Any], refusal: BudgetExceeded) -> BudgetExceeded:
    """A refusal that can say what would pass: found from the states of this moment, when somebody asks."""
    if isinstance(verb, (Spend, Reserve)):
        with suppress(BursarError):  # then it says no more than it did
            refusal.advice = partial(instead, states(office, verb.scopes, verb.release), verb.release)
    return refusal


class Walked(NamedTuple):
    """Some entries of a scope's root, and those steps of it that are among them."""

    scope: Scope
    entries: list[Chained]
    steps: dict[int, Step]


def walk(office: Office, scope: str, after: int, most: int) -> Walked:
    """The entries of a scope's root after a number, with what each took of it; of a root with blocks, of the worst."""
    with office.store.reading() as reader:
        view = office.view(reader)
        found = view.scope(scope_name(scope))
        entries = list(reader.entries(found.row.root, after, most))
        if not entries:
            return Walked(found, [], {})
        worst = standing.placed(view, found).worst_block
        tracked = found if worst is None else view.scope(worst)
        lines = lines_after(view, tracked, entries[-1].entry.seq)
        known = [] if lines is None else steps(tracked, lines, read(entries))
        return Walked(found, entries, {one.entry.seq: one for one in known})


def took(office: Office, scope: str, seq: int) -> Taken | None:
    """What an entry of its root took of a scope; None where it took nothing, or it is not known any more."""
    step = walk(office, scope, seq - 1, 1).steps.get(seq)
    return None if step is None or not step.took else Taken(scope, step.before, step.after)


def held_by(office: Office, reservation: str) -> tuple[str, ...]:
    """The scopes that a reservation was made on; none where there is no such reservation."""
    with office.store.reading() as reader:
        row = reader.reservation(reservation_id(reservation))
    held = None if row is None else held_in(row)
    return () if held is None else tuple(held.named or held.scopes)


def charged_by(office: Office, root: str, seq: int) -> tuple[str, ...]:
    """The scopes that an entry charged, in every root; none where it is no charge, or is not there."""
    with office.store.reading() as reader:
        chained = reader.entry(*entry_of((root, seq)))
        return () if chained is None else tuple(every_scope(reader, chained))
