"""What people do who spend: quote, spend, reserve, draw, close, correct."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from bursar.errors import InputError, described
from bursar.keys import own_key
from bursar.ledger.arguments import entry_of, key_of, names_of, reservation_id, said, word
from bursar.ledger.budget.amounts import exact
from bursar.ledger.budget.deciding import Seen
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.commit.office import Desk
from bursar.ledger.commit.posting import Request
from bursar.ledger.journal.entry import Chained, canonical
from bursar.ledger.receipt import Quote, Receipt, Reservation, receipt_of
from bursar.ledger.verbs import correct as correcting
from bursar.ledger.verbs import reserve as reserving
from bursar.ledger.verbs import spend as charging

Output = TypeVar("Output")


_MOST_TEXTS = 10_000


class Spending(Desk):
    """The verbs of spending."""

    @cached_property
    def _texts(self) -> dict[tuple[tuple[str, ...], Release], tuple[dict[str, Any], str]]:
        return {}

    @cached_property
    def _replayed(self) -> Callable[[Chained, bool], Any]:
        return charging.replayed(self._met)  # type: ignore[no-any-return]

    def spend(
        self,
        scopes: str | Sequence[str],
        what: Any,
        *,
        key: str | None = None,
        delta: Any = None,
        by: str | None = None,
    ) -> Receipt:
        """Charge a release to its scopes and all above them, or to none: `BudgetExceeded` says what is left."""
        receipt: Receipt = self._submit(self.to_spend(scopes, what, key=key, delta=delta, by=by))
        return receipt

    def to_spend(
        self,
        scopes: str | Sequence[str],
        what: Any,
        *,
        key: str | None = None,
        delta: Any = None,
        by: str | None = None,
        cap: Fraction | None = None,
    ) -> Request:
        """The same as a request for `commit`; ``cap`` is the largest share of any limit that it may take."""
        release, names = release_of(what, delta), names_of(scopes)
        fields, text = self._spoken(tuple(names), release)
        return self._request(
            "spend",
            key,
            by,
            fields,
            lambda p, r: charging.spend(p, r, release, cap),
            self._replayed,
            names,
            text=text,
        )

    def _spoken(self, names: tuple[str, ...], release: Release) -> tuple[dict[str, Any], str]:
        """A charge as the journal writes it: the same ones come again and again."""
        known = self._texts.get((names, release))
        if known is None:
            fields = {"scopes": list(names), **release.request()}
            known = fields, canonical({"verb": "spend", **fields})
            if len(self._texts) > _MOST_TEXTS:
                self._texts.clear()
            self._texts[names, release] = known
        return known

    def commit(self, requests: Sequence[Request]) -> None:
        """Perform requests in one transaction: each then has its own outcome or failure. For callers with a queue of
        their own, such as the service. One whose price nobody knows yet fails with `Unpriced`: `find` it where nobody
        waits, then it may come again.
        """
        self._desk.together(requests)

    def begin(self, requests: Sequence[Request]) -> Callable[[], None] | None:
        """`commit` in two steps, for callers that must not block: what is decided now becomes durable, and only then
        true, when the function that this gives back has been called (in any thread, once). None where it cannot be
        decided without waiting: then `commit` in a thread.
        """
        return self._desk.begin(requests)

    def run(
        self, scopes: str | Sequence[str], what: Any, query: Callable[[], Output], *, key: str, delta: Any = None
    ) -> Output:
        """Charge, durably, then run the query once. With a key that was charged before it raises `AlreadyRun`."""
        if not callable(query):
            raise InputError(f"query must be a function, not {described(query)}", argument="query")
        if key is None:
            raise InputError("a query that runs once needs a key of its own", argument="key")
        self.spend(scopes, what, key=key, delta=delta).once()
        return query()

    def quote(self, scopes: str | Sequence[str], what: Any, *, delta: Any = None) -> Quote:
        """Would it pass now, and how many more of these would? Nothing is written."""
        release, names = release_of(what, delta), names_of(scopes)
        return charging.quote(self.states(names, release), release)  # others read meanwhile

    def states(self, names: Sequence[str], release: Release) -> Seen:
        """The scopes that a charge would debit, as they are now."""
        self._check()
        with self.store.reading() as reader:
            return self._view(reader).states(names_of(names), release)

    def reserve(
        self,
        scopes: str | Sequence[str],
        what: Any,
        *,
        ttl: Any,
        key: str | None = None,
        delta: Any = None,
        by: str | None = None,
    ) -> Reservation:
        """Set an allowance aside for ``ttl`` seconds; it counts against the limit at once."""
        reservation: Reservation = self._submit(self.to_reserve(scopes, what, ttl=ttl, key=key, delta=delta, by=by))
        return reservation

    def to_reserve(
        self,
        scopes: str | Sequence[str],
        what: Any,
        *,
        ttl: Any,
        key: str | None = None,
        delta: Any = None,
        by: str | None = None,
        caps: reserving.Caps = reserving.UNCAPPED,
    ) -> Request:
        """The same as a request for `commit`, within ``caps`` on what may be taken or sit reserved."""
        release, names = release_of(what, delta), names_of(scopes)
        life = int(exact(ttl, "ttl") * 1_000_000)
        if not 0 < life <= 10**15:
            raise InputError(f"ttl must be a positive number of seconds, not {described(ttl)}", argument="ttl")
        fields = {"scopes": names, **release.request(), "ttl": str(life)}
        chosen = own_key() if key is None else key_of(key)
        return self._request(
            "reserve",
            chosen,
            by,
            fields,
            lambda p, r: reserving.reserve(p, r, release, life, uuid.uuid5(uuid.NAMESPACE_OID, chosen).hex, caps),
            self._reservation,
            names,
        )

    def draw(
        self, reservation: str | Reservation, amount: Any = None, *, key: str | None = None, by: str | None = None
    ) -> Receipt:
        """Spend a part of a reservation (all that is left, unless an amount is given), before the data is touched."""
        receipt: Receipt = self._submit(self.to_draw(reservation, amount, key=key, by=by))
        return receipt

    def to_draw(
        self,
        reservation: str | Reservation,
        amount: Any = None,
        *,
        key: str | None = None,
        by: str | None = None,
        cap: Fraction | None = None,
    ) -> Request:
        """The same as a request for `commit`; ``cap`` is the largest share of any limit that it may take."""
        id = reservation_id(reservation)
        part = None if amount is None else release_of(amount)
        fields = {"reservation": id, "what": None if part is None else part.text}
        return self._request(
            "draw", key, by, fields, lambda p, r: reserving.draw(p, r, id, part, cap), receipt_of, reservation=id
        )

    def close(self, reservation: str | Reservation, *, key: str | None = None, by: str | None = None) -> Receipt:
        """End a reservation: the undrawn part is given back where that is sound."""
        receipt: Receipt = self._submit(self.to_close(reservation, key=key, by=by))
        return receipt

    def to_close(self, reservation: str | Reservation, *, key: str | None = None, by: str | None = None) -> Request:
        """The same as a request for `commit`."""
        id = reservation_id(reservation)
        return self._request(
            "close", key, by, {"reservation": id}, lambda p, r: reserving.close(p, r, id), receipt_of, reservation=id
        )

    def correct(
        self,
        entry: Receipt | tuple[str, int],
        what: Any,
        *,
        reason: str,
        key: str | None = None,
        delta: Any = None,
        by: str | None = None,
        consent: str | None = None,
    ) -> Receipt:
        """Add spend that an entry should have had. It can only add; what no longer fits freezes the scope. Where it
        would do more than charge the release, `ConsentNeeded` says what, and which ``consent`` agrees to that.
        """
        place, release = entry_of(entry), release_of(what, delta)
        fields = {"entry": [place[0], str(place[1])], **release.request(), "reason": said(reason)}
        with self.store.reading() as reader:  # an entry never changes; it says which roots there are to lock
            wrong = reader.entry(*place)
            names = [place[0]] if wrong is None else correcting.charged_by(reader, wrong)
        agreed = None if consent is None else word(consent, "consent")
        request = self._request(
            "correct",
            key,
            by,
            fields,
            lambda p, r: correcting.correct(p, r, release, reason, place, agreed),
            receipt_of,
            names,
        )
        receipt: Receipt = self._submit(request)
        return receipt

    def _reservation(self, chained: Chained, replayed: bool) -> Any:
        if chained.entry.kind == "refuse":
            return charging.replayed(self._met)(chained, replayed)
        return reserving.reservation_of(chained, replayed)
