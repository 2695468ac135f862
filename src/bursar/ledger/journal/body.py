"""What an entry will change, and its body: the text that the journal keeps of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from bursar.ledger.budget.currencies import CERTIFICATES, Balance
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.entry import canonical
from bursar.ledger.stores._base import ReservationRow, ScopeRow

Effects = list[tuple[str, str, Balance, Balance]]
"""(scope, line, before, after) of every line that changes."""


class Draft(msgspec.Struct, eq=False):
    """What an entry will change, by root."""

    effects: Effects = []
    released: str | None = None
    reservation: ReservationRow | None = None
    touched: list[ReservationRow] = []
    """Other reservations that change with it."""
    scopes: list[ScopeRow] = []
    """New or changed ones."""
    extra: dict[str, Any] = {}


def effects_of(scope: str, before: Mapping[str, Balance], after: Mapping[str, Balance]) -> Effects:
    """What a step changes; one row at least, which says where this was released."""
    rows = [(scope, line, balance, after[line]) for line, balance in before.items()]
    return [row for row in rows if row[2] != row[3]] or rows[:1]


def body_of(draft: Draft, request: str) -> str:
    """The body of an entry. The request stands last, as it was given, so that a replay compares texts."""
    certificate = None
    for _, line, before, after in draft.effects:
        if line in CERTIFICATES and before.left > after.left:
            certificate = CERTIFICATES[line]
    effects = ",".join([_effect_text(*effect) for effect in draft.effects])
    if draft.extra or draft.scopes or draft.reservation is not None or draft.touched:
        rest = _rest(draft, certificate)
    else:
        rest = _plain_rest(draft.released, certificate)
    return f'{{"effect":[{effects}]{rest},"request":{request}}}'


@lru_cache(maxsize=4096)
def _plain_rest(released: str | None, certificate: int | None) -> str:
    """What follows the effects of a plain charge: the same ones come again and again."""
    return _rest(Draft(released=released), certificate)


def _rest(draft: Draft, certificate: int | None) -> str:
    """What follows the effects in an entry's body."""
    content: dict[str, Any] = dict(draft.extra)
    if draft.released is not None:
        content["released"] = draft.released
    if certificate is not None:
        content["certificate"] = certificate
    if draft.reservation is not None:
        content["reservation"] = reservation_row(draft.reservation)
    if draft.touched:
        content["reservations"] = [reservation_row(row) for row in draft.touched]
    if draft.scopes:
        content["scopes"] = [list(row) for row in draft.scopes]
    return f",{canonical(content)[1:-1]}" if content else ""


def reservation_row(row: ReservationRow) -> list[str]:
    """A reservation as the journal writes it."""
    return [row.id, row.status, str(row.expires), row.detail]


def effect_row(scope: str, line: str, before: Balance, after: Balance) -> list[Any]:
    """A change as the journal writes it: scope, line, then limit, spent, held, dead and window before and after."""
    return [scope, line, *before.numbers, *after.numbers]


def _effect_text(scope: str, line: str, before: Balance, after: Balance) -> str:
    """The same as JSON: names are plain, and numbers whole."""
    limit0, spent0, held0, dead0, window0 = before
    limit, spent, held, dead, window = after
    return (
        f'["{scope}","{line}",{limit0},{spent0},{held0},{dead0:d},{window0},{limit},{spent},{held},{dead:d},{window}]'
    )


def by_root(scopes: Sequence[Scope], effects: Effects) -> dict[str, Effects]:
    """The effects on each root's scopes, in the order of the roots."""
    first = scopes[0].row.root
    if effects and (len(scopes) == 1 or all(scope.row.root == first for scope in scopes)):
        return {first: effects}
    root_of: Mapping[str, str] = {scope.name: scope.row.root for scope in scopes}
    grouped: dict[str, Effects] = {}
    for effect in effects:
        grouped.setdefault(root_of[effect[0]], []).append(effect)
    return dict(sorted(grouped.items()))
