"""Deciding requests inside a transaction: each becomes entries of the journal, and the tables follow the entries.

Everything is decided before anything is written, by whole numbers and declared costs only. `post` is the one place
that writes: it appends an entry and applies the entry's own effects, so that the tables are what the journal adds up
to (`bursar.ledger.journal.fold` is the same fold, for whoever verifies).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from bursar.errors import (
    BudgetExceeded,
    BursarError,
    KeyReused,
    LedgerHalted,
    StorageFailed,
)
from bursar.ledger.budget.catalogue import Catalogue
from bursar.ledger.budget.currencies import SPENT, Balance, Into, Refusal, Unpriced
from bursar.ledger.budget.currencies._moves import begun
from bursar.ledger.budget.deciding import Decided, decided
from bursar.ledger.budget.refusals import alike, refusal_of
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Draft, Effects, body_of
from bursar.ledger.journal.entry import FIRST, Chain, Chained, Entry, canonical
from bursar.ledger.stores._base import Head, Transaction


class Request(msgspec.Struct, eq=False):
    """One thing that somebody asks of the ledger."""

    verb: str
    key: str
    actor: str
    fields: dict[str, Any]
    """As the journal writes it."""
    perform: Callable[[Posting, Request], Any]
    read: Callable[[Chained, bool], Any]
    """The outcome as an entry records it; the second argument says whether it is a replay."""
    names: Sequence[str] = ()
    """The scopes it is about."""
    reservation: str | None = None
    text: str = ""
    """The fields as the journal has them; made here, unless the caller knows it."""
    remembered: bool = False
    """Whether its key has been written: the first of its entries answers for it."""
    outcome: Any = None
    failure: BaseException | None = None

    def __post_init__(self) -> None:
        self.text = self.text or canonical({"verb": self.verb, **self.fields})


class Posting:
    """One transaction's work."""

    looking = False
    """Whether it may not write."""

    def __init__(self, tx: Transaction, chain: Chain, catalogue: Catalogue, now: int, seen: dict[str, Head]) -> None:
        self.tx, self.chain, self.catalogue, self.now, self.seen = tx, chain, catalogue, now, seen
        self.heads: dict[str, Head] = {}
        """The ends of the chains that this transaction has lengthened."""
        self.posted: list[tuple[str, int, Effects]] = []
        self._expired: set[str] = set()
        self._found: dict[tuple[Any, ...], tuple[Scope, ...]] = {}

    def prepare(self, requests: Sequence[Request]) -> None:
        """Lock the roots of all requests at once and in order, so that batches never wait for each other in a ring."""
        keys = [request.key for request in requests]
        if self.tx.whole:
            self.tx.lock((), keys)
            return
        roots, scopes = set(), dict[str, None]()
        for request in requests:
            for name in request.names:
                if (root := self.catalogue.root(name, self.tx)) is not None:
                    roots.add(root)
                    scopes.update(dict.fromkeys(self.catalogue.likely(name)))
            if request.reservation is not None and (kept := self.tx.reservation(request.reservation)) is not None:
                roots.add(kept.root)
        self.tx.lock(sorted(roots), keys, list(scopes))

    def run(self, request: Request) -> None:
        """Perform a request, or find what became of it before."""
        try:
            found = self.tx.key(request.key)
            if found is not None:
                request.outcome = self._replayed(request, *found)
            else:
                request.outcome = request.perform(self, request)
        except (LedgerHalted, StorageFailed):
            raise
        except (BursarError, Unpriced) as refusal:  # of this request alone: it was decided before anything was written
            request.failure = refusal

    def _replayed(self, request: Request, root: str, seq: int) -> Any:
        """The first outcome of a key, if it was the same request."""
        chained = self.tx.entry(root, seq)
        if chained is None:
            raise LedgerHalted(f"key {request.key!r} points to entry {seq} of {root}, which is missing")
        if not chained.entry.body.endswith(f'"request":{request.text}}}'):
            raise KeyReused(
                f"key {request.key!r} belongs to another request, entry {seq} of {root}; nothing was changed"
            )
        if chained.entry.kind == "refuse":  # it is told in the scope's units
            self.catalogue.find(chained.entry.content()["refusal"][0], self.tx)
        return request.read(chained, True)

    def lines(self, scope: Scope) -> dict[str, Balance]:
        """The balances of a scope; a window's start anew in each period."""
        balances = self.tx.balances(scope.name)
        if scope.period:
            current = self.now // scope.period
            for line, balance in balances.items():
                if balance.window < current:  # a clock that is set back does not begin a period again
                    balances[line] = begun(balance, current)
        return balances

    def ran(self, scope: Scope) -> list[str]:
        """Every release that ran in a scope, or may still run there by an open reservation."""
        open_ones = [json.loads(row.detail) for row in self.tx.reservations(scope.row.root) if row.status == "open"]
        reserved = [text for detail in open_ones if scope.name in detail["scopes"] for text, _ in detail["left"]]
        return [what for what, _ in self.released(scope.name)] + reserved

    def released(self, name: str) -> list[tuple[str, int]]:
        """What was released in a scope, by this transaction too."""
        self.tx.flush()
        return self.tx.released(name)

    def scope(self, name: str) -> Scope:
        """One scope, of a root that is not behind."""
        scope, _, head = self.catalogue.find(name, self.tx)
        self._not_behind(scope.row.root, head)
        return scope

    def debited(self, names: Sequence[str], *releases: Release) -> tuple[Scope, ...]:
        """Every scope that a charge of these releases debits, once, in order; closed, frozen and mixed ones are
        refused, and releases that are measured in another way.
        """
        asked = (*names, *releases)
        found = self._found.get(asked)
        if found is None:
            found = self.catalogue.debits(tuple(names), self.tx)
            for release in releases:
                alike(found, release)
            for scope in found:
                self._not_behind(scope.row.root, self.tx.head(scope.row.root))
                for balance in self.tx.balances(scope.name).values():
                    if balance.held:
                        self.expire(scope.row.root)
            self._found[asked] = found
        return found

    def decide(
        self, scopes: Sequence[Scope], release: Release, into: Into = SPENT
    ) -> tuple[list[Decided], tuple[Scope, Refusal] | None]:
        """For each scope what a release does to it; or the first refusal."""
        return decided([(scope, self.lines(scope)) for scope in scopes], release, into)

    def refuse(self, request: Request, scope: Scope, refusal: Refusal) -> BudgetExceeded:
        """A refusal is an outcome: it is written down, and repeated to whoever repeats the request."""
        balance = refusal.balance
        numbers = [refusal.asked, balance.spent, balance.held, balance.limit, balance.left]
        draft = Draft(extra={"refusal": [scope.name, refusal.line, *map(str, numbers)]})
        chained = self.post(request, "refuse", scope.row.root, draft)
        return refusal_of(scope, chained, False)

    def post(self, request: Request | None, kind: str, root: str, draft: Draft) -> Chained:
        """Append an entry and apply what it says."""
        head = self.tx.head(root)
        if root not in self.heads:
            self._not_behind(root, head)
        last, now, prev, epoch = head or (0, 0, FIRST, 0)
        seq, at = last + 1, max(self.now, now + 1)
        text, key, actor = ("null", "", "") if request is None else (request.text, request.key, request.actor)
        entry = Entry(root, seq, at, kind, key, actor, body_of(draft, text), prev)
        chained = Chained(entry, self.chain.hash(entry))
        self._apply(draft)
        self.heads[root] = self.tx.append(chained, epoch + bool(draft.scopes))
        self.posted.append((root, seq, draft.effects))
        if request is not None and not request.remembered:
            request.remembered = True
            self.tx.remember(key, root, seq)
        return chained

    def _apply(self, draft: Draft) -> None:
        """The tables, as the entry says."""
        new = self._change_scopes(draft) if draft.scopes else ()
        self.tx.set_balances([(scope, line, after) for scope, line, _, after in draft.effects if scope not in new])
        if draft.reservation is not None:
            self.tx.set_reservation(draft.reservation)
        for row in draft.touched:
            self.tx.set_reservation(row)
        if draft.released is not None:
            for scope in {effect[0]: None for effect in draft.effects}:
                self.tx.add_released(scope, draft.released, 1)

    def _change_scopes(self, draft: Draft) -> set[str]:
        """What a steward has decided; the new ones come with their lines."""
        self._found.clear()
        new = {row.name for row in draft.scopes if self.tx.scope(row.name) is None}
        for row in draft.scopes:
            if row.name in new:
                self.tx.add_scope(row, [(line, after) for scope, line, _, after in draft.effects if scope == row.name])
            else:
                self.tx.set_scope(row)
        return new

    def expire(self, root: str) -> None:
        """Release what is left of reservations whose time has passed; asked only where something is held."""
        from bursar.ledger.verbs.reserve import released_reservation

        if root in self._expired or self.looking:
            return
        self._expired.add(root)
        for row in self.tx.due(root, self.now):
            self.post(None, "expire", root, released_reservation(self, row, "expired"))

    def _not_behind(self, root: str, head: Head | None) -> None:
        """Halt where the store has lost entries that this process has seen."""
        seen = self.seen.get(root)
        if seen is not None and (
            head is None or head.seq < seen.seq or (head.seq == seen.seq and head.hash != seen.hash)
        ):
            raise LedgerHalted(f"{root}: entries up to {seen.seq} were seen, the store now ends earlier or differs")
