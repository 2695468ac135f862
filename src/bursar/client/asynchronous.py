"""The client for asynchronous Python."""

from __future__ import annotations

import asyncio
from typing import Any, Self, TypeVar

import httpx

from bursar.client.calls import Awaiting, Call
from bursar.client.verbs import Verbs

Answer = TypeVar("Answer")


class AsyncClient(Verbs, Awaiting):
    """One connection to a service; ``attempts`` is how often a request without an answer is sent."""

    def __init__(
        self, url: str, token: str, *, attempts: int = 5, timeout: float = 30.0, transport: Any = None
    ) -> None:
        self._attempts = attempts
        self._http = httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=timeout, transport=transport
        )

    async def send(self, call: Call[Answer]) -> Answer:
        """The answer to a call, which is sent until there is one."""
        course = call.attempts(self._attempts)
        pause = next(course)
        while True:
            await asyncio.sleep(pause)
            try:
                came: httpx.Response | httpx.TransportError = await self._http.send(call.request(self._http))
            except httpx.TransportError as lost:
                came = lost
            try:
                pause = course.send(came)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]

    async def shut(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shut()
