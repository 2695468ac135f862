"""What every page needs: the templates, the forms of this site, and who is signed in."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from bursar.ledger.budget import words
from bursar.problems import Rejected
from bursar.service.core import Service
from bursar.service.dashboard.sessions import Sessions, same_site
from bursar.service.endpoint import body_of
from bursar.service.permissions import MAY
from bursar.service.tokens import Token

HERE = Path(__file__).parent
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOW = Fraction(1, 10)
"""From here on down a budget is nearly used up, and its bar says so."""


@cache
def templates() -> Environment:
    """The templates, with the words that they speak in."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(asset=_asset, low=LOW, words=words)
    made.filters.update(
        share=_share,
        part=_part,
        left=words.left,
        used=words.used,
        taken=words.taken,
        promise=words.promise,
        width=_width,
        when=_when,
        day=_day,
    )
    return made


@cache
def _asset(name: str) -> str:
    """The address of a file, with its hash, so that browsers never keep an old one."""
    digest = hashlib.sha256((HERE / "static" / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def _share(percent: str) -> Fraction:
    """Per cent in text, as machines are told, as a share."""
    return Fraction(percent) / 100


def _part(share: Fraction) -> str:
    """A part of a whole, to the nearest per cent."""
    return "under 1 %" if 0 < share < Fraction(1, 200) else f"{round(share * 100)} %"


def _width(share: Fraction) -> str:
    """A share as a length of a picture."""
    return f"{min(max(float(share), 0.0), 1.0) * 100:.2f}%"


def _when(at: int) -> Markup:
    """A time that the browser shows in its own zone; microseconds since 1970."""
    return _time(at, "%Y-%m-%d %H:%M", "time")


def _day(at: int) -> Markup:
    """The same, as a day."""
    return _time(at, "%Y-%m-%d", "day")


def _time(at: int, form: str, show: str) -> Markup:
    utc = datetime.fromtimestamp(at / 1e6, UTC)
    stamp, text = utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime(form)
    return Markup('<time datetime="{}" data-show="{}">{} UTC</time>').format(stamp, show, text)


def page(template: str, status: int = 200, **values: Any) -> Response:
    """A template for whoever is not known."""
    return _response(template, None, status, None, values)


def _response(template: str, token: Token | None, status: int, halted: str | None, values: dict[str, Any]) -> Response:
    may = frozenset() if token is None else MAY[token.role]
    text = templates().get_template(template).render(token=token, may=may, halted=halted, **values)
    return Response(text, status, dict(HEADERS), "text/html; charset=utf-8")


class Desk:
    """The pages' view of the service."""

    def __init__(self, service: Service) -> None:
        self.service, self.sessions = service, Sessions(service)

    @property
    def halted(self) -> str | None:
        """Why the ledger accepts nothing, as anybody may know."""
        why = self.service.ledger.halted
        return None if why is None else why.public

    def render(self, template: str, token: Token | None, status: int = 200, **values: Any) -> Response:
        """A template, with who is signed in, what they may do, and whether the ledger has halted."""
        return _response(template, token, status, None if token is None else self.halted, values)

    async def form(self, request: Request) -> dict[str, str]:
        """A form's fields, from this site's own pages."""
        same_site(request)
        body = await body_of(self.service, dict(request.scope["headers"]), request.receive)
        try:
            fields = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=False, max_num_fields=50)
        except ValueError:
            raise Rejected("malformed", "a form has at most 50 fields") from None
        if len(dict(fields)) != len(fields):
            raise Rejected("malformed", "each field of a form is given once")
        return {name: value.strip() for name, value in fields if value.strip()}
