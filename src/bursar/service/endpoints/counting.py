"""Account and plan: the jobs that need no ledger."""

from __future__ import annotations

from typing import Any

from bursar import wire
from bursar.errors import InputError
from bursar.numerics.real import read_text
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint
from bursar.service.tokens import Token
from bursar.wire import verbs


async def _account(service: Service, token: Token, asked: wire.Account) -> dict[str, Any]:
    if (asked.delta is None) == (asked.epsilon is None):
        raise InputError("ask one thing: delta to learn ε, or epsilon to learn δ", argument="delta")
    given = {name: number(getattr(asked, name), name) for name in ("delta", "epsilon", "width")}
    return await service.count(  # type: ignore[no-any-return]
        token, "account", asked.composition, {**given, "theorems": asked.theorems, "effort": asked.effort}
    )


async def _plan(service: Service, token: Token, asked: wire.Plan) -> dict[str, Any]:
    given = {name: number(getattr(asked, name), name) for name in ("epsilon", "delta", "width")}
    return await service.count(token, "plan", asked.template, {**given, "effort": asked.effort})  # type: ignore[no-any-return]


def number(text: str | None, name: str) -> Any:
    """A number in text means what it means on the command line."""
    return None if text is None else read_text(text.strip(), name)


ENDPOINTS = (
    Endpoint(verbs.ACCOUNT, _account),
    Endpoint(verbs.PLAN, _plan),
)
