"""The client for asynchronous Python."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import httpx

from bursar import wire
from bursar.client.calls import RETRIED, Call, Calls, ServiceError, pause

Answer = TypeVar("Answer")


class AsyncClient:
    """One connection to a service; ``attempts`` is how often a request without an answer is sent."""

    def __init__(
        self, url: str, token: str, *, attempts: int = 5, timeout: float = 30.0, transport: Any = None
    ) -> None:
        self._attempts = attempts
        self._http = httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=timeout, transport=transport
        )

    async def send(self, call: Call[Answer]) -> Answer:
        """Until it is answered: a retry carries the same key, so it is charged once."""
        for attempt in range(self._attempts):
            response, problem = None, None
            try:
                response = await self._http.send(call.request(self._http))
                if response.status_code not in RETRIED:
                    return call.read(response)
            except httpx.TransportError as lost:
                problem = lost
            if attempt + 1 < self._attempts:
                await asyncio.sleep(pause(attempt, response))
        if response is not None:
            return call.read(response)
        raise ServiceError(f"no answer after {self._attempts} attempts: {problem}") from problem

    async def account(self, composition: str, **given: Any) -> dict[str, Any]:
        """What do releases cost? ``delta`` or ``epsilon``, and as in `bursar.account`."""
        return await self.send(Calls.account(composition, **given))

    async def plan(self, template: str, *, epsilon: Any, delta: Any, **given: Any) -> dict[str, Any]:
        """Which value of the unknown fits?"""
        return await self.send(Calls.plan(template, epsilon, delta, **given))

    async def quote(self, scopes: str | Sequence[str], what: Any, *, delta: Any = None) -> wire.Quoted:
        """Would it pass now, and how many more of these would?"""
        return await self.send(Calls.quote(scopes, what, delta))

    async def spend(
        self, scopes: str | Sequence[str], what: Any, *, key: str | None = None, delta: Any = None
    ) -> wire.Receipt:
        """Charge a release before it runs; `BudgetExceeded` says what is left."""
        return await self.send(Calls.spend(scopes, what, key, delta))

    async def reserve(
        self, scopes: str | Sequence[str], what: Any, *, ttl: Any, key: str | None = None, delta: Any = None
    ) -> wire.Reservation:
        """Set an allowance aside for ``ttl`` seconds."""
        return await self.send(Calls.reserve(scopes, what, ttl, key, delta))

    async def draw(self, reservation: str, what: Any = None, *, key: str | None = None) -> wire.Receipt:
        """Spend a part of a reservation, or all that is left."""
        return await self.send(Calls.draw(reservation, what, key))

    async def close(self, reservation: str, *, key: str | None = None) -> wire.Receipt:
        """End a reservation."""
        return await self.send(Calls.close(reservation, key))

    async def scopes(self) -> list[wire.Scope]:
        """The scopes that the token reaches."""
        return (await self.send(Calls.scopes())).scopes

    async def statement(self, scope: str) -> wire.Statement:
        """A scope now."""
        return await self.send(Calls.statement(scope))

    async def entries(self, scope: str, *, after: int = 0, most: int = 100) -> wire.Entries:
        """A page of what was written about a scope."""
        return await self.send(Calls.entries(scope, after, most))

    async def verify(self, *, reprice: bool = False) -> wire.Verification:
        """Recompute the whole ledger from its journal."""
        return await self.send(Calls.verify(reprice=reprice))

    async def export(self, form: str = "jsonl") -> str:
        """The journal as a file."""
        return await self.send(Calls.export(form))

    async def registry(self, root: str, facts: Mapping[str, Any]) -> str:
        """A draft for the OpenDP deployments registry, with the facts that no ledger knows."""
        return await self.send(Calls.registry(root, facts))

    async def health(self) -> wire.Health:
        """Is it up, and does the ledger accept charges?"""
        return await self.send(Calls.health())

    async def shut(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shut()
