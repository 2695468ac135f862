"""Deciding requests inside a transaction: each becomes entries of the journal, and the tables follow the entries.

Everything is decided before anything is written, by whole numbers and declared costs only. `post` is the one place
that writes: it appends an entry and applies what the fold says of it (`bursar.ledger.journal.fold`), so that the tables
are what the journal adds up to. Whoever verifies uses the same fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from bursar.errors import BursarError, KeyReused, LedgerHalted, StorageFailed
from bursar.ledger.budget.currencies import CERTIFICATE, SPENT, Balance, Into, Refusal, Unpriced
from bursar.ledger.budget.currencies.splits import CERTIFIED
from bursar.ledger.budget.deciding import Decided, decided
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.reservations import ended, holds
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.catalogue import Catalogue
from bursar.ledger.commit.counters import charge_blocks
from bursar.ledger.commit.request import Request
from bursar.ledger.commit.view import View
from bursar.ledger.journal.body import Body, Draft, Effect, kept, text_of
from bursar.ledger.journal.entry import FIRST, Chain, Chained, Entry
from bursar.ledger.journal.fold import Changes, changes_of
from bursar.ledger.journal.rows import Head, ReservationRow
from bursar.ledger.stores._base import Transaction

_NOBODY = msgspec.Raw(b"null")
"""The request of an entry that nobody asked for: a reservation that has expired, say."""


class Posting(View[Transaction]):
    """One transaction's work."""

    def __init__(self, tx: Transaction, chain: Chain, catalogue: Catalogue, now: int, seen: dict[str, Head]) -> None:
        super().__init__(tx, catalogue, now, seen)
        self.chain = chain
        self.heads: dict[str, Head] = {}
        """The ends of the chains that this transaction has lengthened."""
        self.answered: dict[str, Head] = {}
        """The ends of the chains from which keys are answered: an anchor must know them before anybody is."""
        self.posted: list[tuple[str, int, list[Effect]]] = []
        """Root, number and effects of each entry."""
        self._expired: set[str] = set()
        self._found: dict[tuple[Any, ...], tuple[Scope, ...]] = {}

    def prepare(self, requests: Sequence[Request[Any]]) -> None:
        """Lock the roots of all requests at once and in order, so that batches never wait for each other in a ring."""
        keys = [request.key for request in requests]
        if self.rows.whole:
            self.rows.lock((), keys)
            return
        roots, scopes = set(), dict[str, None]()
        for request in requests:
            for name in request.verb.about:
                if (root := self.catalogue.root(name, self.rows)) is not None:
                    roots.add(root)
                    scopes.update(dict.fromkeys(self.catalogue.likely(name)))
            id = request.verb.held_by
            if id is not None and (row := self.rows.reservation(id)) is not None:
                roots.add(row.root)
        self.rows.lock(sorted(roots), keys, list(scopes))

    def run(self, request: Request[Any]) -> None:
        """Perform a request, or find what became of it before."""
        request.outcome = request.failure = None
        try:
            place = self.rows.key(request.key)
            chained = self._new(request) if place is None else self._before(request, *place)
            request.outcome = request.verb.answer(chained, place is not None, self.met)
        except (LedgerHalted, StorageFailed):
            raise
        except (BursarError, Unpriced) as refusal:  # of this request alone: it was decided before anything was written
            request.failure = refusal

    def _new(self, request: Request[Any]) -> Chained:
        """Decide and write; the first entry answers for the key."""
        first = None
        for draft in request.verb.decide(self, request.actor):
            chained = self.post(draft, request)
            if first is None:
                first = chained
                self.rows.remember(request.key, chained.entry.root, chained.entry.seq)
        assert first is not None
        return first

    def _before(self, request: Request[Any], root: str, seq: int) -> Chained:
        """The entry that answers for a key, if it was the same request."""
        chained = self.rows.entry(root, seq)
        if chained is None:
            raise LedgerHalted(f"key {request.key!r} points to entry {seq} of {root}, which is missing")
        if not chained.entry.body.endswith(f'"request":{request.text}}}'):
            raise KeyReused(
                f"key {request.key!r} belongs to another request, entry {seq} of {root}; nothing was changed"
            )
        self.answered |= self._ends(request, root)
        return chained

    def _ends(self, request: Request[Any], root: str) -> dict[str, Head]:
        """The ends of the chains in which a request may have been written: of all, where it was about several."""
        if len(request.verb.about) > 1:
            return self.rows.heads()
        head = self.rows.head(root)
        return {} if head is None else {root: head}

    def met(self, name: str) -> Scope:
        """A scope, for what never changes about it: its units."""
        return self.catalogue.find(name, self.rows)[0]

    def lines(self, scope: Scope) -> dict[str, Balance]:
        """The balances of a scope; whoever decides on them has expired what was due."""
        return self._balances(scope)

    def released(self, name: str) -> list[tuple[str, int]]:
        """What was released in a scope, by this transaction too."""
        self.rows.flush()
        return self.rows.released(name)

    def debited(self, names: Sequence[str], *releases: Release) -> tuple[Scope, ...]:
        """As everybody sees it, with reservations that are due expired; found once for requests that are alike."""
        asked = (*names, *releases)
        found = self._found.get(asked)
        if found is None:
            found = super().debited(names, *releases)
            for scope in found:
                if holds(self.rows.balances(scope.name)):
                    self.expire(scope.row.root)
            self._found[asked] = found
        return found

    def decide(
        self, scopes: Sequence[Scope], release: Release, into: Into = SPENT
    ) -> tuple[list[Decided], tuple[Scope, Refusal] | None]:
        """For each scope what a release does to it; or the first refusal."""
        return decided([(scope, self.lines(scope)) for scope in scopes], release, into)

    def expire(self, root: str) -> None:
        """Release what is left of reservations whose time has passed; asked only where something is held."""
        if root not in self._expired:
            self._expired.add(root)
            for row in self.rows.due(root, self.now):
                self.post(self.ending(row, "expired"))

    def ending(self, row: ReservationRow, status: str) -> Draft:
        """What ends a reservation: held amounts return to what is left."""
        after, effects = ended(row, status, lambda name: self.lines(self.scope(name)))
        kind = "expire" if status == "expired" else "close"
        return Draft(kind, row.root, Body(effect=effects, reservation=kept(after)))

    def post(self, draft: Draft, request: Request[Any] | None = None, actor: str = "") -> Chained:
        """Append an entry and apply what it says. Without a request nobody asked for it."""
        root, body = draft.root, draft.body
        head = self.rows.head(root)
        if root not in self.heads:
            self.not_behind(root, head)
        last, now, prev, epoch = head or (0, 0, FIRST, 0)
        seq, at = max(last, draft.above) + 1, max(self.now, now + 1)
        key = ""
        if request is None:
            body.request = _NOBODY
        else:
            body.request, key, actor = msgspec.Raw(request.text.encode()), request.key, request.actor
        body.certificate = _certificate(draft.kind, body.effect)
        entry = Entry(root, seq, at, draft.kind, key, actor, text_of(body), prev)
        chained = Chained(entry, self.chain.hash(entry))
        changes = changes_of(root, seq, draft.kind, body, epoch)
        self._apply(body.effect, changes)
        if changes.blocks is not None:
            charge_blocks(self.rows, self.scope(root), changes.blocks)
        self.heads[root] = self.rows.append(chained, changes.epoch)
        self.posted.append((root, seq, body.effect))
        return chained

    def _apply(self, effects: Sequence[Effect], changes: Changes) -> None:
        """The tables, as the fold says; new scopes come with their lines."""
        new: set[str] = set()
        if changes.scopes:
            self._found.clear()
            new = {row.name for row in changes.scopes if self.rows.scope(row.name) is None}
        for row in changes.scopes:
            if row.name in new:
                self.rows.add_scope(row, [(one.line, one.after) for one in effects if one.scope == row.name])
            else:
                self.rows.set_scope(row)
        self.rows.set_balances([(one.scope, one.line, one.after) for one in effects if one.scope not in new])
        for reservation in changes.reservations:
            self.rows.set_reservation(reservation)
        for scope, what, count in changes.released:
            self.rows.add_released(scope, what, count)
        if changes.delta is not None:
            self.rows.add_delta(changes.delta)


def _certificate(kind: str, effects: Sequence[Effect]) -> int | None:
    """The version of the certificates that a charge rests on, where one does; what was lost rests on none."""
    for one in effects if kind not in ("restore", "limit") else ():
        if one.before.splits is not None and one.after.splits is not None:
            for was, split in zip(one.before.splits.each, one.after.splits.each, strict=True):
                if split.mode == CERTIFIED and split.gaussian < was.gaussian:
                    return CERTIFICATE
    return None
