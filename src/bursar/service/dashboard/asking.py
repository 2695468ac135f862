"""Questions that charge nothing: would a release pass, and what do releases cost."""

from __future__ import annotations

import math
import re

from starlette.requests import Request
from starlette.responses import Response

from bursar import wire
from bursar.service.dashboard.acting import RUN
from bursar.service.dashboard.desk import Desk
from bursar.service.endpoints.counting import number
from bursar.service.permissions import permit
from bursar.service.tokens import Token

_NOISE = re.compile(r"(?:discrete_)?(gaussian|laplace)\((?:sigma|scale)=([0-9.]+)\)(?:\*\d+)?\Z")


async def fits(desk: Desk, request: Request, token: Token) -> Response:
    """Whether a release would pass, what it takes, how many more, and how exact it is."""
    given = await desk.form(request)
    permit(token, "quote")
    asked = wire.Quote([given.get("scope", "")], given.get("what", ""))
    await desk.service.meet(token, asked.scopes)
    quote = await RUN["quote"](desk.service, token, asked)
    return desk.render("_quote.html", token, quote=quote, scope=given.get("scope", ""), error=spread(asked.what))


async def what_if(desk: Desk, request: Request, token: Token) -> Response:
    """The page of questions."""
    return desk.render("what_if.html", token)


async def account(desk: Desk, request: Request, token: Token) -> Response:
    """What releases cost, with the theorem that decides first."""
    given = await desk.form(request)
    permit(token, "account")
    asked = {"delta": number(given.get("delta", ""), "delta")}
    found = await desk.service.count(token, "account_page", given.get("composition", ""), asked)
    return desk.render("_report.html", token, **found)


async def plan(desk: Desk, request: Request, token: Token) -> Response:
    """Which value of the unknown fits."""
    given = await desk.form(request)
    permit(token, "plan")
    asked = {name: number(given.get(name, ""), name) for name in ("epsilon", "delta")}
    found = await desk.service.count(token, "plan_page", given.get("template", ""), asked)
    return desk.render("_plan.html", token, **found)


def spread(what: str) -> str | None:
    """The standard error of a release whose noise says it, against a sensitivity of one."""
    found = _NOISE.match(what.replace(" ", ""))
    if found is None:
        return None
    scale = float(found[2]) * (math.sqrt(2) if found[1] == "laplace" else 1)
    return f"{scale:.4g}"
