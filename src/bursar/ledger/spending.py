"""What people do who spend: quote, spend, reserve, draw, close, correct."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bursar.errors import InputError, described
from bursar.ledger import charging, reserving
from bursar.ledger.amounts import exact
from bursar.ledger.asked import names_of, own_key, reservation_id, said
from bursar.ledger.desk import Desk
from bursar.ledger.entry import Chained
from bursar.ledger.receipt import Quote, Receipt, Reservation, receipt_of
from bursar.ledger.release import release_of

Output = TypeVar("Output")


class Spending(Desk):
    """The verbs of spending."""

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
        release, names = release_of(what, delta), names_of(scopes)
        self._warm(names, release)
        fields = {"scopes": names, **release.request()}
        request = self._request(
            "spend", key, by, fields, lambda p, r: charging.spend(p, r, release), charging.replayed(self._scope), names
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

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
        self._check()
        with self.store.reading() as reader:
            return charging.quote(charging.View(reader, self._posting(reader)), names, release)

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
        release, names = release_of(what, delta), names_of(scopes)
        self._warm(names, release)
        life = int(exact(ttl, "ttl") * 1_000_000)
        if not 0 < life <= 10**15:
            raise InputError(f"ttl must be a positive number of seconds, not {described(ttl)}", argument="ttl")
        fields = {"scopes": names, **release.request(), "ttl": str(life)}
        chosen = key or own_key()
        request = self._request(
            "reserve",
            chosen,
            by,
            fields,
            lambda p, r: reserving.reserve(p, r, release, life, uuid.uuid5(uuid.NAMESPACE_OID, chosen).hex),
            self._reservation,
            names,
        )
        reservation: Reservation = self._desk.submit(request)
        return reservation

    def draw(
        self, reservation: str | Reservation, amount: Any = None, *, key: str | None = None, by: str | None = None
    ) -> Receipt:
        """Spend a part of a reservation (all that is left, unless an amount is given), before the data is touched."""
        id = reservation_id(reservation)
        part = None if amount is None else release_of(amount)
        fields = {"reservation": id, "what": None if part is None else part.text}
        request = self._request(
            "draw", key, by, fields, lambda p, r: reserving.draw(p, r, id, part), receipt_of, reservation=id
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    def close(self, reservation: str | Reservation, *, key: str | None = None, by: str | None = None) -> Receipt:
        """End a reservation: the undrawn part is given back where that is sound."""
        id = reservation_id(reservation)
        request = self._request(
            "close", key, by, {"reservation": id}, lambda p, r: reserving.close(p, r, id), receipt_of, reservation=id
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    def correct(
        self,
        entry: Receipt | tuple[str, int],
        what: Any,
        *,
        reason: str,
        key: str | None = None,
        delta: Any = None,
        by: str | None = None,
    ) -> Receipt:
        """Add spend that an entry should have had. It can only add; what no longer fits freezes the scope."""
        place = (entry.root, entry.seq) if isinstance(entry, Receipt) else (str(entry[0]), int(entry[1]))
        release = release_of(what, delta)
        fields = {"entry": [place[0], str(place[1])], **release.request(), "reason": said(reason)}
        request = self._request(
            "correct",
            key,
            by,
            fields,
            lambda p, r: charging.correct(p, r, release, reason, place),
            receipt_of,
            [place[0]],
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    def _reservation(self, chained: Chained, replayed: bool) -> Any:
        if chained.entry.kind == "refuse":
            return charging.replayed(self._scope)(chained, replayed)
        return reserving.reservation_of(chained, replayed)
