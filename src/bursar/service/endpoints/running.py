"""Running the service: health, metrics, tokens."""

from __future__ import annotations

from typing import Any

import msgspec

from bursar import __version__, wire
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint, Raw, Told
from bursar.service.permissions import everywhere
from bursar.service.tokens import EVERYTHING, Token
from bursar.wire import verbs


async def _health(service: Service, token: Token, asked: None) -> dict[str, Any] | Told:
    why = await service.ready()
    if why is None:
        return {"status": "ok", "version": __version__}
    status = "halted" if service.halted else "unavailable"
    return Told({"status": status, "version": __version__, "reason": why}, 503)


async def _metrics(service: Service, token: Token, asked: None) -> Raw:
    everywhere(token, "see the counters")
    return Raw(service.metrics.text(service.halted), "text/plain; version=0.0.4; charset=utf-8")


async def _tokens(service: Service, token: Token, asked: None) -> dict[str, Any]:
    everywhere(token, "see tokens")
    return {"tokens": [msgspec.to_builtins(one) for one in service.tokens.all()]}


async def _issue(service: Service, token: Token, asked: wire.NewToken) -> dict[str, Any]:
    everywhere(token, "issue tokens")
    if asked.scope != EVERYTHING:
        await service.look(token, lambda: service.ledger.scope(asked.scope))  # refuses what does not exist
    made, secret = service.tokens.add(asked.name, asked.role, asked.scope, seconds=asked.days * 86_400)
    return {"token": msgspec.to_builtins(made), "secret": secret}


async def _revoke(service: Service, token: Token, asked: wire.Revoke) -> dict[str, Any]:
    everywhere(token, "revoke tokens")
    return {"revoked": service.tokens.revoke(asked.id)}


ENDPOINTS = (
    Endpoint(verbs.HEALTH, _health),
    Endpoint(verbs.METRICS, _metrics),
    Endpoint(verbs.TOKEN_LIST, _tokens),
    Endpoint(verbs.TOKEN_ADD, _issue),
    Endpoint(verbs.TOKEN_REVOKE, _revoke),
)
