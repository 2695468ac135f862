"""The application: the endpoints, their description, and the dashboard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bursar.service import dashboard, problems
from bursar.service.core import Service
from bursar.service.endpoint import route
from bursar.service.endpoints import ENDPOINTS
from bursar.service.openapi import document
from bursar.service.problems import Rejected
from bursar.wire import encode


def application(service: Service) -> Starlette:
    """The service as an ASGI application."""
    described = encode(document(ENDPOINTS))

    async def openapi(request: Request) -> Response:
        return Response(described, media_type="application/json")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await service.shut()

    return Starlette(
        routes=[
            *(route(service, endpoint) for endpoint in ENDPOINTS),
            Route("/openapi.json", openapi),
            *dashboard.routes(service),
        ],
        exception_handlers={HTTPException: _not_here, Exception: _failed},
        lifespan=lifespan,
    )


async def _not_here(request: Request, error: Any) -> Response:
    """Starlette's own refusals as problems."""
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "malformed")
    answer, _ = problems.response(Rejected(code, f"{request.method} {request.url.path}"))
    answer.headers.update(error.headers or {})
    return answer


async def _failed(request: Request, error: Exception) -> Response:
    return problems.response(error)[0]
