"""The page of one budget: how it stands, how it burned down, who used it, and every release."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bursar.keys import own_key
from bursar.ledger.budget import words
from bursar.ledger.budget.refusals import asked_and_left
from bursar.ledger.budget.scope import Scope, names_above
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.views.counted import counted
from bursar.ledger.views.history import Step
from bursar.ledger.views.looks import Walked, walk
from bursar.ledger.views.shelf import ends
from bursar.ledger.views.standing import Standing, promises
from bursar.ledger.views.users import users
from bursar.service.core import Service
from bursar.service.dashboard.desk import HEADERS, Desk
from bursar.service.endpoints.looking import shown_to
from bursar.service.permissions import MAY, covers, within
from bursar.service.reach import made_on, reaches
from bursar.service.tokens import Token

FAR = 10_000
"""How many entries of a root a page looks back."""
PAGE = 20
_POINTS = 400


@dataclass(frozen=True)
class Line:
    """An entry in the table of releases."""

    seq: int
    at: int
    kind: str
    who: str
    what: str
    took: Fraction
    left: Fraction | None
    reason: str
    refused: str


async def scope_page(desk: Desk, request: Request, token: Token) -> Response:
    """The whole page, or what changes on it."""
    name = request.query_params.get("name", "")
    service = desk.service
    await service.meet(token, [name])
    within(token, service.tree, [name])
    found = await shown_to(service, token, name)
    walked = await service.look(token, lambda: _walked(service, name, found.scope.row.root))
    values = await service.look(token, lambda: _values(service, token, found, walked))
    part = request.query_params.get("part") == "book"
    return desk.render("_book.html" if part else "scope.html", token, key=own_key(), **values)


async def releases(desk: Desk, request: Request, token: Token) -> Response:
    """The table of releases alone, filtered, or its next page."""
    asked = request.query_params
    name, service = asked.get("name", ""), desk.service
    await service.meet(token, [name])
    within(token, service.tree, [name])
    scope = await service.look(token, lambda: service.ledger.scope(name))
    walked = await service.look(token, lambda: _walked(service, name, scope.row.root))
    values = await service.look(token, lambda: _table(service, token, walked, dict(asked)))
    return desk.render("_releases.html", token, **values)


async def statement(desk: Desk, request: Request, token: Token) -> Response:
    """How a budget stands, with how that is counted, as a text to keep."""
    name, service = request.query_params.get("name", ""), desk.service
    await service.meet(token, [name])
    within(token, service.tree, [name])
    found = await shown_to(service, token, name)
    now = datetime.fromtimestamp(service.ledger.office.clock() / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")
    text = f"Statement of {now}\n\n{found}\n\n{words.COUNTED}\n{found.counted()}\n"
    headers = {**HEADERS, "Content-Disposition": 'attachment; filename="statement.txt"'}
    return Response(text, headers=headers, media_type="text/plain; charset=utf-8")


def _walked(service: Service, name: str, root: str) -> Walked:
    end = service.ledger.last(root)
    return walk(service.ledger.office, name, max(0, end - FAR), FAR)


def _values(service: Service, token: Token, found: Standing, walked: Walked) -> dict[str, Any]:
    scope = found.scope
    now = service.ledger.office.clock()
    taken = [walked.steps[seq] for seq in sorted(walked.steps)]
    by_seq = {one.entry.seq: one for one in walked.entries}
    told = {step.entry.seq: reaches(service.ledger, service.tree, token, by_seq[step.entry.seq]) for step in taken}
    used = users(
        scope.name, [(step, told[step.entry.seq], made_on(service.ledger, by_seq[step.entry.seq])) for step in taken]
    )
    end = ends(taken, found.left, now) if scope.row.status == "open" else None
    whole = len(walked.entries) < FAR
    return {
        "found": found,
        "scope": scope,
        "above": [name for name in reversed(names_above(scope.name)) if covers(token, service.tree, name)],
        "more": words.more(found.more, found.like),
        "ends": end,
        "promises": promises(found),
        "counted": counted(found),
        "chart": chart(taken, found.left, now, end),
        "users": (("by person", used.people), ("by kind", used.kinds), ("by budget", used.below)),
        "whole": whole,
        "limits": _limits(service, token, walked) if whole else [],
        "audit": service.audit,
        **_table(service, token, walked, {"name": scope.name}),
    }


def _table(service: Service, token: Token, walked: Walked, asked: dict[str, str]) -> dict[str, Any]:
    """A page of the entries that a filter lets through, the last one first."""
    text, who, only = (asked.get(name, "").strip().lower()[:200] for name in ("text", "who", "only"))
    before = asked.get("before", "")
    limit = int(before) if before.isdecimal() and len(before) < 16 else 2**53
    lines: list[Line] = []
    for chained in reversed(walked.entries):
        if chained.entry.seq >= limit:
            continue
        line = _line(service, token, walked, chained)
        if line is None or (only == "refused" and not line.refused) or (only == "charged" and not line.took):
            continue
        if who not in line.who.lower() or text not in f"{line.what} {line.reason} {line.kind}".lower():
            continue
        lines.append(line)
        if len(lines) > PAGE:
            break
    older = lines[PAGE - 1].seq if len(lines) > PAGE else None
    filters = {"text": text, "who": who, "only": only}
    return {
        "lines": lines[:PAGE],
        "older": older,
        "filters": filters,
        "name": walked.scope.name,
        "first": limit == 2**53,
        "asks": "quote" in MAY[token.role] and walked.scope.row.status == "open" and not walked.scope.cohort,
    }


def _line(service: Service, token: Token, walked: Walked, chained: Chained) -> Line | None:
    scope, entry, step = walked.scope, chained.entry, walked.steps.get(chained.entry.seq)
    body = body_in(entry.body) if step is None else step.body
    changed = any(row.name == scope.name for row in body.scopes or ())
    if step is None and not changed:
        return None
    told = reaches(service.ledger, service.tree, token, chained)
    asked = body.asked() if told else {}
    refused = "" if body.refusal is None or body.refusal.scope != scope.name else asked_and_left(scope, body.refusal)
    what = (body.released or asked.get("what") or "") if told else ""
    kind = asked.get("status", entry.kind) if entry.kind == "status" else entry.kind
    return Line(
        seq=entry.seq,
        at=entry.at,
        kind=words.done(kind),
        who=entry.actor if told else "",
        what=str(what),
        took=Fraction(0) if step is None else step.took,
        left=None if step is None else step.after,
        reason=str(body.reason or asked.get("reason") or "") if told else "",
        refused=refused,
    )


@dataclass(frozen=True)
class Limited:
    """How a limit came to be."""

    at: int
    before: str
    after: str
    who: str
    approved: str
    reason: str


def _limits(service: Service, token: Token, walked: Walked) -> list[Limited]:
    """How the limit came to be what it is: old and new, and as far as it may be told who, who approved, and why."""
    found: list[Limited] = []
    before = ""
    for chained in walked.entries:
        if chained.entry.kind not in ("open", "limit"):
            continue
        body = body_in(chained.entry.body)
        for row in body.scopes or ():
            if row.name == walked.scope.name:
                now = words.promise(Scope(row).target)
                told = reaches(service.ledger, service.tree, token, chained)
                reason = str(body.asked().get("reason") or "")
                said = (chained.entry.actor, body.approved_by or "", reason) if told else ("", "", "")
                found.append(Limited(chained.entry.at, before, now, *said))
                before = now
    return found[::-1]


def chart(taken: list[Step], left: Fraction, now: int, end: int | None) -> str:
    """How the budget burned down, as a chart's JSON: what was left after each entry, refusals, and the end if it goes
    on like this.
    """
    steps = [step for step in taken if step.before != step.after or step.body.refusal is None]
    stride = max(1, math.ceil(len(steps) / _POINTS))
    picked = [*steps[:-1:stride], *steps[-1:]]
    refused = [step for step in taken if step.body.refusal is not None][-_POINTS:]
    points: dict[int, list[float | None]] = {}
    for step in picked:
        points.setdefault(step.entry.at, [None] * 3)[0] = float(step.after)
    for step in refused:
        row = points.setdefault(step.entry.at, [None] * 3)
        row[1], row[0] = float(step.after), float(step.after)
    if points:
        points.setdefault(now, [None] * 3)[0] = float(left)
        if end is not None:
            points[now][2] = float(left)
            points.setdefault(end, [None] * 3)[2] = 0.0
    times = sorted(points)
    names = (("left", "step"), ("refused", "points"), ("at this rate", "dash"))
    series = [
        {"label": label, "style": style, "values": [points[at][place] for at in times]}
        for place, (label, style) in enumerate(names)
        if any(points[at][place] is not None for at in times)
    ]
    return json.dumps({"x": [at / 1e6 for at in times], "series": series, "time": True, "share": True})
