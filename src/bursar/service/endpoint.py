"""One way from a request to an answer, the same for every endpoint: who, how often, what, may they, then do it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from bursar.problems import Rejected
from bursar.service.answers import response
from bursar.service.core import Service
from bursar.service.permissions import permit
from bursar.service.tokens import Token
from bursar.wire import encode

Run = Callable[[Service, Token, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    """What a path does."""

    method: str
    path: str
    verb: str | None
    """What a role must allow; None where nobody is asked who they are."""
    summary: str
    asked: Any
    """The type of the body, or of the query; None where there is none."""
    answer: Any
    run: Run
    status: int = 200
    media: str = "application/json"


@dataclass(frozen=True)
class Raw:
    """An answer that is text already."""

    text: str
    media: str


Handle = Callable[[Request], Awaitable[Response]]


def handler(service: Service, endpoint: Endpoint) -> Handle:
    """From a request to its response; whatever goes wrong becomes a problem."""
    decoder = None if endpoint.asked is None else msgspec.json.Decoder(endpoint.asked)

    async def handle(request: Request) -> Response:
        started = time.perf_counter()
        try:
            answer = await _answer(service, endpoint, decoder, request)
        except ClientDisconnect:
            answer = Response(status_code=400)
        except Exception as error:
            answer, code = response(error)
            service.metrics.refusals[code] += 1
        service.metrics.answered(endpoint.path, answer.status_code, time.perf_counter() - started)
        return answer

    return handle


async def _answer(service: Service, endpoint: Endpoint, decoder: Any, request: Request) -> Response:
    token = None
    if endpoint.verb is not None:
        token = service.identify(bearer(request), address(service, request))
        permit(token, endpoint.verb)
    given = None
    if decoder is not None:
        given = await _body(service, request, decoder) if endpoint.method == "POST" else _query(request, endpoint.asked)
    found = await endpoint.run(service, token, given)  # type: ignore[arg-type]
    if isinstance(found, Raw):
        return Response(found.text, media_type=found.media)
    return Json(encode(found), endpoint.status)


class Json(Response):
    """Bytes that are JSON already, with the two headers that they need and without the work to find out which."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code, self.background, self.body = status, None, body
        self.raw_headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]


def _header(request: Request, name: bytes) -> str:
    """A header's value; Starlette's own look-up decodes every header each time."""
    for given, value in request.scope["headers"]:
        if given == name:
            return str(value, "latin-1")
    return ""


def bearer(request: Request) -> str | None:
    """The secret that a request carries."""
    kind, _, secret = _header(request, b"authorization").partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret.strip() else None


def address(service: Service, request: Request) -> str:
    """Where a request comes from; behind a proxy uvicorn has read the header of the proxy."""
    return request.client.host if request.client is not None else "unknown"


async def _body(service: Service, request: Request, decoder: Any) -> Any:
    """The body: not too large, not too slow, and as its type says."""
    if _header(request, b"content-type").partition(";")[0].strip().lower() != "application/json":
        raise Rejected("not_json", "the body must be application/json")
    return decoder.decode(await body_of(service, request))


async def body_of(service: Service, request: Request) -> bytes:
    """The bytes of a body, within the limits."""
    most, parts, size = service.settings.largest_body, [], 0
    if int(_header(request, b"content-length") or 0) > most:
        raise Rejected("too_large", f"a body may have at most {most} bytes")
    async with _Patience(service.settings.patience):
        more = True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size > most:
                raise Rejected("too_large", f"a body may have at most {most} bytes")
            parts.append(part)
    return b"".join(parts)


class _Patience:
    """As `asyncio.timeout`, at a third of its cost: nearly every body is there already."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._over = seconds, False

    async def __aenter__(self) -> None:
        task = self._task = asyncio.current_task()
        assert task is not None
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._give_up)

    def _give_up(self) -> None:
        self._over = True
        assert self._task is not None
        self._task.cancel()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        if self._over and kind is asyncio.CancelledError:
            assert self._task is not None
            self._task.uncancel()
            raise Rejected("too_slow", "the body did not arrive in time")


def _query(request: Request, asked: Any) -> Any:
    given = request.query_params
    if len(given.multi_items()) != len(given):
        raise Rejected("malformed", "each parameter may be given once")
    return msgspec.convert(dict(given), asked, strict=False)
