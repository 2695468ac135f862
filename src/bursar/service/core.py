"""The service apart from HTTP: the ledger, its tokens and limits, and how work reaches threads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

from starlette.requests import ClientDisconnect

from bursar.errors import BursarError, StorageFailed, TooMuchWork
from bursar.ledger.budget.currencies import Unpriced, find_here
from bursar.ledger.budget.release import Release, known_text, point_of, release_of, remembered
from bursar.ledger.commit.alerts import Alert, log
from bursar.ledger.commit.request import Request as Charge
from bursar.ledger.inspection.bases import deeply
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.entry import canonical
from bursar.ledger.ledger import Ledger
from bursar.ledger.receipt import Receipt
from bursar.ledger.views.hindsight import Lost
from bursar.ledger.views.looks import look_at
from bursar.ledger.views.standing import Seen, Standing, told
from bursar.problems import Rejected
from bursar.service import asking
from bursar.service.ahead import Ahead
from bursar.service.clerk import Clerk
from bursar.service.limits import Buckets
from bursar.service.metrics import Metrics
from bursar.service.patience import Patience
from bursar.service.permissions import Tree, covers
from bursar.service.settings import Settings
from bursar.service.tokens import EVERYTHING, Token, Tokens
from bursar.service.work import Workshop
from bursar.service.workers.queue import Workers

Answer = TypeVar("Answer")
_MOST_LOST = 256  # standings, some of them long
_GRACE = 5.0  # seconds for those who still read
_PRICINGS = 50  # of one charge, while others keep changing what it is priced for
_FRESH, _PROMPT = 1.0, 2.0  # seconds for which an answer of the store counts, and that it may take
_log = logging.getLogger("bursar")


class Audit(NamedTuple):
    """A verification of the whole ledger: when it ended, who asked for it, and what was found."""

    at: int
    by: str
    found: dict[str, Any]


class Service:
    """Everything that requests share."""

    def __init__(self, settings: Settings, ledger: Ledger | None = None, tokens: Tokens | None = None) -> None:
        self.settings, self.metrics = settings, Metrics()
        self.ledger = ledger or Ledger(settings.ledger, anchor=settings.anchor, alert=self._alert)
        self.tokens = tokens or Tokens(settings.tokens)
        self.tree = Tree(self.ledger)
        self.clerk = Clerk(self.ledger, self.metrics.batches.add)
        self.rates = Buckets(settings.rate, 2 * settings.rate)
        self.patience = Patience(settings.patience)
        self.guesses = Buckets(settings.guesses / 60, settings.guesses)
        self.largest_charge = settings.share("largest_charge")
        self.largest_reserved = settings.share("largest_reserved")
        self.workers = Workers(settings)
        self.ledger.office.find, self.ledger.read, self.ledger.compare = self._find, self._read, self._compare
        self._health = ThreadPoolExecutor(1, "bursar-health")
        self._looks, self._held = Workshop("bursar-look", 4, 1), Workshop("bursar-held", 2, 2)
        self._shutting = False
        self.audit: Audit | None = None
        """The last one since the service was started."""
        self.ahead = Ahead(self)
        self._jobs = Workshop("bursar-job", 8, 2)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lost: dict[Any, Lost] = {}
        self._asked: asyncio.Future[str | None] | None = None
        self._asked_at = 0.0

    def _alert(self, alert: Alert) -> None:
        self.metrics.alerts += 1
        log(alert)

    def identify(self, secret: str | None, address: str) -> Token:
        """The token behind a secret; guesses from one address are few."""
        token = None if secret is None else self.tokens.find(secret)
        if token is None:
            if secret is not None:  # whoever has a token is not locked out by a neighbour who guesses
                self.guesses.take(address, "wrong tokens from this address")
            raise Rejected("unauthenticated", "send a token in force: Authorization: Bearer bursar_…")
        self.rates.take(token.id, "requests with this token")
        return token

    async def meet(self, token: Token, names: Iterable[str]) -> None:
        """Learn where scopes hang, before it is asked whether a token reaches them."""
        if token.scope != EVERYTHING and not self.tree.knows(names):
            await self.glance(token, self.tree.refresh)

    async def look(self, token: Token, what: Callable[[], Answer]) -> Answer:
        """Something that reads, in a thread; one at a time for each token."""
        return await self._looks.run(what, token.id)

    async def glance(self, token: Token, what: Callable[[], Answer]) -> Answer:
        """Something that reads a row or two, for whoever is about to charge: not behind those who read pages."""
        return await self._held.run(what, token.id)

    async def count(self, token: Token, kind: str, *given: Any) -> Any:
        """Something that counts, in a process of its own; it ends when the client leaves."""
        work = asyncio.ensure_future(self.workers.run(token.id, kind, *given, counted=asking.counted()))
        listen = asking.LISTEN.get()
        if listen is None:
            return await work
        gone = asyncio.ensure_future(asking.left(listen))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            return work.result()
        finally:
            gone.cancel()
            work.cancel()

    async def read(self, token: Token, what: str, delta: str | None = None) -> Release:
        """What a text means, read elsewhere if it is new."""
        point = point_of(delta)
        known = known_text(what, point)
        return known or remembered(what, point, await self.count(token, "read", what, point))

    async def learn(self, token: Token, missing: Unpriced) -> None:
        """Have prices found that nobody knows yet, and teach them to the currencies."""
        asked = [
            (
                one.currency.name,
                canonical(one.currency.terms()),
                one.releases,
                dict(one.state),
                one.late,
                one.currency.bases,
            )
            for one in missing.sought
        ]
        for one, lessons in zip(missing.sought, await self.count(token, "price", asked), strict=True):
            one.currency.learn(lessons)

    async def charge(self, token: Token, request: Charge[Answer]) -> Answer:
        """The outcome of a request; where its price is not known, that is found first, and nobody else waits for it."""
        for _ in range(_PRICINGS):
            try:
                return await self.clerk.submit(request)  # type: ignore[no-any-return]
            except Unpriced as missing:
                await self.learn(token, missing)
        raise StorageFailed("others kept spending while this was being priced: retry with the same key")

    async def job(self, token: Token, what: Callable[[], Answer]) -> Answer:
        """Something that the ledger does in a thread; prices that it lacks are found in processes of their own."""
        self._loop = asyncio.get_running_loop()
        return await self._jobs.run(partial(asking.on_behalf, token, what), token.id)

    def _find(self, missing: Unpriced) -> None:
        """`learn`, for the ledger in the thread of a `job`; elsewhere prices are found on the spot."""
        token, loop = asking.TOKEN.get(), self._loop
        if token is None or loop is None:
            find_here(missing)
        else:
            self._from_thread(self.learn(token, missing), loop)

    def _read(self, what: Any, delta: Any) -> Release:
        """`read`, for the ledger in the thread of a `job`; elsewhere texts are read on the spot."""
        token, loop = asking.TOKEN.get(), self._loop
        if token is None or loop is None or not isinstance(what, str):
            return release_of(what, delta)
        return self._from_thread(self.read(token, what, delta), loop)

    def _from_thread(self, asked: Coroutine[Any, Any, Answer], loop: asyncio.AbstractEventLoop) -> Answer:
        """What the loop finds; nothing any more once the service is being shut, or both would wait for each other."""
        if self._shutting:
            asked.close()
            raise StorageFailed("the service is shutting down, retry with the same key")
        return asyncio.run_coroutine_threadsafe(asked, loop).result()

    async def receipt_for(self, token: Token, receipt: Receipt) -> dict[str, Any]:
        """A receipt as it may be told to a token: what was taken of scopes beyond its reach is left out."""
        found = receipt.to_dict()
        await self.meet(token, [one["scope"] for one in found["taken"]])
        return {**found, "taken": [one for one in found["taken"] if covers(token, self.tree, one["scope"])]}

    def _compare(self, basis: Basis) -> str:
        """What engines say of a composed release, in a process of its own for the ledger in the thread of a `job`."""
        token, loop = asking.TOKEN.get(), self._loop
        if token is None or loop is None:
            return deeply(basis)
        found: str = self._from_thread(self.count(token, "compare", basis), loop)
        return found

    async def show(self, token: Token, name: str) -> Standing:
        """A scope now. What its releases have cost is left out where counting that takes too long."""
        found = await self.job(token, lambda: look_at(self.ledger.office, name))
        more = await self.ahead.more(token, name, found.like)
        return told(found, await self._losses(token, found), more)

    async def _losses(self, token: Token, found: Seen) -> Lost:
        key = (found.scope.row, found.released)
        if key not in self._lost:
            try:
                lost = await self.count(token, "losses", *key)
            except TooMuchWork:
                lost = (None, None)  # and so it is next time
            if len(self._lost) > _MOST_LOST:
                self._lost.clear()
            self._lost[key] = lost
        return self._lost[key]

    @property
    def halted(self) -> bool:
        """Whether the ledger accepts nothing."""
        return self.ledger.halted is not None

    @property
    def at_work(self) -> bool:
        """Whether threads are at work that nobody waits for any more."""
        return self._jobs.running + self._looks.running + self._held.running > 0

    async def ready(self) -> str | None:
        """Why no charge would be accepted now; None where one would."""
        if self.halted:
            return "the ledger has halted"
        now = time.monotonic()
        if self._asked is None or (self._asked.done() and now - self._asked_at > _FRESH):
            self._asked = asyncio.get_running_loop().run_in_executor(self._health, self._answers)
            self._asked_at = now
        try:
            return await asyncio.wait_for(asyncio.shield(self._asked), _PROMPT)
        except TimeoutError:
            return "the store does not answer"

    def _answers(self) -> str | None:
        try:
            self.ledger.store.answers()
        except BursarError:
            _log.warning("the store does not answer", exc_info=True)
            return "the store does not answer"
        return None

    def start(self) -> None:
        """Have the workers ready; there must be a loop."""
        self.workers.start()

    async def shut(self) -> None:
        """Finish what was accepted, then let go. Who reads for long is not waited for: nothing is lost by that."""
        self._shutting = True
        await self.workers.shut()
        await self.clerk.shut()
        for pool in (self._looks, self._held):
            pool.shut()
        self._health.shutdown(wait=False)
        self._jobs.shut()
        closing = asyncio.get_running_loop().run_in_executor(None, self.ledger.shut)
        await asyncio.wait({closing}, timeout=_GRACE)
        self.tokens.close()
