"""What the ledger keeps, as the wire says it: scopes, and entries as far as they concern one scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from bursar.ledger.budget import words
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.refusals import asked_and_left
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import measured
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.history import Step
from bursar.ledger.views.looks import walk

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
    walked = walk(ledger.office, name, after, most)
    found = []
    for one in walked.entries:
        entry = seen_by(walked.scope, one)
        if entry is not None:
            found.append(told(one, {**entry, **_shares(walked.steps.get(one.entry.seq))}))
    following = walked.entries[-1].entry.seq if len(walked.entries) == most else None
    return {"scope": name, "root": walked.scope.row.root, "entries": found, "next": following}


def _shares(step: Step | None) -> dict[str, str | None]:
    """What an entry took, and what was left after it, in per cent of the limit."""
    if step is None:
        return {"took_percent": None, "left_percent": None}
    return {"took_percent": words.percent(step.took, up=True), "left_percent": words.percent(step.after, up=False)}


def seen_by(scope: Scope, chained: Chained) -> dict[str, Any] | None:
    """An entry as far as it concerns a scope; None where it does not."""
    entry, body = chained.entry, body_in(chained.entry.body)
    lines = scope.currency.lines
    after = measured({one.line: one.after for one in body.effect if one.scope == scope.name})
    effect = [
        {
            "line": name,
            "limit": written(balance.limit * lines[name].unit),
            "spent": written(balance.spent * lines[name].unit),
            "held": written(balance.held * lines[name].unit),
        }
        for name, balance in after.items()
    ]
    refusal = None
    if body.refusal is not None and body.refusal.scope == scope.name:
        line, units = body.refusal.line, body.refusal.numbers()
        asked, left = (written(units[name] * lines[line].unit) for name in ("asked", "left"))
        refusal = {"line": line, "asked": asked, "left": left, "said": asked_and_left(scope, body.refusal)}
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
    """What an entry came to, in words: why it was refused, or what it took and what was left after it."""
    if seen["refusal"] is not None:
        return str(seen["refusal"]["said"])
    if seen["left_percent"] is None:
        return ""
    took, left = (Fraction(seen[name]) / 100 for name in ("took_percent", "left_percent"))
    return (
        f"took {words.taken(took)}, {words.left(left)} left after it" if took else f"{words.left(left)} left after it"
    )
