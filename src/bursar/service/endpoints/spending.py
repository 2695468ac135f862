"""Quote, spend, reserve, draw and close, within the token's part of the tree."""

from __future__ import annotations

from typing import Any, TypeVar

from bursar import wire
from bursar.errors import BudgetExceeded, InputError, NotPermitted, Refused
from bursar.ledger.arguments import reservation_id
from bursar.ledger.budget.refusals import Caps
from bursar.ledger.budget.release import known_text
from bursar.ledger.commit.request import Verb
from bursar.ledger.verbs.draw import Close, draw
from bursar.ledger.verbs.reserve import Reserve, reserve
from bursar.ledger.verbs.spend import Spend, spend
from bursar.ledger.views import looks
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint
from bursar.service.permissions import covers, within
from bursar.service.tokens import Token
from bursar.wire import verbs

Answer = TypeVar("Answer")
ABOVE = "a scope above those of this token has not enough left"


class NotEnoughAbove(Refused):
    """A refusal by a scope that the token may not see: no numbers but what a quote would tell, what would pass."""

    code = "insufficient_budget"

    def __init__(self, would_pass: str | None) -> None:
        advice = "" if would_pass is None else f"; {would_pass} would pass"
        super().__init__(f"{ABOVE}; nothing was charged{advice}")
        self.would_pass = would_pass


def _reach(service: Service, token: Token, scopes: list[str]) -> None:
    if len(scopes) > service.settings.most_scopes:
        raise InputError(f"a charge names at most {service.settings.most_scopes} scopes", argument="scopes")
    within(token, service.tree, scopes)


async def _quote(service: Service, token: Token, asked: wire.Quote) -> dict[str, Any]:
    _reach(service, token, asked.scopes)
    release = await service.read(token, asked.what, asked.delta)
    seen = await service.glance(token, lambda: looks.states(service.ledger.office, asked.scopes, release))
    found = await service.count(token, "quote", [(scope.row, state) for scope, state in seen], release)
    await service.meet(token, [part["scope"] for part in found["parts"]])
    parts = [part for part in found["parts"] if covers(token, service.tree, part["scope"])]
    taken = [one for one in found["taken"] if covers(token, service.tree, one["scope"])]
    if len(parts) < len(found["parts"]) and found["reason"] is not None:
        found["reason"] = ABOVE
    return {**found, "taken": taken, "parts": parts}


async def _commit(service: Service, token: Token, verb: Verb[Answer], key: str) -> Answer:
    try:
        return await service.charge(token, service.ledger.request(verb, key=key, by=token.name))
    except BudgetExceeded as refusal:
        advice = None
        if isinstance(verb, (Spend, Reserve)):
            caps = Caps(verb.cap) if isinstance(verb, Spend) else verb.caps
            advice = await service.ahead.instead(token, verb.scopes, verb.release, caps)
        raise await told_below(service, token, refusal, advice) from None


async def told_below(service: Service, token: Token, refusal: BudgetExceeded, advice: str | None = None) -> Refused:
    """A refusal as it may be told to a token: without numbers where the scope that refuses is above its own."""
    await service.meet(token, [refusal.scope])
    if not covers(token, service.tree, refusal.scope):
        return NotEnoughAbove(advice)
    refusal.advice = lambda: advice
    return refusal


async def _spend(service: Service, token: Token, asked: wire.Spend) -> dict[str, Any]:
    _reach(service, token, asked.scopes)
    release = known_text(asked.what, None) if asked.delta is None else None
    if release is None:
        release = await service.read(token, asked.what, asked.delta)
    verb = spend(asked.scopes, release, cap=service.largest_charge, reason=asked.reason)
    receipt = await _commit(service, token, verb, asked.key)
    return await service.receipt_for(token, receipt)


async def _reserve(service: Service, token: Token, asked: wire.Reserve) -> dict[str, Any]:
    _reach(service, token, asked.scopes)
    release = await service.read(token, asked.what, asked.delta)
    caps = Caps(service.largest_charge, service.largest_reserved)
    verb = reserve(asked.scopes, release, asked.ttl, asked.key, caps=caps, reason=asked.reason)
    reservation = await _commit(service, token, verb, asked.key)
    return {**reservation.to_dict(), "receipt": await service.receipt_for(token, reservation.receipt)}


async def _held(service: Service, token: Token, reservation: str) -> None:
    """Refuse another's reservation, in the same words whether it exists or not."""
    names = await service.glance(token, lambda: looks.held_by(service.ledger.office, reservation))
    await service.meet(token, names)
    reached = bool(names) and all(covers(token, service.tree, name) for name in service.tree.leaves(names))
    if not reached and not (token.scope == "*" and not names):
        raise NotPermitted("this token reaches no such reservation")


async def _draw(service: Service, token: Token, asked: wire.Draw) -> dict[str, Any]:
    await _held(service, token, asked.reservation)
    part = None if asked.what is None else await service.read(token, asked.what)
    verb = draw(asked.reservation, part, cap=service.largest_charge, reason=asked.reason)
    receipt = await _commit(service, token, verb, asked.key)
    return await service.receipt_for(token, receipt)


async def _close(service: Service, token: Token, asked: wire.Close) -> dict[str, Any]:
    await _held(service, token, asked.reservation)
    receipt = await _commit(service, token, Close(reservation_id(asked.reservation)), asked.key)
    return await service.receipt_for(token, receipt)


ENDPOINTS = (
    Endpoint(verbs.QUOTE, _quote),
    Endpoint(verbs.SPEND, _spend),
    Endpoint(verbs.RESERVE, _reserve),
    Endpoint(verbs.DRAW, _draw),
    Endpoint(verbs.CLOSE, _close),
)
