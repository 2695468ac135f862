"""Looking: scopes, what is left of one, what was released and written, verification and exports."""

from __future__ import annotations

from typing import Any

from bursar import wire
from bursar.ledger.views.standing import Standing
from bursar.service.core import Audit, Service
from bursar.service.endpoint import Endpoint, Raw
from bursar.service.permissions import covers, everywhere, within
from bursar.service.reach import blanked, narrowed, released_to
from bursar.service.seen import page, summary
from bursar.service.tokens import Token
from bursar.wire import verbs

_MEDIA = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "opendp": "application/yaml"}


async def _scopes(service: Service, token: Token, asked: None) -> dict[str, Any]:
    found = await service.look(token, service.ledger.scopes)
    await service.meet(token, [scope.name for scope in found])
    return {"scopes": [summary(scope) for scope in found if covers(token, service.tree, scope.name)]}


async def _show(service: Service, token: Token, asked: wire.OfScope) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    return (await shown_to(service, token, asked.scope)).to_dict()


async def shown_to(service: Service, token: Token, name: str) -> Standing:
    """A scope as far as a token reaches."""
    found = await service.show(token, name)
    await service.meet(token, [found.scope.row.root])
    return await service.look(token, lambda: narrowed(service.ledger, service.tree, token, found))


async def _released(service: Service, token: Token, asked: wire.OfScope) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    scope = await service.look(token, lambda: service.ledger.scope(asked.scope))
    await service.meet(token, [scope.row.root])
    found = await service.look(token, lambda: released_to(service.ledger, service.tree, token, scope))
    return {"released": [{"what": what, "count": count} for what, count in found]}


async def _entries(service: Service, token: Token, asked: wire.Page) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    return await entries_to(service, token, asked.scope, asked.after, asked.most)


async def entries_to(service: Service, token: Token, name: str, after: int, most: int) -> dict[str, Any]:
    """A page of a scope's entries as far as a token may be told."""
    ledger, tree = service.ledger, service.tree
    return await service.look(
        token, lambda: page(ledger, name, after, most, lambda one, seen: blanked(ledger, tree, token, one, seen))
    )


async def _verify(service: Service, token: Token, asked: wire.Verify) -> dict[str, Any]:
    everywhere(token, "verify")
    found = await service.job(token, lambda: service.ledger.verify(reprice=asked.reprice, deep=asked.deep).to_dict())
    service.audit = Audit(service.ledger.office.clock(), token.name, found)
    return found


async def _export(service: Service, token: Token, asked: wire.Export) -> Raw:
    if asked.form == "opendp" and asked.root is not None:
        within(token, service.tree, [asked.root])
    else:
        everywhere(token, "export the journal")
    text = await service.job(token, lambda: service.ledger.export(asked.form, root=asked.root))
    return Raw(text, _MEDIA[asked.form])


async def _registry(service: Service, token: Token, asked: wire.Registry) -> Raw:
    within(token, service.tree, [asked.root])
    text = await service.job(token, lambda: service.ledger.export("opendp", root=asked.root, facts=asked.facts))
    return Raw(text, _MEDIA["opendp"])


ENDPOINTS = (
    Endpoint(verbs.SCOPES, _scopes),
    Endpoint(verbs.SHOW, _show),
    Endpoint(verbs.RELEASED, _released),
    Endpoint(verbs.ENTRIES, _entries),
    Endpoint(verbs.VERIFY, _verify),
    Endpoint(verbs.EXPORT, _export),
    Endpoint(verbs.EXPORT_WITH_FACTS, _registry),
)
