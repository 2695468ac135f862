"""One way from a request to an answer, the same for every endpoint: who, how often, what, may they, then do it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bursar import members
from bursar.errors import Refused
from bursar.problems import Rejected
from bursar.service.answers import response
from bursar.service.asking import begin
from bursar.service.core import Service
from bursar.service.permissions import permit
from bursar.service.reach import hushed
from bursar.service.tokens import EVERYTHING, Token
from bursar.wire import Verb, encode

Headers = Mapping[bytes, bytes]
_SINGLE = frozenset(
    b"authorization content-length content-type cookie host hx-request origin sec-fetch-site transfer-encoding".split()
)
OLD_SINCE = b"@1794787200"
"""The day on which verbs got one name at every door, as RFC 9745 writes it: 16 November 2026."""
Run = Callable[[Service, Token, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    """A verb, and what answers it at an address."""

    verb: Verb[Any, Any]
    run: Run
    old: str | None = None
    """The address of the version before, where this is the one."""

    @property
    def path(self) -> str:
        """The path at which it is asked."""
        return self.old or self.verb.path

    def everywhere(self) -> Iterator[Endpoint]:
        """This one, and the same at the addresses that it had before."""
        yield self
        for path in self.verb.old:
            yield replace(self, old=path)


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


class Answer(Protocol):
    """What is sent back: an application of its own, as ASGI sees it."""

    @property
    def status_code(self) -> int:
        """The status of the answer."""
        ...

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers, to which others may be added."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI asks."""
        ...


Handle = Callable[[Scope, Receive], Awaitable[Answer]]


def handler(service: Service, endpoint: Endpoint) -> Handle:
    """From a request to its response; whatever goes wrong becomes a problem."""
    decoder = None if endpoint.verb.body is None else msgspec.json.Decoder(endpoint.verb.body)
    path, moved = endpoint.path, _moved(endpoint)

    async def handle(scope: Scope, receive: Receive) -> Answer:
        started = time.perf_counter()
        begin(receive)
        try:
            answer: Answer = await _answer(service, endpoint, decoder, scope, receive)
        except ClientDisconnect:
            answer = Response(status_code=400)
        except Exception as error:
            answer, code = response(error)
            service.metrics.refusals[code] += 1
        if moved:
            answer.raw_headers.extend(moved)
        service.metrics.answered(path, answer.status_code, time.perf_counter() - started)
        return answer

    return handle


def _moved(endpoint: Endpoint) -> list[tuple[bytes, bytes]]:
    """What an old address says of itself: since when it is old (RFC 9745), and which one came after it."""
    if endpoint.old is None:
        return []
    return [(b"deprecation", OLD_SINCE), (b"link", f'<{endpoint.verb.path}>; rel="successor-version"'.encode())]


async def _answer(service: Service, endpoint: Endpoint, decoder: Any, scope: Scope, receive: Receive) -> Answer:
    verb, token, given, headers = endpoint.verb, None, None, dict(scope["headers"])
    if len(headers) != len(scope["headers"]):
        no_doubles(scope["headers"])
    if not verb.anybody:
        token = service.identify(_bearer(headers), address(scope))
        permit(token, verb.name)
    if decoder is not None:
        if verb.method == "POST":
            if headers.get(b"content-type") != b"application/json":
                _json_only(headers)
            given = _read(decoder, await body_of(service, headers, receive))
        else:
            given = _query(scope, verb.body)
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
    return Json(encode(found), verb.status)


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


class Json:
    """Bytes that are JSON already, with the two headers that they need and without the work to find out which."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code, self.body = status, body
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
