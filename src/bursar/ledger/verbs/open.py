"""Open: a new scope, with what had been released before it was opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from bursar.errors import InputError, NotPermitted
from bursar.ledger.arguments import texts, word
from bursar.ledger.budget.amounts import units_down
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.budget.refusals import alike, asked_and_left, short
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.reservations import joined
from bursar.ledger.budget.scope import Scope, names_above, new_scope, scope_name, whole_parts
from bursar.ledger.commit.catalogue import usable, whole
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Body, Draft, effect, kept
from bursar.ledger.verbs._base import Told
from bursar.ledger.verbs.consent import State, come_late, consented_to_opening
from bursar.numerics.validate import listed

_NOTHING = Balance(0, 0, 0)


class Place(NamedTuple):
    """Where a scope is to hang, as far as a steward says so."""

    parent: str | None = None
    kind: str | None = None
    """root, block or quota."""
    within: str | None = None
    """The scope below which it must lie; None where it may lie anywhere."""


class Open(Told, frozen=True):
    """A scope as a steward wants it."""

    name: ClassVar[str] = "open"
    scope: str
    place: Place
    currency: str | None
    limits: Mapping[str, Any]
    options: Mapping[str, Any]
    before: tuple[Release, ...]
    """What was released before."""
    consent: str | None = None
    """What whoever asks agrees to, where that does more than charge it."""

    @property
    def about(self) -> Sequence[str]:
        """What may turn out to lie above is locked; which of them does, the transaction decides."""
        if self.place.parent is not None:
            return [self.place.parent]
        return [] if self.place.kind == "root" else names_above(self.scope)

    def fields(self) -> dict[str, Any]:
        """All of it, as text."""
        asked = {"name": self.scope, "parent": self.place.parent, "kind": self.place.kind, "currency": self.currency}
        spent = [release.text for release in self.before]
        return {**asked, **texts(self.limits), **texts(self.options), "spent": spent}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """The scope, where there is room for what had been released before."""
        parent = self._parent(posting)
        scope = new_scope(self.scope, parent, self.place.kind, self.currency, dict(self.limits), dict(self.options))
        state = scope.currency.opening()
        body = Body(effect=[], scopes=[scope.row])
        ran = False
        if parent is not None and scope.kind == "block":  # what was charged to all of the data was charged here too
            state, ran = posting.lines(parent), posting.ran(parent)
            shared = [joined(row, parent.name, scope.name) for row in posting.rows.reservations(parent.name)]
            body.reservations = [kept(row) for row in shared if row is not None] or None
            body.inherited = posting.released(parent.name) or None
        for release in self.before:
            alike([scope], release)
        late = come_late(scope, state, self.before, ran)
        if late.short is not None:
            too_much = asked_and_left(scope, short(scope, late.short))
            raise InputError(f"{scope.name}: what was released before exceeds the limit: {too_much}", argument="spent")
        assert late.after is not None  # nothing was short
        body.opening = [release.text for release in self.before] or None
        body.bases = list(late.bases) or None
        body.consent = consented_to_opening(late, body.opening or [], self.consent)
        after = set_aside(scope, late.after)
        body.effect = [effect(scope.name, line, _NOTHING, balance) for line, balance in after.items()]
        return [Draft("open", scope.row.root, body)]

    def _parent(self, posting: Posting) -> Scope | None:
        """The scope that it hangs below; refused where there is no place for it."""
        name = self.scope
        if posting.rows.scope(name) is not None:
            raise InputError(f"there is a scope {name!r} already", argument="scope")
        parent = self._above(posting)
        if self.place.within is not None and not _lies_in(posting, parent, self.place.within):
            raise NotPermitted(f"there is no place for {name} below {self.place.within}")
        whole_parts(name)
        if parent is None and self.place.kind != "root":
            _none_below(posting, name)
        if parent is not None:
            usable(parent)
            whole(parent)
            posting.expire(parent.row.root)
        elif posting.rows.head(name) is not None:
            raise InputError(
                f"there was a root {name!r}, whose entries were lost: choose another name", argument="scope"
            )
        return parent

    def _above(self, posting: Posting) -> Scope | None:
        """The parent that was named; else, unless a root is asked for, the nearest scope that the name lies under."""
        if self.place.parent is not None:
            return posting.scope(self.place.parent)
        if self.place.kind != "root":
            for name in names_above(self.scope):
                if posting.rows.scope(name) is not None:
                    return posting.scope(name)
        return None


def open_scope(
    scope: str,
    place: Place,
    currency: str | None,
    limits: Mapping[str, Any],
    options: Mapping[str, Any],
    spent: Iterable[Any] = (),
    consent: str | None = None,
) -> Open:
    """A scope as people give it; ``spent`` lists what was released before."""
    agreed = None if consent is None else word(consent, "consent")
    before = tuple(release_of(what) for what in listed(spent=spent))
    above = None if place.parent is None else scope_name(place.parent)
    kind, counted = (
        None if text is None else word(text, name) for name, text in (("kind", place.kind), ("currency", currency))
    )
    return Open(scope_name(scope), place._replace(parent=above, kind=kind), counted, limits, options, before, agreed)


def set_aside(scope: Scope, state: State) -> State:
    """What a cohort keeps for questions about itself is held from the first day."""
    reserve = (scope.cohort or {}).get("reserve")
    if reserve is None:
        return state
    units = units_down(Fraction(reserve), scope.currency.lines["rho"].unit)
    return {**state, "rho": state["rho"]._replace(held=units)}


def _none_below(posting: Posting, name: str) -> None:
    """Refuse a root above roots that lie under it by name: both would have a whole budget for what sounds like one."""
    below = posting.rows.root_under(name)
    if below is not None:
        raise InputError(
            f"{below} lies under {name} by its name and has a budget of its own, which {name} would not contain: "
            'choose another name, or insist on a second budget with kind="root" (--root)',
            argument="scope",
        )


def _lies_in(posting: Posting, scope: Scope | None, top: str) -> bool:
    """Whether a scope is another one, or lies below it."""
    while scope is not None and scope.name != top:
        scope = posting.scope(scope.row.parent) if scope.row.parent else None
    return scope is not None
