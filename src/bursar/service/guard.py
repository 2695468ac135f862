"""HTTP as uvicorn speaks it, with an end to the patience for a request's head (uvicorn has none for clients that send
half of one and wait, nor a limit on its size), and with a share of the connections for each address.

Nobody is turned away as long as some connection does nothing: the one that has done nothing for longest makes room.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bursar.service.settings import Settings

LARGEST_HEAD = 65_536
_LOOK = 1.0  # seconds between two looks at those who only pretend to ask


class Doors:
    """How many connections there are, from where, and how many there may be."""

    def __init__(self, settings: Settings) -> None:
        self._most, self._each = settings.most_connections, settings.most_from_one_address
        self._proxies = proxies(settings)
        self.open: dict[Guarded, None] = {}
        self._from: Counter[str] = Counter()

    def enter(self, one: Guarded) -> bool:
        """Let a connection in, if need be in the place of an idle one; False where all are busy."""
        address = one.address
        if address not in self._proxies and self._from[address] >= self._each and not self._dismiss(address):
            return False
        if len(self.open) >= self._most and not self._dismiss(max(self._from, key=self._from.__getitem__)):
            return False
        self.open[one] = None
        self._from[address] += 1
        return True

    def leave(self, one: Guarded) -> None:
        """Forget a connection that is closed."""
        if one in self.open:
            del self.open[one]
            self._from[one.address] -= 1
            if not self._from[one.address]:
                del self._from[one.address]

    async def watch(self, patience: float) -> None:
        """Once a second, close those that have waited too long for a head, and those that have not read their answers
        for as long.
        """
        while True:
            await asyncio.sleep(_LOOK)
            ended = time.monotonic() - patience
            for one in list(self.open):
                if one.waits is not None and one.waits < ended:
                    one.transport.close()
                if one.stuck is not None and one.stuck < ended:
                    one.drop()

    def _dismiss(self, address: str) -> bool:
        """Close the connection from there that has done nothing for longest."""
        idle = [(since, one) for one in self.open if one.address == address and (since := one.idle or one.stuck)]
        if not idle:
            return False
        longest = min(idle, key=lambda pair: pair[0])[1]
        self.leave(longest)
        longest.drop()
        return True


class Guarded(HttpToolsProtocol):
    """A connection that knows since when it waits for a head, how much of it there is, and since when it is idle."""

    doors: Doors

    def connection_made(self, transport: Any) -> None:
        """Notes that the first head is due, and closes the connection where there is no place for it."""
        self.waits: float | None = time.monotonic()
        self.idle: float | None = self.waits
        self.stuck: float | None = None
        self._size = 0
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not self.doors.enter(self):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives its place to others."""
        self.doors.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Refuses a head that does not end."""
        self._size += len(data)
        super().data_received(data)
        if self.waits is not None and self._size > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """Notes that another head is due."""
        self.waits = self.idle = time.monotonic()
        self._size = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Notes that the head is there; as long as the body is not, the connection has done nothing yet."""
        self.waits = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Notes that the whole request is there: the connection is at work."""
        self.idle = None
        super().on_message_complete()

    def drop(self) -> None:
        """End it at once: what it was told, or would be, will never be read."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.pipeline.clear()
        self.transport.abort()

    def pause_writing(self) -> None:
        """Notes since when the client does not read what it is told."""
        self.stuck = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Notes that the client reads again."""
        self.stuck = None
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Notes since when the connection is idle, unless another request waits on it."""
        if not self.pipeline:
            self.idle = time.monotonic()
        super().on_response_complete()


def guarded(doors: Doors) -> type[Guarded]:
    """The protocol of one server, whose connections share its doors."""
    return type("GuardedHere", (Guarded,), {"doors": doors})


def proxies(settings: Settings) -> frozenset[str]:
    """The addresses that may say who the client is."""
    named = {address.strip() for address in settings.trusted_proxies.split(",") if address.strip()}
    return frozenset(named) if settings.behind_proxy else frozenset()
