"""What the ledger keeps, as the wire says it: scopes, and entries as far as they concern one scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from bursar.ledger.budget.amounts import shown, written
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.ledger import Ledger

Told = Callable[[Chained, dict[str, Any]], dict[str, Any]]


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


def page(ledger: Ledger, name: str, after: int, most: int, told: Told = lambda _, seen: seen) -> dict[str, Any]:
    """Entries of a scope's root that concern it, each as far as it may be told, and where the next page begins."""
    scope = ledger.scope(name)
    root = scope.row.root
    chained = ledger.entries(root, after=after, most=most)
    found = [told(one, entry) for one in chained if (entry := seen_by(scope, one)) is not None]
    following = chained[-1].entry.seq if len(chained) == most else None
    return {"scope": name, "root": root, "entries": found, "next": following}


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


def outcome(seen: Mapping[str, Any]) -> str:
    """What an entry came to, in words: why it was refused, or how much of each line is spent since."""
    refusal = seen["refusal"]
    if refusal is None:
        return ", ".join(f"{row['line']} {shown(Fraction(row['spent']), up=True)}" for row in seen["effect"])
    asked, left = (Fraction(refusal[name]) for name in ("asked", "left"))
    return f"refused: asked {shown(asked, up=True)} of {refusal['line']}, {shown(left, up=False)} was left"
