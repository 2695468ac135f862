"""The service apart from HTTP: the ledger, its tokens and limits, and how work reaches threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bursar.ledger.alerts import Alert, log
from bursar.ledger.ledger import Ledger
from bursar.problems import Rejected
from bursar.service.clerk import Clerk
from bursar.service.limits import Buckets
from bursar.service.metrics import Metrics
from bursar.service.patience import Patience
from bursar.service.permissions import Tree
from bursar.service.settings import Settings
from bursar.service.tokens import EVERYTHING, Token, Tokens
from bursar.service.work import Workshop

Answer = TypeVar("Answer")
_MOST_KNOWN = 10_000


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
        self._looks = ThreadPoolExecutor(4, "bursar-look")
        self._counting = Workshop("bursar-count", 4, 2)
        self._pricing = Workshop("bursar-price", 4, 2)
        self._seen: set[tuple[Any, ...]] = set()

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
            await self.look(self.tree.refresh)

    async def look(self, what: Callable[[], Answer]) -> Answer:
        """Something that reads, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._looks, what)

    async def count(self, token: Token, what: Callable[[], Answer]) -> Answer:
        """Something that counts, perhaps for long: whatever is asked there, charges go on."""
        return await self._counting.run(what, token.id)

    async def job(self, token: Token, what: Callable[[], Answer]) -> Answer:
        """Something that the ledger does, and that may have to find a price."""
        return await self._pricing.run(what, token.id)

    async def prepared(self, token: Token, mark: tuple[Any, ...], make: Callable[[], Answer]) -> Answer:
        """A request for the clerk: made in a thread where its price may be new, else at once."""
        if mark in self._seen:
            return make()
        made = await self.job(token, make)
        if len(self._seen) > _MOST_KNOWN:
            self._seen.clear()
        self._seen.add(mark)
        return made

    @property
    def halted(self) -> bool:
        """Whether the ledger accepts nothing."""
        return self.ledger.halted is not None

    @property
    def counting(self) -> bool:
        """Whether threads are at work that nobody waits for any more."""
        return self._counting.running + self._pricing.running > 0

    async def shut(self) -> None:
        """Finish what was accepted, then let go."""
        await self.clerk.shut()
        self._looks.shutdown()
        self._counting.shut()
        self._pricing.shut()
        self.ledger.shut()
        self.tokens.close()
