"""What a steward does: open, change a limit, freeze, close, import what was released before."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from bursar.errors import BudgetExceeded, InputError, NotPermitted
from bursar.ledger.amounts import units_down
from bursar.ledger.catalogue import usable
from bursar.ledger.charging import charged
from bursar.ledger.currencies import Balance, Refusal, currency_of
from bursar.ledger.draft import Draft, Effects
from bursar.ledger.posting import Posting, Request
from bursar.ledger.receipt import Receipt, receipt_of
from bursar.ledger.refusing import alike
from bursar.ledger.release import Release, release_of
from bursar.ledger.scope import Scope, new_scope


def open_scope(posting: Posting, request: Request, asked: dict[str, Any], before: Sequence[Release]) -> Receipt:
    """A new scope, with what had been released before it was opened."""
    name = asked["name"]
    if posting.tx.scope(name) is not None:
        raise InputError(f"there is a scope {name!r} already", argument="scope")
    parent = None if asked["parent"] is None else posting.scope(asked["parent"])
    if parent is not None:
        usable(parent)
    scope = new_scope(name, parent, asked["kind"], asked["currency"], asked["limits"], asked["options"])
    state = scope.currency.opening()
    if parent is not None and scope.kind == "block":
        state = posting.lines(parent)  # what was charged to all of the data was charged to this part too
    after = dict(state)
    for release in before:
        after = _stepped(scope, after, release)
    effects: Effects = [(scope.name, line, Balance(0, 0, 0, False), balance) for line, balance in after.items()]
    draft = Draft(effects, scopes=[scope.row])
    if before:
        draft.extra["opening"] = [release.text for release in before]
    inherited = posting.tx.released(parent.name) if parent is not None and scope.kind == "block" else []
    if inherited:
        draft.extra["inherited"] = [[what, count] for what, count in inherited]
    receipt = receipt_of(posting.post(request, "open", scope.row.root, draft), False)
    for what, count in [*inherited, *((release.text, 1) for release in before)]:
        posting.tx.add_released(scope.name, what, count)
    return receipt


def _stepped(scope: Scope, state: dict[str, Balance], release: Release) -> dict[str, Balance]:
    alike([scope], release)
    after = scope.currency.step(state, scope.currency.price(release, state))
    if isinstance(after, Refusal):
        raise InputError(f"{scope.name}: {release.text} alone, or with what came before it, exceeds the limit")
    return after


def set_limit(
    posting: Posting, request: Request, name: str, limits: dict[str, Any], approved_by: str | None
) -> Receipt:
    """Raise or lower a limit. The unit stays; what is spent stays; a dead way stays dead."""
    scope = posting.scope(name)
    posting.expire(scope.row.root)
    if scope.row.status == "closed":
        usable(scope)
    if scope.kind == "block":
        raise InputError("a block has its root's limit: change that one", argument="scope")
    if scope.second_person and (not approved_by or approved_by == request.actor or not request.actor):
        raise NotPermitted(f"a change of {name}'s limit needs two people: by= and approved_by=, and not the same")
    terms = {**scope.target, **{key: value for key, value in limits.items() if value is not None}}
    if "leak" in terms and "leak" not in {k for k, v in limits.items() if v is not None}:
        terms.pop("leak")
    fresh = currency_of(scope.row.currency, terms)
    every = [scope]
    if scope.kind == "root":
        every += [posting.scope(row.name) for row in posting.tx.scopes(name) if row.kind == "block"]
    effects: Effects = []
    for one in every:
        for line, balance in posting.lines(one).items():
            limit = units_down(fresh.lines[line].limit, one.currency.lines[line].unit)
            if limit < balance.limit and not balance.dead and not one.currency.shrinks(line, balance):
                raise InputError(
                    f"{one.name} has charges on its {line} line, and they are proved for its limit and larger ones "
                    "only: close it and open a new scope, or freeze it",
                    argument=line,
                )
            if not balance.dead and limit < balance.spent + balance.held:
                raise InputError(f"{one.name} has spent or held more than that of {line}", argument=line)
            effects.append((one.name, line, balance, balance._replace(limit=max(limit, balance.spent + balance.held))))
    draft = Draft(effects, scopes=[one.with_target(fresh.terms()).row for one in every])
    draft.extra["approved_by"] = approved_by or ""
    return receipt_of(posting.post(request, "limit", scope.row.root, draft), False)


def set_status(posting: Posting, request: Request, name: str, status: str) -> Receipt:
    """Freeze, thaw, or close for good; a closed scope's children close with it."""
    scope = posting.scope(name)
    if scope.row.status == "closed":
        usable(scope)
    rows = [scope.with_status(status).row]
    if status == "closed":
        below = [name]
        for row in posting.tx.scopes(scope.row.root):
            if row.parent in below and row.status != "closed":
                below.append(row.name)
                rows.append(row._replace(status="closed"))
    return receipt_of(posting.post(request, "status", scope.row.root, Draft(scopes=rows)), False)


def bring_in(posting: Posting, request: Request, releases: Sequence[Release]) -> Receipt:
    """Charge a list of past releases as one entry: all of it, or none."""
    scopes = posting.debited(request.names, *releases)
    if len({scope.row.root for scope in scopes}) > 1:
        raise InputError("an import stays within one root", argument="scope")
    before = {scope.name: posting.lines(scope) for scope in scopes}
    states = {name: dict(state) for name, state in before.items()}
    for release in releases:
        for scope in scopes:
            price = scope.currency.price(release, states[scope.name])
            amounts = scope.currency.amounts(states[scope.name], price)
            if isinstance(amounts, Refusal):
                raise _too_much(posting, request, scope, amounts)
            for name, line, _, after in charged(scope, states[scope.name], amounts):
                states[name][line] = after
    effects = [
        (name, line, balance, states[name][line])
        for name, state in before.items()
        for line, balance in state.items()
        if states[name][line] != balance
    ]
    draft = Draft(effects, extra={"imported": [release.text for release in releases]})
    receipt = receipt_of(posting.post(request, "import", scopes[0].row.root, draft), False)
    for scope in scopes:
        for release in releases:
            posting.tx.add_released(scope.name, release.text, 1)
    return receipt


def _too_much(posting: Posting, request: Request, scope: Scope, refusal: Refusal) -> BudgetExceeded:
    return posting.refuse(request, scope, refusal)


def read_past(text: str) -> list[Release]:
    """Past releases from CSV: a column ``what`` (the text form), and perhaps ``count`` and ``delta``."""
    try:
        table = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
        columns, rows = table.fieldnames, list(table)
    except csv.Error as problem:
        raise InputError(f"this is no CSV table: {problem}", argument="file") from None
    if columns is None or "what" not in columns:
        raise InputError("the first line must name the columns, and one of them must be 'what'", argument="file")
    found = []
    for number, row in enumerate(rows, start=2):
        try:
            count = int((row.get("count") or "1").strip())
            release = release_of((row["what"] or "").strip(), (row.get("delta") or "").strip() or None)
            found.append(release_of(release.composition * count, release.delta) if count != 1 else release)
        except (ValueError, InputError) as problem:
            raise InputError(f"line {number}: {problem}", argument="file") from None
    if not found:
        raise InputError("there is nothing to import", argument="file")
    return found
