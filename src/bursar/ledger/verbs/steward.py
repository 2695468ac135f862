"""What a steward does: open, change a limit, freeze, close, import what was released before."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bursar.errors import InputError, NotPermitted, described
from bursar.ledger.budget.amounts import exact, shown, units_down
from bursar.ledger.budget.catalogue import usable
from bursar.ledger.budget.currencies import Balance, Currency, Refusal, Sought, Unpriced, currency_of
from bursar.ledger.budget.currencies._moves import relimited
from bursar.ledger.budget.refusals import alike
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope, names_above, new_scope, whole_parts
from bursar.ledger.commit.posting import Posting, Request
from bursar.ledger.journal.body import Draft, Effects, effects_of
from bursar.ledger.receipt import Receipt, receipt_of
from bursar.ledger.verbs.reserve import joined


def open_scope(posting: Posting, request: Request, asked: dict[str, Any], before: Sequence[Release]) -> Receipt:
    """A new scope, with what had been released before it was opened."""
    name = asked["name"]
    if posting.tx.scope(name) is not None:
        raise InputError(f"there is a scope {name!r} already", argument="scope")
    parent = _above(posting, asked)
    if asked["within"] is not None and not _lies_in(posting, parent, asked["within"]):
        raise NotPermitted(f"there is no place for {name} below {asked['within']}")
    whole_parts(name)
    if parent is None and asked["kind"] != "root":
        _none_below(posting, name)
    if parent is not None:
        usable(parent)
        posting.expire(parent.row.root)
    elif posting.tx.head(name) is not None:
        raise InputError(f"there was a root {name!r}, whose entries were lost: choose another name", argument="scope")
    scope = new_scope(name, parent, asked["kind"], asked["currency"], asked["limits"], asked["options"])
    window = posting.now // scope.period if scope.period else 0
    after = {line: balance._replace(window=window) for line, balance in scope.currency.opening().items()}
    draft = Draft(scopes=[scope.row])
    ran: list[str] = []
    if parent is not None and scope.kind == "block":  # what was charged to all of the data was charged to this part too
        after, ran = posting.lines(parent), posting.ran(parent)
        shared = [joined(row, parent.name, scope.name) for row in posting.tx.reservations(parent.name)]
        draft.touched = [row for row in shared if row is not None]
    for release in before:
        alike([scope], release)
    opened = folded(scope, after, before, ran)
    if isinstance(opened, Refusal):
        raise InputError(f"{scope.name}: what was released before exceeds the limit on {opened.line}", argument="spent")
    after = opened
    draft.effects = [(scope.name, line, Balance(0, 0, 0, False), balance) for line, balance in after.items()]
    if before:
        draft.extra["opening"] = [release.text for release in before]
    inherited = posting.released(parent.name) if parent is not None and scope.kind == "block" else []
    if inherited:
        draft.extra["inherited"] = [[what, count] for what, count in inherited]
    receipt = receipt_of(posting.post(request, "open", scope.row.root, draft), False)
    for what, count in [*inherited, *((release.text, 1) for release in before)]:
        posting.tx.add_released(scope.name, what, count)
    return receipt


def _above(posting: Posting, asked: dict[str, Any]) -> Scope | None:
    """The parent that was named; else, unless a root is asked for, the nearest scope that the name lies under."""
    if asked["parent"] is not None:
        return posting.scope(asked["parent"])
    if asked["kind"] != "root":
        for name in names_above(asked["name"]):
            if posting.tx.scope(name) is not None:
                return posting.scope(name)
    return None


def _none_below(posting: Posting, name: str) -> None:
    """Refuse a root above roots that lie under it by name: both would have a whole budget for what sounds like one."""
    below = posting.tx.root_under(name)
    if below is not None:
        raise InputError(
            f"{below} lies under {name} by its name and has a budget of its own, which {name} would not contain: "
            'choose another name, or insist on a second budget with kind="root" (--root)',
            argument="scope",
        )


def _lies_in(posting: Posting, scope: Scope | None, top: str) -> bool:
    """Whether a scope is another one, or lies below it."""
    while scope is not None and scope.name != top:
        scope = posting.scope(scope.row.parent) if scope.row.parent else None
    return scope is not None


def folded(
    scope: Scope, state: dict[str, Balance], releases: Sequence[Release], ran: Sequence[str]
) -> dict[str, Balance] | Refusal:
    """The state after past releases: each priced by its place in the list where nothing else ran, else as late."""
    now = state
    for release in releases:
        try:
            price = scope.currency.known(release, now, ran)
        except Unpriced:  # then all of them at once
            raise Unpriced(Sought(scope.currency, tuple(releases), state, tuple(ran))) from None
        after = scope.currency.step(now, price)
        if isinstance(after, Refusal):
            return after
        now = after
    return now


def set_limit(posting: Posting, request: Request, name: str, limits: dict[str, Any], approved_by: str) -> Receipt:
    """Raise or lower a limit. The unit stays; what is spent stays; a dead way stays dead."""
    scope = posting.scope(name)
    posting.expire(scope.row.root)
    if scope.row.status == "closed":
        usable(scope)
    if scope.kind == "block":
        raise InputError("a block has its root's limit: change that one", argument="scope")
    if scope.second_person and (not approved_by or approved_by == request.actor.strip() or not request.actor.strip()):
        raise NotPermitted(f"a change of {name}'s limit needs two people: by= and approved_by=, and not the same")
    fresh = _limited(scope, {key: value for key, value in limits.items() if value is not None})
    every = [scope]
    if scope.kind == "root":
        blocks = [row.name for row in posting.tx.scopes(name) if row.kind == "block" and row.status != "closed"]
        every += [posting.scope(block) for block in blocks]
    draft = Draft(extra={"approved_by": approved_by})
    for one in every:
        draft.effects += _relimited(one, posting.lines(one), fresh)
        draft.scopes.append(one.with_terms(target=fresh.terms(), overdrawn={}).row)
    return receipt_of(posting.post(request, "limit", scope.row.root, draft), False)


def _limited(scope: Scope, limits: dict[str, Any]) -> Currency:
    """The currency with other limits, of which it must have the same lines."""
    if "order" in limits and exact(limits["order"], "order") != Fraction(scope.target.get("order", "0")):
        raise InputError("a scope keeps the order in which it counts: open a new one", argument="order")
    for name in limits.keys() - scope.target.keys():
        raise InputError(f"{scope.name} has no limit on {name}, only on {', '.join(scope.target)}", argument=name)
    terms = {**scope.target, **limits}
    if "leak" in terms and "delta" in limits and "leak" not in limits:
        terms.pop("leak")  # a share of the new δ
    fresh = currency_of(scope.row.currency, terms)
    if fresh.lines.keys() != scope.currency.lines.keys():
        raise InputError("a scope keeps its lines: open a new one for another kind of limit", argument="limit")
    return fresh


def _relimited(scope: Scope, state: dict[str, Balance], fresh: Currency) -> Effects:
    """The lines with their new limits; what was overdrawn is paid first."""
    beyond = scope.overdrawn
    if scope.lost or beyond is None:
        why = "entries of its root were lost" if scope.lost else "it is overdrawn by releases that have no price"
        raise InputError(f"nobody knows what {scope.name} has spent, {why}: open a new scope", argument="scope")
    effects: Effects = []
    for line, balance in state.items():
        limit = units_down(fresh.lines[line].limit, scope.currency.lines[line].unit)
        if limit < balance.limit and not balance.dead and not scope.currency.shrinks(line, balance):
            raise InputError(
                f"{scope.name} has charges on its {line} line, and they are proved for its limit and larger ones "
                "only: close it and open a new scope, or freeze it",
                argument=line,
            )
        truth = balance.spent + beyond.get(line, 0)
        if not balance.dead and limit < truth + balance.held:
            most = shown((truth + balance.held) * scope.currency.lines[line].unit, up=True)
            raise InputError(f"{scope.name} has spent or held {most} of {line}, more than that", argument=line)
        effects.append((scope.name, line, balance, relimited(balance, limit, beyond.get(line, 0))))
    return effects


def set_status(posting: Posting, request: Request, name: str, status: str) -> Receipt:
    """Freeze, thaw, or close for good; a closed scope's children close with it."""
    scope = posting.scope(name)
    if scope.row.status == "closed":
        usable(scope)
    if status == "open" and scope.overdrawn != {}:
        raise InputError(f"{name} is overdrawn: it opens again when a larger limit has paid for that", argument="scope")
    rows = [scope.with_status(status).row]
    if status == "closed":
        every, below = posting.tx.scopes(scope.row.root), [name]
        for above in below:  # which grows
            below += [row.name for row in every if row.parent == above]
        rows += [row._replace(status="closed") for row in every if row.name in below[1:] and row.status != "closed"]
    return receipt_of(posting.post(request, "status", scope.row.root, Draft(scopes=rows)), False)


def bring_in(posting: Posting, request: Request, releases: Sequence[Release]) -> Receipt:
    """Charge a list of past releases as one entry: all of it, or none."""
    scopes = posting.debited(request.names, *releases)
    if len({scope.row.root for scope in scopes}) > 1:
        raise InputError("an import stays within one root", argument="scope")
    posting.expire(scopes[0].row.root)
    effects: Effects = []
    for scope in scopes:
        before = posting.lines(scope)
        after = folded(scope, before, releases, posting.ran(scope))
        if isinstance(after, Refusal):
            raise posting.refuse(request, scope, after)
        effects += effects_of(scope.name, before, after)
    draft = Draft(effects, extra={"imported": [release.text for release in releases]})
    receipt = receipt_of(posting.post(request, "import", scopes[0].row.root, draft), False)
    for scope in scopes:
        for release in releases:
            posting.tx.add_released(scope.name, release.text, 1)
    return receipt


def read_past(text: str) -> list[Release]:
    """Past releases from CSV: a column ``what`` (the text form), and perhaps ``count`` and ``delta``."""
    if not isinstance(text, str):
        raise InputError(f"give the text of a CSV table, not {described(text)}", argument="file")
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
