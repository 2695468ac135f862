"""Scopes, statements, entries, verification and exports."""

from __future__ import annotations

from typing import Any

from bursar import wire
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.views.statement import Statement
from bursar.service.core import Service
from bursar.service.endpoint import Endpoint, Raw
from bursar.service.permissions import covers, everywhere, within
from bursar.service.reach import blanked, narrowed
from bursar.service.tokens import Token

_MEDIA = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "opendp": "application/yaml"}


def summary(scope: Scope) -> dict[str, Any]:
    """A scope without its balances."""
    row = scope.row
    return {
        "name": scope.name,
        "kind": scope.kind,
        "parent": row.parent,
        "status": row.status,
        "currency": row.currency,
        "target": scope.target,
    }


async def _scopes(service: Service, token: Token, asked: None) -> dict[str, Any]:
    found = await service.look(token, service.ledger.scopes)
    await service.meet(token, [scope.name for scope in found])
    return {"scopes": [summary(scope) for scope in found if covers(token, service.tree, scope.name)]}


async def _statement(service: Service, token: Token, asked: wire.OfScope) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    return (await shown_to(service, token, asked.scope)).to_dict()


async def shown_to(service: Service, token: Token, name: str) -> Statement:
    """A scope as far as a token reaches."""
    found = await service.show(token, name)
    await service.meet(token, [found.scope.row.root])
    return await service.look(token, lambda: narrowed(service.ledger, service.tree, token, found))


async def _entries(service: Service, token: Token, asked: wire.Page) -> dict[str, Any]:
    within(token, service.tree, [asked.scope])
    return await service.look(token, lambda: page(service, token, asked.scope, asked.after, asked.most))


def page(service: Service, token: Token, name: str, after: int, most: int) -> dict[str, Any]:
    """Entries of a scope's root that concern it, as far as the token may be told, and where the next page begins."""
    ledger, tree = service.ledger, service.tree
    scope = ledger.scope(name)
    root = scope.row.root
    chained = ledger.entries(root, after=after, most=most)
    found = [(one, entry) for one in chained if (entry := seen_by(scope, one)) is not None]
    entries = [blanked(ledger, tree, token, one, entry) for one, entry in found]
    following = chained[-1].entry.seq if len(chained) == most else None
    return {"scope": name, "root": root, "entries": entries, "next": following}


def seen_by(scope: Scope, chained: Chained) -> dict[str, Any] | None:
    """An entry as far as it concerns a scope; None where it does not."""
    entry, body = chained.entry, body_in(chained.entry.body)
    lines = scope.currency.lines
    effect = [
        {
            "line": one.line,
            "limit": written(one.limit * lines[one.line].unit),
            "spent": written(one.spent * lines[one.line].unit),
            "held": written(one.held * lines[one.line].unit),
        }
        for one in body.effect
        if one.scope == scope.name
    ]
    refusal = None
    if body.refusal is not None and body.refusal.scope == scope.name:
        line, units = body.refusal.line, body.refusal.numbers()
        asked, left = (written(units[name] * lines[line].unit) for name in ("asked", "left"))
        refusal = {"line": line, "asked": asked, "left": left}
    if not effect and refusal is None and all(row.name != scope.name for row in body.scopes or ()):
        return None
    request = body.asked()
    return {
        "seq": entry.seq,
        "at": entry.at,
        "kind": entry.kind,
        "key": entry.key,
        "actor": entry.actor,
        "hash": chained.hash,
        "what": body.released or request.get("what"),
        "reason": body.reason or request.get("reason"),
        "effect": effect,
        "refusal": refusal,
    }


async def _verify(service: Service, token: Token, asked: wire.Verify) -> dict[str, Any]:
    everywhere(token, "verify")
    return await service.job(token, lambda: service.ledger.verify(reprice=asked.reprice).to_dict())


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
    Endpoint("GET", "/v1/scopes", "scopes", "The scopes that the token reaches", None, wire.ScopeList, _scopes),
    Endpoint("GET", "/v1/statement", "statement", "A scope now", wire.OfScope, wire.Statement, _statement),
    Endpoint("GET", "/v1/entries", "entries", "What was written about a scope", wire.Page, wire.Entries, _entries),
    Endpoint("POST", "/v1/verify", "verify", "Recompute everything", wire.Verify, wire.Verification, _verify),
    Endpoint("GET", "/v1/export", "export", "The journal as a file", wire.Export, str, _export, media="text/plain"),
    Endpoint(
        "POST",
        "/v1/export",
        "export",
        "A draft for the deployments registry",
        wire.Registry,
        str,
        _registry,
        media=_MEDIA["opendp"],
    ),
)
