"""What a token that is bound to a part of the tree may be told of what others do beside it.

A charge on the whole data touches every block, and one charge may name several scopes. Whoever sees one of them sees
that it was touched, when, and by how much; who asked, with which key and what ran there is for those who reach all
that the request was made on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from bursar.errors import PerChargeCap, ScopeClosed, ScopeFrozen
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.fold import changes_of
from bursar.ledger.journal.held import detail_of
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.standing import Standing
from bursar.service.permissions import Tree, covers
from bursar.service.tokens import EVERYTHING, Token

Released = tuple[tuple[str, int], ...]
BLANK = {"key": "", "actor": "", "hash": "", "what": None, "reason": None}
"""Beside what is told of an entry to everybody who sees a scope that it touched. A hash would let them try guesses."""
_PAGE = 1000  # entries that are read at once
_BEYOND: dict[type[Exception], str] = {
    ScopeClosed: "a scope that this debits is closed",
    ScopeFrozen: "a scope that this debits is frozen: a steward must thaw it",
    PerChargeCap: "on a scope that this debits, it takes a larger share of a limit than the service allows",
}


def made_on(ledger: Ledger, chained: Chained) -> list[str]:
    """The scopes that the request behind an entry was made on; those of the charge that it corrects, if it does."""
    met: set[tuple[str, int]] = set()
    while True:
        body = body_in(chained.entry.body)
        if body.corrects is None or body.corrects in met:
            break
        root, seq = body.corrects
        following = ledger.entries(root, after=seq - 1, most=1)
        if not following or following[0].entry.seq != seq:
            break
        met.add(body.corrects)
        chained = following[0]
    request = body.asked()
    named = request.get("scopes") or [request[name] for name in ("scope", "name") if name in request]
    if not named and body.reservation is not None:
        held = detail_of(body.reservation.detail)
        named = held.named or held.scopes
    return list(named) or [chained.entry.root]


def blanked(ledger: Ledger, tree: Tree, token: Token, chained: Chained, seen: dict[str, Any]) -> dict[str, Any]:
    """An entry as far as it may be told to a token."""
    return seen if reaches(ledger, tree, token, chained) else {**seen, **BLANK}


def reaches(ledger: Ledger, tree: Tree, token: Token, chained: Chained) -> bool:
    """Whether a token may be told who asked for an entry, and what ran."""
    if token.scope == EVERYTHING:
        return True
    names = made_on(ledger, chained)
    if not tree.knows(names):
        tree.refresh()
    return all(covers(token, tree, name) for name in names)


def narrowed(ledger: Ledger, tree: Tree, token: Token, found: Standing) -> Standing:
    """A standing as far as it may be told to a token: what ran on all of the data is not for who sees one block."""
    if ledger.halted is not None:
        found = replace(found, halted=ledger.halted.public)
    if covers(token, tree, found.scope.row.root):
        return found
    told = replace(found, released=_own(ledger, tree, token, found.scope, found.released))
    if found.last is None or told_last(ledger, tree, token, found.scope, found.last):
        return told
    return replace(told, like=None, more=None, last=None)


def told_last(ledger: Ledger, tree: Tree, token: Token, scope: Scope, seq: int) -> bool:
    """Whether a token may be told what ran last in a scope, and how many more of it there is room for."""
    if covers(token, tree, scope.row.root):
        return True
    (last,) = ledger.entries(scope.row.root, after=seq - 1, most=1)
    return reaches(ledger, tree, token, last)


def released_to(ledger: Ledger, tree: Tree, token: Token, scope: Scope) -> Released:
    """What was released in a scope as far as it may be told to a token."""
    found = tuple(ledger.released(scope.name))
    return found if covers(token, tree, scope.row.root) else _own(ledger, tree, token, scope, found)


def _own(ledger: Ledger, tree: Tree, token: Token, scope: Scope, released: Released) -> Released:
    """What was released in a scope by requests that a token reaches. Whatever was released in a root was released in
    every block of it.
    """
    beside = _beside(ledger, tree, token, scope)
    if scope.kind == "block":
        beside = beside + Counter(dict(ledger.released(scope.row.root)))
    own = [(what, count - beside[what]) for what, count in released]
    return tuple((what, count) for what, count in own if count > 0)


def _beside(ledger: Ledger, tree: Tree, token: Token, scope: Scope) -> Counter[str]:
    """What ran in a scope by requests on others besides. Entries do not change: each is looked at once."""
    root, place = scope.row.root, (token.scope, scope.name)
    seq, known = tree.beside.get(place, (0, Counter()))
    found = Counter(known)
    while entries := ledger.entries(root, after=seq, most=_PAGE):
        for chained in entries:
            body, entry = body_in(chained.entry.body), chained.entry
            ran = changes_of(root, entry.seq, entry.kind, body, 0).released if body.charged() else []
            here = [(what, count) for name, what, count in ran if name == scope.name]
            on_all = scope.kind == "block" and any(name == root for name, _, _ in ran)
            if here and not on_all and not reaches(ledger, tree, token, chained):
                for what, count in here:
                    found[what] += count
        seq = entries[-1].entry.seq
    tree.beside[place] = (seq, found)
    return found


def hushed(tree: Tree, token: Token | None, error: Exception) -> Exception:
    """A refusal, without the name of a scope that the token does not reach."""
    said = _BEYOND.get(type(error))
    if token is None or token.scope == EVERYTHING or said is None:
        return error
    scope = getattr(error, "scope", None)
    return error if scope is not None and covers(token, tree, scope) else type(error)(said)
