"""One way from a request to an answer, the same for every endpoint: who, how often, what, may they, then do it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bursar import members
from bursar.errors import Refused
from bursar.problems import Rejected
from bursar.service.answers import response
from bursar.service.core import LISTEN, Service
from bursar.service.permissions import permit
from bursar.service.reach import hushed
from bursar.service.tokens import EVERYTHING, Token
from bursar.wire import encode

Headers = Mapping[bytes, bytes]
_SINGLE = frozenset(
    b"authorization content-length content-type cookie host hx-request origin sec-fetch-site transfer-encoding".split()
)
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


@dataclass(frozen=True)
class Told:
    """An answer with a status of its own."""

    body: Any
    status: int


Handle = Callable[[Scope, Receive], Awaitable[Response]]


def handler(service: Service, endpoint: Endpoint) -> Handle:
    """From a request to its response; whatever goes wrong becomes a problem."""
    decoder = None if endpoint.asked is None else msgspec.json.Decoder(endpoint.asked)

    async def handle(scope: Scope, receive: Receive) -> Response:
        started = time.perf_counter()
        LISTEN.set(receive)
        try:
            answer = await _answer(service, endpoint, decoder, scope, receive)
        except ClientDisconnect:
            answer = Response(status_code=400)
        except Exception as error:
            answer, code = response(error)
            service.metrics.refusals[code] += 1
        service.metrics.answered(endpoint.path, answer.status_code, time.perf_counter() - started)
        return answer

    return handle


async def _answer(service: Service, endpoint: Endpoint, decoder: Any, scope: Scope, receive: Receive) -> Response:
    token, given, headers = None, None, dict(scope["headers"])
    if len(headers) != len(scope["headers"]):
        no_doubles(scope["headers"])
    if endpoint.verb is not None:
        token = service.identify(_bearer(headers), address(scope))
        permit(token, endpoint.verb)
    if decoder is not None:
        if endpoint.method == "POST":
            if headers.get(b"content-type") != b"application/json":
                _json_only(headers)
            given = _read(decoder, await body_of(service, headers, receive))
        else:
            given = _query(scope, endpoint.asked)
    if token is not None and token.scope != EVERYTHING:
        await service.meet(token, _named(given))
    try:
        found = await endpoint.run(service, token, given)  # type: ignore[arg-type]
    except Refused as refusal:
        raise hushed(service.tree, token, refusal) from None
    if isinstance(found, Raw):
        return Response(found.text, media_type=found.media)
    if isinstance(found, Told):
        return Json(encode(found.body), found.status)
    return Json(encode(found), endpoint.status)


def _read(decoder: Any, body: bytes) -> Any:
    """A body of its type, in which no member is named twice."""
    try:
        given = decoder.decode(body)
        members.once(body)
    except (members.Repeated, UnicodeDecodeError, RecursionError) as problem:
        raise Rejected("malformed", f"this is not JSON as it should be: {problem}") from None
    return given


def no_doubles(raw: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse headers that are given twice and mean one thing: readers disagree about which one counts."""
    seen: set[bytes] = set()
    for name, _ in raw:
        if name in seen and name in _SINGLE:
            raise Rejected("malformed", f"the header {name.decode('ascii')} is given twice")
        seen.add(name)


def _named(given: Any) -> list[str]:
    """The scopes that a request names."""
    single = [getattr(given, field, None) for field in ("scope", "parent", "root")]
    return [*getattr(given, "scopes", ()), *(name for name in single if name)]


class Json(Response):
    """Bytes that are JSON already, with the two headers that they need and without the work to find out which."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code, self.background, self.body = status, None, body
        self.raw_headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI asks."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body})


def _bearer(headers: Headers) -> str | None:
    """The secret that a request carries."""
    kind, _, secret = str(headers.get(b"authorization", b""), "latin-1").partition(" ")
    return secret.strip() or None if kind.lower() == "bearer" else None


def address(scope: Scope) -> str:
    """Where a request comes from; behind a proxy uvicorn has read the header of the proxy."""
    client = scope.get("client")
    return client[0] if client else "unknown"


def _json_only(headers: Headers) -> None:
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        raise Rejected("not_json", "the body must be application/json")


async def body_of(service: Service, headers: Headers, receive: Receive) -> bytes:
    """The bytes of a body: not too many, not too slow."""
    most = service.settings.largest_body
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 20:
        raise Rejected("malformed", "content-length must be a number")
    if int(length) > most:
        raise Rejected("too_large", f"a body may have at most {most} bytes")
    return await service.patience.read(_all_of(receive, most))


async def _all_of(receive: Receive, most: int) -> bytes:
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            raise Rejected("too_large", f"a body may have at most {most} bytes")
    return bytes(body)


def _query(scope: Scope, asked: Any) -> Any:
    given = QueryParams(scope["query_string"])
    if len(given.multi_items()) != len(given):
        raise Rejected("malformed", "each parameter may be given once")
    return msgspec.convert(dict(given), asked, strict=False)
