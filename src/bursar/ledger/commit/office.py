"""The desk behind every verb: one store, one chain, batches, anchors, and a halt where something is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Self

from bursar.errors import InputError, LedgerHalted, StorageFailed
from bursar.ledger.anchors.every import Anchors
from bursar.ledger.anchors.evidence import Anchored, Known, check
from bursar.ledger.anchors.tail import check_tails
from bursar.ledger.arguments import key_of, word
from bursar.ledger.budget.catalogue import Catalogue
from bursar.ledger.budget.currencies import Unpriced, find_here
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.alerts import Alert, Watch, log
from bursar.ledger.commit.batch import GroupCommit
from bursar.ledger.commit.posting import Posting, Request
from bursar.ledger.journal.entry import Chain, Chained
from bursar.ledger.stores import Store, store_of
from bursar.ledger.stores._base import Conflict, Doubt, Head, Occupied, Reader, Transaction, abandon
from bursar.ledger.verbs import spend as charging

_PRICINGS = 50  # of one request, while others keep changing what it is priced for
_ATTEMPTS = 5  # of a transaction that others got in the way of


class Desk:
    """One journal and its scopes, in a store; the verbs are in the classes that build on this."""

    def __init__(
        self,
        url: str | os.PathLike[str] | Store,
        *,
        anchor: str | None = None,
        create: bool = True,
        actor: str = "",
        alert: Callable[[Alert], None] | None = log,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
        find: Callable[[Unpriced], None] = find_here,
        read: Callable[[Any, Any], Release] = release_of,
    ) -> None:
        """``create=False`` refuses a file that does not exist; ``anchor`` is a file outside the database (beside a
        SQLite file unless you name a better place); ``alert`` is called when a share of a limit is passed; ``clock``
        gives microseconds; ``find`` finds prices and ``read`` reads texts: here, unless told otherwise.
        """
        self.store = store_of(url, create=create)
        self.actor, self._clock, self.find, self.read = actor, clock, find, read
        self._chain, self._catalogue = Chain(), Catalogue()
        self._seen: dict[str, Head] = {}
        self._watch = Watch(alert)
        path, also = (anchor, ()) if anchor else (self.store.anchor, self.store.other_anchors)
        self._anchors = None if path is None else Anchors(path, also)
        self._halted: LedgerHalted | None = None
        self._shut = False
        self._desk = GroupCommit(self._perform, self._start)
        try:
            self._check_anchors()
        except LedgerHalted as halted:
            self._halted = halted

    def _request(
        self,
        verb: str,
        key: str | None,
        by: str | None,
        fields: dict[str, Any],
        perform: Callable[[Posting, Request], Any],
        read: Callable[[Chained, bool], Any],
        names: Sequence[str] = (),
        reservation: str | None = None,
        text: str = "",
    ) -> Request:
        actor = self.actor if by is None else by
        return Request(verb, key_of(key), word(actor, "by"), fields, perform, read, names, reservation, text)

    def _submit(self, request: Request) -> Any:
        """The outcome of a request. Prices that nobody knows yet are found here, where nobody waits for them, and used
        only if the state, when its turn comes again, still asks for them.
        """
        for _ in range(_PRICINGS):
            try:
                return self._desk.submit(request)
            except Unpriced as missing:
                self.find(missing)
        raise StorageFailed("others kept spending while this was being priced: retry with the same key")

    def _perform(self, requests: Sequence[Request]) -> None:
        """One transaction for a batch; the anchor follows when it is durable, and then the alerts."""
        self._ready()
        for attempt in range(_ATTEMPTS):
            transaction = self.store.writing()
            try:
                with transaction as tx:
                    posting = self._decided(tx, requests)
                break
            except Conflict as conflict:
                self._catalogue.doubt()
                if attempt == _ATTEMPTS - 1:
                    raise StorageFailed(f"others kept writing, retry with the same key: {conflict}") from conflict
            except BaseException:
                abandon(transaction)
                self._catalogue.doubt()
                raise
        self._follow(posting)

    def _start(self, requests: Sequence[Request]) -> Callable[[], None]:
        """The same up to the commit, without ever waiting; what it gives back does the rest."""
        self._ready()
        if not self.store.prompt or (self._anchors is not None and self._anchors.long):
            raise Occupied
        with ExitStack() as stack:
            stack.push(self._doubt)
            tx = stack.enter_context(self.store.writing(wait=False))
            posting = self._decided(tx, requests)
            tx.flush()
            rest = stack.pop_all()

        def finish() -> None:
            with rest:
                pass
            self._follow(posting)

        return finish

    def _doubt(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and kind is not Occupied:
            self._catalogue.doubt()

    def _ready(self) -> None:
        self._check()
        if self._anchors is not None:
            self._anchors.ready()

    def _decided(self, tx: Transaction, requests: Sequence[Request]) -> Posting:
        posting = self._posting(tx)
        posting.prepare(requests)
        self._compare(tx)
        for request in requests:
            request.outcome = request.failure = None
            request.remembered = False
            posting.run(request)
        return posting

    def _follow(self, posting: Posting) -> None:
        if posting.heads:
            self._seen.update(posting.heads)
            if self._anchors is not None:
                self._anchors.append(posting.heads)
            self.store.settled()
            self._watch.look(posting.posted, self._catalogue)

    def _posting(self, tx: Transaction) -> Posting:
        return Posting(tx, self._chain, self._catalogue, self._clock(), self._seen)

    def _view(self, reader: Reader) -> charging.View:
        """What a view shows was true before it is read, so it is compared with what had been seen by then."""
        # a view writes nothing, so a reader is enough
        return charging.View(reader, self._chain, self._catalogue, self._clock(), dict(self._seen))  # type: ignore[arg-type]

    def _check(self) -> None:
        if self._shut:
            raise InputError("this ledger has been shut")
        halted = self.store.halted or self._halted
        if halted is not None:
            raise halted

    def _check_anchors(self) -> None:
        if self._anchors is None:
            return
        anchors = self._anchors.learn()
        with self.store.reading() as reader:
            check(reader, anchors)
            if self.store.pieced:
                check_tails(reader, anchors)

    def _compare(self, tx: Transaction) -> None:
        """What other processes anchored before this transaction is in its chain, or there are two copies."""
        try:
            if self._anchors is not None:
                self._anchors.compare(tx)
            if self.store.doubt is not None:
                self._doubted(tx, self.store.doubt)
        except LedgerHalted as halted:
            self._halted = halted
            raise

    def _doubted(self, tx: Transaction, doubt: Doubt) -> None:
        """The store may have lost entries: whatever the anchors know must be there, or what this process has seen."""
        if self._anchors is not None:
            known = self._anchors.learn()
        elif doubt.certain:
            raise LedgerHalted(f"{doubt.reason}; this ledger has no anchor that would say which")
        else:
            known = Known()
            for root, head in self._seen.items():
                known.add(root, Anchored(head.seq, head.hash))
        check(tx, known)
        if self.store.doubt is doubt:
            self.store.doubt = None

    def _scope(self, name: str) -> Scope:
        with self.store.reading() as reader:
            return self._catalogue.find(name, reader)[0]

    def _met(self, name: str) -> Scope:
        """A scope, for what never changes about it: its units."""
        return self._catalogue.known(name) or self._scope(name)

    def shut(self) -> None:
        """Let go of the store; afterwards the ledger refuses everything."""
        self._shut = True
        if self._anchors is not None:
            self._anchors.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()
