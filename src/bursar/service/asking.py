"""Who asks: what every part of the service may want to know of the request that it works for."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from starlette.types import Receive

from bursar.service.tokens import Token
from bursar.service.workers.job import Counted

Answer = TypeVar("Answer")
LISTEN: ContextVar[Receive | None] = ContextVar("listen", default=None)
"""How a request hears that its client has left."""
TOKEN: ContextVar[Token | None] = ContextVar("token", default=None)
"""On whose behalf a thread is at work."""
_COUNTED: ContextVar[Counted | None] = ContextVar("counted", default=None)


def begin(receive: Receive) -> None:
    """A request begins: its client may leave, and nothing has been counted for it."""
    LISTEN.set(receive)
    _COUNTED.set(Counted())


def counted() -> Counted:
    """How long has been counted for this request."""
    return _COUNTED.get() or Counted()


async def left(listen: Receive) -> None:
    """Wait until the client is gone."""
    while (await listen())["type"] != "http.disconnect":
        pass


def on_behalf(token: Token, what: Callable[[], Answer]) -> Answer:
    """What a thread finds on behalf of a token."""
    before = TOKEN.set(token)
    try:
        return what()
    finally:
        TOKEN.reset(before)
