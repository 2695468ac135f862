"""The application: the endpoints, their description, and the dashboard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bursar.errors import RateLimited
from bursar.problems import Rejected
from bursar.service import dashboard
from bursar.service.answers import response
from bursar.service.core import Service
from bursar.service.endpoint import Answer, Handle, address, handler, no_doubles
from bursar.service.endpoints import ENDPOINTS
from bursar.service.limits import Shares
from bursar.service.openapi import document
from bursar.wire import encode


class Application:
    """The endpoints at once, by method and path; everything else by Starlette.

    Charges come by the thousand, and Starlette's way through its middleware and its list of routes takes longer than
    a charge does.
    """

    def __init__(self, service: Service, ready: Callable[[], None] = lambda: None) -> None:
        handlers: dict[tuple[str, str], Handle] = {
            (one.verb.method, one.path): handler(service, one) for one in ENDPOINTS
        }
        self._handlers, self._rest = handlers, _rest(service, handlers, ready)
        self._shares = Shares(service.settings.most_from_one_address) if service.settings.behind_proxy else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI asks."""
        if self._shares is not None and scope["type"] == "http":
            with self._shares.taken(address(scope)) as free:
                await (self._served(scope, receive, send) if free else _crowded(scope, receive, send))
        else:
            await self._served(scope, receive, send)

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        handle = self._handlers.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if handle is None:
            await (self._refused(scope) or self._rest)(scope, receive, send)
        else:
            answer = await handle(scope, receive)
            await answer(scope, receive, send)

    @staticmethod
    def _refused(scope: Scope) -> Response | None:
        """The pages' requests name each thing once, as those of the endpoints do."""
        try:
            no_doubles(scope["headers"] if scope["type"] == "http" else ())
        except Rejected as error:
            return response(error)[0]
        return None


async def _crowded(scope: Scope, receive: Receive, send: Send) -> None:
    """Behind a proxy each client's address has its share of the requests at a time."""
    answer, _ = response(RateLimited("too many requests at a time from this address", after=1.0))
    await answer(scope, receive, send)


def _rest(service: Service, handlers: Mapping[tuple[str, str], Handle], ready: Callable[[], None]) -> Starlette:
    described = encode(document(ENDPOINTS))

    async def openapi(request: Request) -> Response:
        return Response(described, media_type="application/json")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.start()
        ready()
        yield
        await service.shut()

    # listed here too, so that a wrong method is told from a wrong path
    listed = [Route(path, _wrapped(handle), methods=[method]) for (method, path), handle in handlers.items()]
    rest = Starlette(
        routes=[*listed, Route("/openapi.json", openapi), *dashboard.routes(service)],
        exception_handlers={HTTPException: _not_here, Exception: _failed},
        lifespan=lifespan,
    )
    rest.router.redirect_slashes = False  # to a host that the client has named
    return rest


def _wrapped(handle: Handle) -> Callable[[Request], Awaitable[Answer]]:
    async def handled(request: Request) -> Answer:
        return await handle(request.scope, request.receive)

    return handled


async def _not_here(request: Request, error: Any) -> Response:
    """Starlette's own refusals as problems."""
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "malformed")
    if _for_people(request):
        answer = dashboard.lost(request, code, error.status_code)
    else:
        answer, _ = response(Rejected(code, f"{request.method} {request.url.path}"))
    answer.headers.update(error.headers or {})
    return answer


def _for_people(request: Request) -> bool:
    """Whether a browser asked for a page: programs get problems."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")


async def _failed(request: Request, error: Exception) -> Response:
    answer = response(error)[0]
    return dashboard.lost(request, "failed", 500) if _for_people(request) else answer
