"""HTTP as uvicorn speaks it, with an end to the patience for a request's head: uvicorn has none for clients that send
half of one and wait, nor a limit on its size.
"""

from __future__ import annotations

import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 65_536


class Guarded(HttpToolsProtocol):
    """A connection that knows since when it waits for a head, and how much of it there is."""

    def connection_made(self, transport: Any) -> None:
        """The first head is due."""
        self.waits: float | None = time.monotonic()
        self._size = 0
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head that does not end."""
        self._size += len(data)
        super().data_received(data)
        if self.waits is not None and self._size > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """Another head is due, in time."""
        self.waits, self._size = time.monotonic(), 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It is here."""
        self.waits = None
        super().on_headers_complete()


def dismiss(connections: Any, patience: float) -> None:
    """Close those that have waited too long for a head."""
    ended = time.monotonic() - patience
    for one in list(connections):
        if isinstance(one, Guarded) and one.waits is not None and one.waits < ended:
            one.transport.close()
