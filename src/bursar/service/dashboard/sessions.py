"""Signing in: a cookie that stands for a token, kept in memory only."""

from __future__ import annotations

import secrets
import time
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from bursar.errors import NotPermitted
from bursar.problems import Rejected
from bursar.service.core import Service
from bursar.service.endpoint import address
from bursar.service.tokens import Token

COOKIE = "bursar_session"
_LIFE = 8 * 3600
_MOST = 10_000


class Sessions:
    """Who is signed in."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._open: dict[str, tuple[float, str]] = {}

    def begin(self, request: Request, secret: str, answer: Response) -> None:
        """Sign in with a token, or refuse."""
        self._service.identify(secret, address(request.scope))
        now = time.monotonic()
        self._open = {sid: kept for sid, kept in self._open.items() if kept[0] > now}
        while len(self._open) >= _MOST:
            del self._open[next(iter(self._open))]
        sid = secrets.token_urlsafe(32)
        self._open[sid] = (now + _LIFE, secret)
        settings = self._service.settings
        secure = settings.behind_proxy or settings.tls_key is not None
        answer.set_cookie(COOKIE, sid, max_age=_LIFE, httponly=True, samesite="strict", secure=secure)

    def end(self, request: Request, answer: Response) -> None:
        """Sign somebody out: the cookie ends."""
        self._open.pop(request.cookies.get(COOKIE, ""), None)
        answer.delete_cookie(COOKIE)

    def token(self, request: Request) -> Token:
        """The token of whoever is signed in, still in force."""
        expires, secret = self._open.get(request.cookies.get(COOKIE, ""), (0.0, None))
        if secret is None or expires < time.monotonic():
            raise Rejected("unauthenticated", "sign in first")
        return self._service.identify(secret, address(request.scope))


def same_site(request: Request) -> None:
    """Refuse what another site's page made the browser send."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if foreign or site not in ("same-origin", "none"):
        raise NotPermitted("this form was sent by another site")
