"""The office behind every verb: one store, one chain, batches, anchors, and a halt where something is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

from bursar.errors import InputError, LedgerHalted, StorageFailed
from bursar.ledger.anchors.every import Anchors
from bursar.ledger.anchors.evidence import Anchored, Known, behind, check
from bursar.ledger.anchors.tail import check_tails
from bursar.ledger.budget.currencies import Unpriced, find_here
from bursar.ledger.commit.alerts import Alert, Watch, log
from bursar.ledger.commit.batch import GroupCommit
from bursar.ledger.commit.catalogue import Catalogue
from bursar.ledger.commit.posting import Posting
from bursar.ledger.commit.request import Request
from bursar.ledger.commit.view import View
from bursar.ledger.journal.entry import Chain
from bursar.ledger.journal.rows import Head
from bursar.ledger.stores import Store, store_of
from bursar.ledger.stores._base import Conflict, Doubt, Occupied, Reader, Transaction

Answer = TypeVar("Answer")
_PRICINGS = 50  # of one request, while others keep changing what it is priced for
_ATTEMPTS = 5  # of a transaction that others got in the way of


class Office:
    """Where requests become durable entries, many in one transaction."""

    def __init__(
        self,
        url: str | os.PathLike[str] | Store,
        *,
        anchor: str | None = None,
        create: bool = True,
        alert: Callable[[Alert], None] | None = log,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
        find: Callable[[Unpriced], None] = find_here,
    ) -> None:
        self.store = store_of(url, create=create)
        self.clock, self.find = clock, find
        self.chain, self.catalogue = Chain(), Catalogue()
        self._seen: dict[str, Head] = {}
        self._watch = Watch(alert)
        path, also = (anchor, ()) if anchor else (self.store.anchor, self.store.other_anchors)
        self.anchors = None if path is None else Anchors(path, also)
        self._halted: LedgerHalted | None = None
        self._anchored = False
        self._shut = False
        self.batches = GroupCommit(self._perform, self._start)
        try:
            self._check_anchors()
            if not self.store.read_only and self.anchors is not None:
                with suppress(StorageFailed):  # then whoever charges is told so
                    self._ready()
        except LedgerHalted as halted:
            self._halted = halted

    def submit(self, request: Request[Answer]) -> Answer:
        """The outcome of a request. Prices that nobody knows yet are found here, where nobody waits for them, and used
        only if the state, when its turn comes again, still asks for them.
        """
        for _ in range(_PRICINGS):
            try:
                return self.batches.submit(request)
            except Unpriced as missing:
                self.find(missing)
        raise StorageFailed("others kept spending while this was being priced: retry with the same key")

    def _perform(self, requests: Sequence[Request[Any]]) -> None:
        """One transaction for a batch; the anchor follows when it is durable, and then the alerts."""
        self._ready()
        for attempt in range(_ATTEMPTS):
            transaction = self.store.writing()
            try:
                with transaction as tx:
                    posting = self._decided(tx, requests)
                break
            except Conflict as conflict:
                self.catalogue.doubt()
                if attempt == _ATTEMPTS - 1:
                    raise StorageFailed(f"others kept writing, retry with the same key: {conflict}") from conflict
            except BaseException:
                transaction.abandon()
                self.catalogue.doubt()
                raise
        self._follow(posting)

    def _start(self, requests: Sequence[Request[Any]]) -> Callable[[], None]:
        """The same up to the commit, without ever waiting; what it gives back does the rest."""
        self._ready()
        if not self.store.prompt or (self.anchors is not None and self.anchors.long):
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
            self.catalogue.doubt()

    def _ready(self) -> None:
        self.check()
        if self.anchors is not None:
            self.anchors.ready()
            if self.anchors.renewed():
                self._anchored = False
            self._bring_up()

    def _bring_up(self) -> None:
        """Write what the anchor lacks: whoever committed it may have died before, or found no room."""
        if not self._anchored and self.anchors is not None:
            with self.store.reading() as reader:
                heads = reader.heads()
            if missing := self.anchors.lack(heads):
                self.anchors.append(missing)
            self._anchored = True

    def _decided(self, tx: Transaction, requests: Sequence[Request[Any]]) -> Posting:
        posting = Posting(tx, self.chain, self.catalogue, self.clock(), self._seen)
        posting.prepare(requests)
        self._compare(tx)
        for request in requests:
            posting.run(request)
        return posting

    def _follow(self, posting: Posting) -> None:
        """What comes after a commit: the anchors, a last look at the store's place, the alerts."""
        self._seen.update(posting.heads)
        if self.anchors is not None:
            # nobody is answered, the first time or by key, before the anchor knows the entry that he is answered from
            ends = {**self.anchors.lack(posting.answered), **posting.heads}
            if ends:
                self.anchors.append(ends)
        if posting.heads:
            self.store.settled()
            self._watch.look(posting.posted, self.catalogue)

    def view(self, reader: Reader) -> View[Reader]:
        """What a reader shows was true before it is read, so it is compared with what had been seen by then."""
        return View(reader, self.catalogue, self.clock(), dict(self._seen))

    @property
    def halted(self) -> LedgerHalted | None:
        """Why nothing is accepted; None where something is."""
        return self.store.halted or self._halted

    def open_only(self) -> None:
        """Refuse to go on where the ledger was shut."""
        if self._shut:
            raise InputError("this ledger has been shut")

    def check(self) -> None:
        """Refuse to go on where the ledger was shut, or has halted."""
        self.open_only()
        halted = self.halted
        if halted is not None:
            raise halted

    def _check_anchors(self) -> None:
        if self.anchors is None:
            return
        anchors = self.anchors.learn()
        with self.store.reading() as reader:
            check(reader, anchors)
            if self.store.pieced:
                check_tails(reader, anchors)

    def _compare(self, tx: Transaction) -> None:
        """What other processes anchored before this transaction is in its chain, or there are two copies."""
        try:
            if self.anchors is not None:
                self.anchors.compare(tx)
            if self.store.doubt is not None:
                self._doubted(tx, self.store.doubt)
        except LedgerHalted as halted:
            self._halted = halted
            raise

    def _doubted(self, tx: Transaction, doubt: Doubt) -> None:
        """The store may have lost entries: whatever the anchors know must be there, or what this process has seen."""
        if self.anchors is not None:
            known = self.anchors.learn()
        elif doubt.certain:
            raise LedgerHalted(f"{doubt.reason}; this ledger has no anchor that would say which")
        else:
            known = Known()
            for root, head in self._seen.items():
                known.add(root, Anchored(head.seq, head.hash))
        check(tx, known)
        if self.store.doubt is doubt:
            self.store.doubt = None

    def restore(self, write: Callable[[Posting, dict[str, Anchored]], Answer]) -> Answer:
        """Go on where entries were lost: ``write`` posts what settles each root that is behind its anchor."""
        if self.anchors is None:
            raise InputError("this ledger has no anchor to be restored against", argument="anchor")
        with self.store.writing() as tx:
            known = self.anchors.read()
            lost = {root: known[root] for root in sorted(behind(tx, known))}
            tx.lock(list(lost))
            posting = Posting(tx, self.chain, self.catalogue, self.clock(), {})
            answer = write(posting, lost)
        if posting.heads:
            self.anchors.append(posting.heads)
            self.store.settled()
        self._halted = None
        self.catalogue.doubt()
        self._seen.clear()
        self._check_anchors()
        return answer

    def shut(self) -> None:
        """Let go of the store; afterwards everything is refused."""
        self._shut = True
        if self.anchors is not None:
            self.anchors.close()
        self.store.close()
