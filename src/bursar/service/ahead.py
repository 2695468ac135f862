"""Looks ahead: how many more of a release fit, and what would pass in place of one that was refused.

Both are counted in processes of their own, and remembered while the scopes stay as they are: a refusal changes nothing,
so whoever is refused again and again has it counted once. What would pass is a courtesy. It is left out where counting
it takes long, or where a token has had much counted lately, so that refusals cost nobody else anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bursar.errors import BursarError
from bursar.ledger.budget.refusals import Caps
from bursar.ledger.budget.release import Release
from bursar.ledger.views.looks import states

if TYPE_CHECKING:
    from bursar.service.core import Service
    from bursar.service.tokens import Token

_MOST = 10_000
_COURTESY = 2.0  # seconds of the processor that a token may have used lately, and still be told what would pass


class Ahead:
    """What was counted ahead, by the states of the scopes that it was counted for."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known: dict[Any, Any] = {}

    async def more(self, token: Token, name: str, like: str | None) -> int | None:
        """How many more like a release a scope admits; None where nobody can say, or it takes too long to."""
        if like is None:
            return None
        try:
            found: int | None = await self._count(token, "more", [name], await self._service.read(token, like))
        except BursarError:
            return None
        return found

    async def instead(self, token: Token, scopes: Sequence[str], release: Release, caps: Caps) -> str | None:
        """A release of the same kind that would pass now; None where none is known, or it would cost too much."""
        if self._service.workers.used(token.id) > _COURTESY:
            return None
        try:
            found: str | None = await self._count(token, "instead", scopes, release, caps)
        except BursarError:
            return None
        return found

    async def _count(self, token: Token, kind: str, scopes: Sequence[str], release: Release, *rule: Any) -> Any:
        service = self._service
        seen = await service.glance(token, lambda: states(service.ledger.office, scopes, release))
        key = (kind, release, rule, *((scope.row, *state.values()) for scope, state in seen))
        if key not in self._known:
            found = await service.count(token, kind, [(scope.row, state) for scope, state in seen], release, *rule)
            if len(self._known) > _MOST:
                self._known.clear()
            self._known[key] = found
        return self._known[key]
