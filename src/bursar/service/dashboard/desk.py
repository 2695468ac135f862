"""What every page needs: the templates, the forms of this site, and who is signed in."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import Response

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


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=select_autoescape(), undefined=StrictUndefined
    )
    made.globals["asset"] = _asset
    return made


@cache
def _asset(name: str) -> str:
    """The address of a file, with its hash, so that browsers never keep an old one."""
    digest = hashlib.sha256((HERE / "static" / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


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
        """A template, with who is signed in and what they may do."""
        may = frozenset() if token is None else MAY[token.role]
        text = _templates().get_template(template).render(token=token, may=may, **values)
        return Response(text, status, dict(HEADERS), "text/html; charset=utf-8")

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
