"""What stewards do: open, limit, freeze, thaw, retire, correct."""

from __future__ import annotations

from typing import Any

from bursar import wire
from bursar.errors import NotPermitted
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint, Run
from bursar.service.permissions import everywhere, within
from bursar.service.tokens import Token

_LIMITS = ("epsilon", "delta", "rho", "mu", "renyi")
_OPENING = (*_LIMITS, "order", "leak", "currency", "parent", "kind", "unit", "relation", "period", "second_person")


async def _open(service: Service, token: Token, asked: wire.Open) -> dict[str, Any]:
    if asked.parent is None:
        everywhere(token, "open a root")
    else:
        within(token, service.tree, [asked.parent])
    terms = {name: getattr(asked, name) for name in _OPENING}
    receipt = await service.job(
        lambda: service.ledger.open(asked.scope, **terms, spent=asked.spent, by=token.name, key=asked.key)
    )
    return receipt.to_dict()


async def _limit(service: Service, token: Token, asked: wire.Limit) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    if asked.approved_by == token.name:
        raise NotPermitted("the second person must be another one")
    limits = {name: value for name in _LIMITS if (value := getattr(asked, name)) is not None}
    receipt = await service.job(
        lambda: service.ledger.limit(
            asked.scope, reason=asked.reason, by=token.name, approved_by=asked.approved_by, key=asked.key, **limits
        )
    )
    return receipt.to_dict()


def _status(verb: str) -> Run:
    async def run(service: Service, token: Token, asked: wire.Status) -> dict[str, Any]:
        within(token, service.tree, [asked.scope])
        change = getattr(service.ledger, verb)
        receipt = await service.job(lambda: change(asked.scope, reason=asked.reason, by=token.name, key=asked.key))
        return receipt.to_dict()  # type: ignore[no-any-return]

    return run


async def _correct(service: Service, token: Token, asked: wire.Correct) -> dict[str, Any]:
    within(token, service.tree, [asked.root])
    receipt = await service.job(
        lambda: service.ledger.correct(
            (asked.root, asked.seq), asked.what, reason=asked.reason, key=asked.key, by=token.name
        )
    )
    return receipt.to_dict()


ENDPOINTS = (
    Endpoint("POST", "/v1/open", "open", "Open a scope", wire.Open, wire.Receipt, _open, status=201),
    Endpoint("POST", "/v1/limit", "limit", "Raise or lower a limit", wire.Limit, wire.Receipt, _limit),
    Endpoint("POST", "/v1/freeze", "freeze", "Accept no charges", wire.Status, wire.Receipt, _status("freeze")),
    Endpoint("POST", "/v1/thaw", "thaw", "Accept charges again", wire.Status, wire.Receipt, _status("thaw")),
    Endpoint("POST", "/v1/retire", "retire", "Close for good", wire.Status, wire.Receipt, _status("retire")),
    Endpoint("POST", "/v1/correct", "correct", "Add forgotten spend", wire.Correct, wire.Receipt, _correct),
)
