"""Every charge computed anew, from what was asked and the state before it: none may have been cheaper than its price.

Spends and reservations are priced as they come, imports and corrections as releases that come late where others ran.
Draws and closings move what was priced before; what a correction overdrew has no room for its price.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bursar.errors import BursarError
from bursar.ledger.currencies import CERTIFICATES, Balance, Refusal
from bursar.ledger.entry import Entry
from bursar.ledger.release import Release, release_of
from bursar.ledger.scope import Scope
from bursar.ledger.stores._base import Reader

States = dict[str, dict[str, Balance]]


def repriced(reader: Reader, root: str) -> list[str]:
    """What is wrong with the charges of a root."""
    problems: list[str] = []
    scopes = {row.name: Scope(row) for row in reader.scopes(root)}
    now: States = {}
    ran: dict[str, dict[str, None]] = {}
    for entry, _ in reader.entries(root):
        content = entry.content()
        before = {name: dict(now.get(name, {})) for name in dict.fromkeys(row[0] for row in content["effect"])}
        for scope, line, limit0, spent0, held0, dead0, window0, limit, spent, held, dead, window in content["effect"]:
            before[scope][line] = Balance(limit0, spent0, held0, bool(dead0), window0)
            now.setdefault(scope, {})[line] = Balance(limit, spent, held, bool(dead), window)
        releases = _asked(entry, content)
        for name in before if releases else ():
            if name not in content.get("overdrawn", ()):
                late = list(ran.get(name, {})) if entry.kind in ("import", "correct") else []
                problems += _short(entry, content, scopes[name], (before[name], now[name]), releases, late)
        _remember(content, list(before), ran)
    return problems


def _asked(entry: Entry, content: dict[str, Any]) -> list[Release]:
    """What an entry had to pay for."""
    request = content["request"] or {}
    if entry.kind in ("spend", "reserve", "correct"):
        return [release_of(request["what"], request.get("delta"))]
    if entry.kind == "import":
        return [release_of(one["what"], one.get("delta")) for one in request["releases"]]
    return []


def _short(
    entry: Entry,
    content: dict[str, Any],
    scope: Scope,
    states: tuple[dict[str, Balance], dict[str, Balance]],
    releases: Sequence[Release],
    late: Sequence[str],
) -> list[str]:
    """Whether a scope paid less than the prices of these releases, one after another."""
    (state, after), currency = states, scope.currency
    for release in releases:
        try:
            price = currency.late(release, state, late) if late else currency.price(release, state)
            following = currency.step(state, price)
        except BursarError as problem:
            return [f"{entry.root}: entry {entry.seq} has no price now: {problem}"]
        if isinstance(following, Refusal):
            return [_said(entry, content, scope)]
        state = following
    if any(balance.spent + balance.held > after[line].spent + after[line].held for line, balance in state.items()):
        return [_said(entry, content, scope)]
    return []


def _said(entry: Entry, content: dict[str, Any], scope: Scope) -> str:
    made = content.get("certificate")
    by = "" if made is None else f" (its certificate has version {made}, today's {CERTIFICATES['residue']})"
    return f"{entry.root}: entry {entry.seq} charged {scope.name} less than its price{by}"


def _remember(content: dict[str, Any], names: Sequence[str], ran: dict[str, dict[str, None]]) -> None:
    """What has run in each scope by now."""
    whats = [content["released"]] if "released" in content else []
    whats += [*content.get("imported", ()), *content.get("opening", ())]
    whats += [what for what, _ in content.get("inherited", ())]
    for name in names if whats else ():
        ran.setdefault(name, {}).update(dict.fromkeys(whats))
