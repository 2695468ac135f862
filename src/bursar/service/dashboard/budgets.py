"""The first page: all budgets as a tree, with search, the least left first, and pages of fifty."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bursar.ledger.budget.scope import Scope
from bursar.ledger.views.last import Last
from bursar.ledger.views.shelf import Lately, Place, lately, shelf
from bursar.service.dashboard.desk import Desk
from bursar.service.permissions import covers, permit, within
from bursar.service.reach import told_last
from bursar.service.tokens import EVERYTHING, Token

PAGE = 50
UNFOLDED = 30
"""Up to so many budgets, all of them are shown at once."""
SORTS = {"left": "least left first", "name": "by name"}


@dataclass
class Row:
    """A budget in the list."""

    place: Place
    label: str
    folded: bool
    """Whether what hangs below it is left out."""
    below: list[Row] = field(default_factory=list)
    rest: int = 0
    """How many of those below are on further pages."""
    more: int | None = None
    ends: int | None = None


async def overview(desk: Desk, request: Request, token: Token) -> Response:
    """The whole page."""
    permit(token, "scopes")
    return desk.render("budgets.html", token, sorts=SORTS, **await _listed(desk, request, token))


async def listing(desk: Desk, request: Request, token: Token) -> Response:
    """The list alone, or a part of it."""
    permit(token, "scopes")
    return desk.render("_budgets.html", token, **await _listed(desk, request, token))


async def _listed(desk: Desk, request: Request, token: Token) -> dict[str, Any]:
    asked = request.query_params
    search, sort = asked.get("q", "").strip()[:100], asked.get("sort", "left")
    under, start = asked.get("under", ""), asked.get("start", "0")
    begin = int(start) if start.isdecimal() and len(start) < 9 else 0
    places = await _visible(desk, token)
    if under:
        within(token, desk.service.tree, [under])
    chosen = _sorted(_chosen(places, search, under), sort)
    part = chosen[begin : begin + PAGE]
    every = len(places) <= UNFOLDED and not search
    rows = [_row(place, sort, "" if search else under, every) for place in part]
    await _filled(desk, token, list(_flat(rows)))
    rest = max(len(chosen) - begin - PAGE, 0)
    given = {"search": search, "sort": sort if sort in SORTS else "left", "under": under}
    return {**given, "rows": rows, "rest": rest, "following": begin + PAGE, "total": len(places), "found": len(chosen)}


async def _visible(desk: Desk, token: Token) -> dict[str, Place]:
    """The budgets that a token reaches."""
    service = desk.service
    places = await service.look(token, lambda: shelf(service.ledger.office))
    await service.meet(token, places)
    return {name: place for name, place in places.items() if covers(token, service.tree, name)}


def _chosen(places: dict[str, Place], search: str, under: str) -> list[Place]:
    if search:
        return [place for name, place in places.items() if search.lower() in name.lower()]
    if under:
        return places[under].below if under in places else []
    return [place for place in places.values() if place.scope.row.parent not in places]


def _sorted(places: Iterable[Place], sort: str) -> list[Place]:
    """Those that are closed for good come last."""
    by_name = sorted(places, key=lambda place: place.name)
    if sort == "name":
        return by_name
    return sorted(by_name, key=lambda place: (place.scope.row.status == "closed", place.least))


def _row(place: Place, sort: str, under: str, every: bool) -> Row:
    label = place.name.removeprefix(f"{under}/") if under else place.name
    made = Row(place, label, folded=not every and bool(place.below))
    if every:
        made.below = [_row(one, sort, place.name, every) for one in _sorted(place.below, sort)]
    return made


def _flat(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        yield row
        yield from _flat(row.below)


async def _filled(desk: Desk, token: Token, rows: list[Row]) -> None:
    """How many more fit, and when it ends: only of what is shown, because it takes time."""
    service, scopes = desk.service, [row.place.scope for row in rows]
    recent: dict[str, Lately] = await service.look(token, lambda: lately(service.ledger.office, scopes))

    def told(scope: Scope, last: Last) -> bool:
        return told_last(service.ledger, service.tree, token, scope, last.seq)

    async def fill(row: Row) -> None:
        scope, (last, end) = row.place.scope, recent[row.place.name]
        row.ends = end if scope.row.status == "open" else None
        # what ran beyond a token's reach may have been charged here, too
        if last is not None and (token.scope == EVERYTHING or await service.look(token, lambda: told(scope, last))):
            row.more = await service.ahead.more(token, scope.name, last.what)

    await asyncio.gather(*map(fill, rows))
