"""What stewards do: open, limit, freeze, thaw, retire, correct."""

from __future__ import annotations

from typing import Any

from bursar import wire
from bursar.errors import NotPermitted
from bursar.ledger.views.looks import charged_by
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint, Run
from bursar.service.permissions import MAY, covers, everywhere, within
from bursar.service.tokens import EVERYTHING, Token

_LIMITS = ("epsilon", "delta", "rho", "mu", "renyi")
_OPENING = (*_LIMITS, "order", "leak", "currency", "parent", "kind", "unit", "relation", "period", "second_person")


async def _open(service: Service, token: Token, asked: wire.Open) -> dict[str, Any]:
    if asked.kind == "root":
        everywhere(token, "open a root")
    elif asked.parent is not None:
        within(token, service.tree, [asked.parent])
    if token.scope != EVERYTHING and not asked.scope.startswith(f"{token.scope}/"):
        # whoever may try any name learns which ones others have
        raise NotPermitted(f"with this token the name of a new scope begins with {token.scope}/")
    terms = {name: getattr(asked, name) for name in _OPENING}
    # which scope lies above, and whether the token reaches it, the ledger decides at once
    place = None if token.scope == EVERYTHING else token.scope
    spent = [await service.read(token, what) for what in asked.spent]
    receipt = await service.job(
        token,
        lambda: service.ledger.open(asked.scope, **terms, spent=spent, by=token.name, key=asked.key, within=place),
    )
    return receipt.to_dict()


async def _limit(service: Service, token: Token, asked: wire.Limit) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    second = None if asked.approval is None else await _second(service, token, asked.approval, asked.scope)
    limits = {name: value for name in _LIMITS if (value := getattr(asked, name)) is not None}
    receipt = await service.job(
        token,
        lambda: service.ledger.limit(
            asked.scope, reason=asked.reason, by=token.name, approved_by=second, key=asked.key, **limits
        ),
    )
    return receipt.to_dict()


async def _second(service: Service, token: Token, secret: str, scope: str) -> str:
    """The name of a second person, who must hold a token that could have changed the limit alone."""
    other = service.tokens.find(secret)
    if other is None or "limit" not in MAY[other.role]:
        raise NotPermitted("the approval is no token in force that may change limits")
    await service.meet(other, [scope])
    within(other, service.tree, [scope])
    if other.id == token.id or other.name.strip() == token.name.strip():
        raise NotPermitted("the second person must be another one")
    return other.name


def _status(verb: str) -> Run:
    async def run(service: Service, token: Token, asked: wire.Status) -> dict[str, Any]:
        within(token, service.tree, [asked.scope])
        change = getattr(service.ledger, verb)
        receipt = await service.job(
            token, lambda: change(asked.scope, reason=asked.reason, by=token.name, key=asked.key)
        )
        return receipt.to_dict()  # type: ignore[no-any-return]

    return run


async def _correct(service: Service, token: Token, asked: wire.Correct) -> dict[str, Any]:
    within(token, service.tree, [asked.root])
    names = await service.look(token, lambda: charged_by(service.ledger.office, asked.root, asked.seq))
    await service.meet(token, names)
    if not all(covers(token, service.tree, name) for name in names):
        raise NotPermitted("this entry's release was charged beyond what this token reaches, and so is its correction")
    release = await service.read(token, asked.what)
    receipt = await service.job(
        token,
        lambda: service.ledger.correct(
            (asked.root, asked.seq),
            release,
            reason=asked.reason,
            key=asked.key,
            by=token.name,
            consent=asked.consent,
        ),
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
