"""What stewards do: open, limit, freeze, thaw, retire, correct, bring in."""

from __future__ import annotations

import csv
import io
from typing import Any

from bursar import wire
from bursar.errors import BudgetExceeded, ConsentNeeded, NotPermitted
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.release import remembered
from bursar.ledger.views.looks import charged_by
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint, Run
from bursar.service.endpoints.spending import told_below
from bursar.service.permissions import MAY, covers, everywhere, within
from bursar.service.tokens import EVERYTHING, Token
from bursar.wire import verbs

_LIMITS = ("epsilon", "delta", "rho", "mu", "renyi")
_OPENING = (*_LIMITS, "order", "leak", "currency", "parent", "kind", "unit", "relation", "second_person")


async def _open(service: Service, token: Token, asked: wire.Open) -> dict[str, Any]:
    if asked.kind == "root":
        everywhere(token, "open a root")
    elif asked.parent is not None:
        within(token, service.tree, [asked.parent])
    if token.scope != EVERYTHING and not asked.scope.startswith(f"{token.scope}/"):
        # whoever may try any name learns which ones others have
        raise NotPermitted(f"with this token the name of a new scope begins with {token.scope}/")
    terms = {name: getattr(asked, name) for name in _OPENING} | {"splits": asked.splits or None}
    # which scope lies above, and whether the token reaches it, the ledger decides at once
    place = None if token.scope == EVERYTHING else token.scope
    spent = [await service.read(token, what) for what in asked.spent]
    said: dict[str, Any] = {
        "spent": spent,
        "consent": asked.consent,
        "by": token.name,
        "key": asked.key,
        "within": place,
    }
    receipt = await service.job(token, lambda: service.ledger.open(asked.scope, **terms, **said))
    return await service.receipt_for(token, receipt)


async def _limit(service: Service, token: Token, asked: wire.Limit) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    second = None if asked.approval is None else await _second(service, token, asked.approval, asked.scope)
    limits = {name: value for name in _LIMITS if (value := getattr(asked, name)) is not None}
    who = {"by": token.name, "approved_by": second, "key": asked.key, "consent": asked.consent}
    receipt = await service.job(token, lambda: service.ledger.limit(asked.scope, reason=asked.reason, **who, **limits))
    return await service.receipt_for(token, receipt)


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
        return await service.receipt_for(token, receipt)

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
    return await service.receipt_for(token, receipt)


async def _bring_in(service: Service, token: Token, asked: wire.BringIn) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    past = await past_of(service, token, asked.table)
    try:
        receipt = await service.job(
            token,
            lambda: service.ledger.bring_in(asked.scope, past, key=asked.key, by=token.name, consent=asked.consent),
        )
    except BudgetExceeded as refusal:
        raise await told_below(service, token, refusal) from None
    except ConsentNeeded as needed:
        raise await consent_below(service, token, needed) from None
    return await service.receipt_for(token, receipt)


async def consent_below(service: Service, token: Token, needed: ConsentNeeded) -> ConsentNeeded:
    """What consent is asked for, without the prices of scopes above those of a token."""
    await service.meet(token, [scope for scope, _ in needed.lines if scope is not None])
    return needed.about(lambda scope: covers(token, service.tree, scope))


async def past_of(service: Service, token: Token, table: str) -> str:
    """A table of past releases with the same meaning, whose texts are known here: they were read elsewhere."""
    rows = io.StringIO()
    writer = csv.writer(rows)
    writer.writerow(("what", "delta"))
    for release in await service.count(token, "past", table):
        remembered(release.text, release.delta, release)
        writer.writerow((release.text, "" if release.delta is None else written(release.delta)))
    return rows.getvalue()


ENDPOINTS = (
    Endpoint(verbs.OPEN, _open),
    Endpoint(verbs.LIMIT, _limit),
    Endpoint(verbs.FREEZE, _status("freeze")),
    Endpoint(verbs.THAW, _status("thaw")),
    Endpoint(verbs.RETIRE, _status("retire")),
    Endpoint(verbs.CORRECT, _correct),
    Endpoint(verbs.BRING_IN, _bring_in),
)
