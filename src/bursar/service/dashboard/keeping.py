"""Verify and take the journal; tokens: who may come in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from bursar import wire
from bursar.errors import InputError
from bursar.service.dashboard.acting import RUN
from bursar.service.dashboard.desk import HEADERS, Desk
from bursar.service.dashboard.forms import Fields
from bursar.service.permissions import everywhere, permit
from bursar.service.tokens import EVERYTHING, ROLES, Token


async def verify_page(desk: Desk, request: Request, token: Token) -> Response:
    """Where the journal is checked and taken away."""
    permit(token, "verify")
    return desk.render("verify.html", token, audit=desk.service.audit)


async def verify(desk: Desk, request: Request, token: Token) -> Response:
    """Whether the journal adds up."""
    given = await desk.form(request)
    permit(token, "verify")
    asked = wire.Verify("reprice" in given, "deep" in given)
    found = await RUN["verify"](desk.service, token, asked)
    return desk.render("_verified.html", token, found=found, audit=desk.service.audit)


async def journal(desk: Desk, request: Request, token: Token) -> Response:
    """The journal as a file."""
    permit(token, "export")
    everywhere(token, "export the journal")
    form = request.query_params.get("form", "jsonl")
    if form not in ("jsonl", "csv"):
        raise InputError("form is jsonl or csv", argument="form")
    text = await desk.service.job(token, lambda: desk.service.ledger.export(form))
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="journal.{form}"'}
    return Response(text, headers=headers, media_type="text/plain; charset=utf-8")


async def tokens(desk: Desk, request: Request, token: Token) -> Response:
    """All tokens, and a form for a new one."""
    permit(token, "token_list")
    found = await RUN["token_list"](desk.service, token, None)
    part = "_tokens.html" if request.query_params.get("part") == "list" else "tokens.html"
    return desk.render(part, token, tokens=found["tokens"][::-1], roles=ROLES[::-1], everything=EVERYTHING)


async def issue(desk: Desk, request: Request, token: Token) -> Response:
    """A new token; its secret is shown this once."""
    given = await desk.form(request)
    permit(token, "token_add")
    made = await RUN["token_add"](desk.service, token, _new(given))
    return _changed(desk.render("_issued.html", token, made=made["token"], secret=made["secret"]))


async def revoke(desk: Desk, request: Request, token: Token) -> Response:
    """A token opens nothing any more."""
    given = await desk.form(request)
    permit(token, "token_revoke")
    await RUN["token_revoke"](desk.service, token, wire.Revoke(given.get("id", "")))
    return _changed(desk.render("_revoked.html", token, name=given.get("name", "")))


def _new(given: Fields) -> wire.NewToken:
    days = given.get("days", "90")
    if not days.isdecimal() or len(days) > 4 or not 1 <= int(days) <= 3650:
        raise InputError(f"days must be a whole number from 1 to 3650, not {days!r}", argument="days")
    role = given.get("role", "")
    if role not in ROLES:
        raise InputError(f"role must be one of {', '.join(ROLES)}, not {role!r}", argument="role")
    return wire.NewToken(given.get("name", ""), role, given.get("scope", EVERYTHING), int(days))  # type: ignore[arg-type]


def _changed(answer: Response) -> Response:
    answer.headers["HX-Trigger"] = "changed"
    return answer
