"""The ledger: a durable budget that admits or refuses each release.

    with Ledger("sqlite:///budget.db") as ledger:
        ledger.open("census", epsilon="1", delta="1e-6")
        receipt = ledger.spend("census", Gaussian(sigma=50.0), key="query-0001")

The debit is durable before the query runs, nothing is refunded because a query failed, and a refusal leaves the ledger
as it was. All methods may be called from many threads; those that wait at the same time share one commit.
"""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

from bursar.errors import BursarError, InputError, LedgerHalted, StorageFailed, described
from bursar.ledger import charging, export, reserving, stewarding
from bursar.ledger.alerts import Alert, Watch, log
from bursar.ledger.amounts import exact
from bursar.ledger.anchor import AnchorFile, check
from bursar.ledger.batch import GroupCommit
from bursar.ledger.entry import Chain, Chained
from bursar.ledger.posting import Catalogue, Posting, Request
from bursar.ledger.receipt import Quote, Receipt, Reservation, receipt_of
from bursar.ledger.release import Release, release_of
from bursar.ledger.restoring import restored
from bursar.ledger.scope import Scope, scope_name
from bursar.ledger.statement import Statement, statement
from bursar.ledger.stores import Store, store_of
from bursar.ledger.stores._base import Conflict, Head
from bursar.ledger.verify import Verification, verify

Output = TypeVar("Output")
_LONGEST_KEY = 255  # bytes
_MOST_WARMED = 10_000
_ATTEMPTS = 5  # of a transaction that others got in the way of


class Ledger:
    """One journal and its scopes, in a store."""

    def __init__(
        self,
        url: str | Store,
        *,
        anchor: str | None = None,
        actor: str = "",
        alert: Callable[[Alert], None] | None = log,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        """``anchor`` is a file outside the database (beside a SQLite file unless you name a better place); ``alert`` is
        called when a share of a limit is passed; ``clock`` gives microseconds.
        """
        self.store = store_of(url)
        self.actor, self._clock = actor, clock
        self._chain, self._catalogue = Chain(), Catalogue()
        self._seen: dict[str, Head] = {}
        self._watch = Watch(alert)
        path = anchor or self.store.anchor
        self._anchors = None if path is None else AnchorFile(path)
        self._halted: LedgerHalted | None = None
        self._warmed: set[tuple[Any, ...]] = set()
        self._desk = GroupCommit(self._perform)
        try:
            self._check_anchors()
        except LedgerHalted as halted:
            self._halted = halted

    # ---- the verbs -------------------------------------------------------------------------------------------------

    def open(
        self,
        scope: str,
        *,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        order: Any = None,
        renyi: Any = None,
        leak: Any = None,
        currency: str | None = None,
        parent: str | None = None,
        kind: str | None = None,
        unit: str | None = None,
        relation: str | None = None,
        period: Any = None,
        alerts: Sequence[Any] | None = None,
        second_person: bool = False,
        spent: Iterable[Any] = (),
        by: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Open a scope. ``epsilon`` with ``delta`` gets the strongest filter, ``epsilon`` alone a pure one, ``rho`` a
        zCDP one, ``mu`` a GDP one, ``order`` (with epsilon and delta, or renyi) one Rényi order. ``spent`` lists what
        was released before.
        """
        limits = {
            "epsilon": epsilon,
            "delta": delta,
            "rho": rho,
            "mu": mu,
            "order": order,
            "renyi": renyi,
            "leak": leak,
        }
        options = {
            "unit": unit, "relation": relation, "period": period, "alerts": alerts, "second_person": second_person
        }  # fmt: skip
        asked = {"name": scope, "parent": parent, "kind": kind, "currency": currency}
        before = [release_of(what) for what in spent]
        fields = {**asked, **_texts(limits), **_texts(options), "spent": [release.text for release in before]}
        scope_name(scope)
        names = [] if parent is None else [scope_name(parent)]
        whole = {**asked, "limits": limits, "options": options}
        request = self._request(
            "open", key, by, fields, lambda p, r: stewarding.open_scope(p, r, whole, before), receipt_of, names
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

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
        release, names = release_of(what, delta), _names(scopes)
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
        self.spend(scopes, what, key=key, delta=delta).once()
        return query()

    def quote(self, scopes: str | Sequence[str], what: Any, *, delta: Any = None) -> Quote:
        """Would it pass now, and how many more of these would? Nothing is written."""
        release, names = release_of(what, delta), _names(scopes)
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
        release, names = release_of(what, delta), _names(scopes)
        self._warm(names, release)
        life = int(exact(ttl, "ttl") * 1_000_000)
        if not 0 < life <= 10**15:
            raise InputError(f"ttl must be a positive number of seconds, not {described(ttl)}", argument="ttl")
        fields = {"scopes": names, **release.request(), "ttl": str(life)}
        chosen = key or _own_key()
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
        id = _reservation_id(reservation)
        part = None if amount is None else release_of(amount)
        fields = {"reservation": id, "what": None if part is None else part.text}
        request = self._request(
            "draw", key, by, fields, lambda p, r: reserving.draw(p, r, id, part), receipt_of, reservation=id
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    def close(self, reservation: str | Reservation, *, key: str | None = None, by: str | None = None) -> Receipt:
        """End a reservation: the undrawn part is given back where that is sound."""
        id = _reservation_id(reservation)
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
        fields = {"entry": [place[0], str(place[1])], **release.request(), "reason": _said(reason)}
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

    # ---- what a steward does ---------------------------------------------------------------------------------------

    def limit(
        self,
        scope: str,
        *,
        reason: str,
        by: str | None = None,
        approved_by: str | None = None,
        key: str | None = None,
        **limits: Any,
    ) -> Receipt:
        """Raise or lower a limit, with the reason; scopes opened with ``second_person`` need two people."""
        fields = {
            "scope": scope_name(scope),
            "reason": _said(reason),
            "approved_by": approved_by or "",
            **_texts(limits),
        }
        request = self._request(
            "limit",
            key,
            by,
            fields,
            lambda p, r: stewarding.set_limit(p, r, scope, limits, approved_by),
            receipt_of,
            [scope],
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    def freeze(self, scope: str, *, reason: str, by: str | None = None, key: str | None = None) -> Receipt:
        """Accept no charges until it is thawed."""
        return self._status(scope, "frozen", reason, by, key)

    def thaw(self, scope: str, *, reason: str, by: str | None = None, key: str | None = None) -> Receipt:
        """Accept charges again."""
        return self._status(scope, "open", reason, by, key)

    def retire(self, scope: str, *, reason: str, by: str | None = None, key: str | None = None) -> Receipt:
        """Close a scope, and those below it, for good; the journal keeps everything."""
        return self._status(scope, "closed", reason, by, key)

    def _status(self, scope: str, status: str, reason: str, by: str | None, key: str | None) -> Receipt:
        fields = {"scope": scope_name(scope), "status": status, "reason": _said(reason)}
        request = self._request(
            "status", key, by, fields, lambda p, r: stewarding.set_status(p, r, scope, status), receipt_of, [scope]
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    def bring_in(self, scope: str, table: str, *, key: str | None = None, by: str | None = None) -> Receipt:
        """Charge past releases from the text of a CSV table (columns what, count, delta): all of them, or none."""
        releases = stewarding.read_past(table)
        fields = {"scope": scope_name(scope), "releases": [release.request() for release in releases]}
        request = self._request(
            "import",
            key,
            by,
            fields,
            lambda p, r: stewarding.bring_in(p, r, releases),
            charging.replayed(self._scope),
            [scope],
        )
        receipt: Receipt = self._desk.submit(request)
        return receipt

    # ---- looking ---------------------------------------------------------------------------------------------------

    def show(self, scope: str) -> Statement:
        """Spent, held and left of a scope, its odometer, and what the same releases would cost if fixed in advance."""
        with self.store.reading() as reader:
            view = charging.View(reader, self._posting(reader))
            return statement(view, view.scope(scope_name(scope)))

    def scopes(self) -> list[Scope]:
        """All scopes, by name."""
        with self.store.reading() as reader:
            return [Scope(row) for row in reader.scopes()]

    def entries(self, root: str, *, after: int = 0, most: int | None = None) -> list[Chained]:
        """A root's entries in order."""
        with self.store.reading() as reader:
            return list(reader.entries(root, after, most))

    def verify(self, *, reprice: bool = False) -> Verification:
        """Recompute the chain, every balance and every anchor from the journal; ``reprice`` computes every price anew
        too.
        """
        with self.store.reading() as reader:
            return verify(reader, self._chain, None if self._anchors is None else self._anchors.read(), reprice=reprice)

    def export(self, form: str = "jsonl", *, root: str | None = None, curator: str | None = None) -> str:
        """The journal as JSON Lines (``jsonl``, checked by `bursar.ledger.export.verifier`), as ``csv``, or a draft for
        the OpenDP deployments registry (``opendp``, of one root).
        """
        with self.store.reading() as reader:
            if form == "jsonl":
                return "\n".join(export.json_lines(reader, self._chain)) + "\n"
            if form == "csv":
                return export.comma_separated(reader)
            if form == "opendp" and root is not None:
                return export.deployment(reader, root, **({} if curator is None else {"curator": curator}))
        raise InputError("export as jsonl or csv, or as opendp with root=", argument="form")

    def backup(self, target: str) -> None:
        """A consistent copy, while others go on."""
        self.store.backup(target)

    def restore(self, *, assume_spent: bool, reason: str, by: str | None = None) -> list[Receipt]:
        """Go on with a ledger that is behind its anchor, counting all that was left of the affected roots as spent."""
        if assume_spent is not True:
            raise InputError(
                "what was spent since is not known: only assume_spent=True is safe", argument="assume_spent"
            )
        if self._anchors is None:
            raise InputError("this ledger has no anchor to be restored against", argument="anchor")
        actor = _word(self.actor if by is None else by, "by")
        receipts = restored(self.store, self._chain, self._anchors, self._clock(), actor, _said(reason))
        self._halted = None
        self._seen.clear()
        self._check_anchors()
        return receipts

    # ---- inside ----------------------------------------------------------------------------------------------------

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
    ) -> Request:
        actor = self.actor if by is None else by
        return Request(verb, _key(key), _word(actor, "by"), fields, perform, read, names, reservation)

    def _warm(self, names: Sequence[str], release: Release) -> None:
        """Price a release that is new here before others have to wait for it; whatever is wrong is said later."""
        mark = (*names, release)
        if mark in self._warmed:
            return
        with self.store.reading() as reader, suppress(BursarError):
            view = charging.View(reader, self._posting(reader))
            view.decide(view.debited(names), release)
        if len(self._warmed) > _MOST_WARMED:
            self._warmed.clear()
        self._warmed.add(mark)

    def _perform(self, requests: Sequence[Request]) -> None:
        """One transaction for a batch; the anchor follows when it is durable, and then the alerts."""
        self._check()
        for attempt in range(_ATTEMPTS):
            try:
                posting = self._attempt(requests)
                break
            except Conflict as conflict:
                if attempt == _ATTEMPTS - 1:
                    raise StorageFailed(f"others kept writing, retry with the same key: {conflict}") from conflict
        if posting.heads:
            self._seen.update(posting.heads)
            if self._anchors is not None:
                self._anchors.append(posting.heads)
            self._watch.look(posting.posted, self._catalogue)

    def _attempt(self, requests: Sequence[Request]) -> Posting:
        with self.store.writing() as tx:
            posting = self._posting(tx)
            posting.prepare(requests)
            for request in requests:
                request.outcome = request.failure = None
                request.remembered = False
                posting.run(request)
        return posting

    def _posting(self, tx: Any) -> Posting:
        return Posting(tx, self._chain, self._catalogue, self._clock(), self._seen)

    def _check(self) -> None:
        if self._halted is not None:
            raise self._halted

    def _check_anchors(self) -> None:
        if self._anchors is None:
            return
        anchors = self._anchors.read()
        with self.store.reading() as reader:
            check(reader, anchors)

    def _scope(self, name: str) -> Scope:
        with self.store.reading() as reader:
            return self._catalogue.find(name, reader)[0]

    def _reservation(self, chained: Chained, replayed: bool) -> Any:
        if chained.entry.kind == "refuse":
            return charging.replayed(self._scope)(chained, replayed)
        return reserving.reservation_of(chained, replayed)

    def shut(self) -> None:
        """Let go of the store."""
        if self._anchors is not None:
            self._anchors.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()


def _names(scopes: str | Sequence[str]) -> list[str]:
    if isinstance(scopes, str):
        return [scope_name(scopes)]
    if not isinstance(scopes, (list, tuple, set, frozenset)):
        raise InputError(f"name a scope, or a list of them, not {described(scopes)}", argument="scopes")
    names = list(scopes)
    if not 1 <= len(names) <= 64:
        raise InputError("name one to 64 scopes", argument="scopes")
    return sorted({scope_name(name) for name in names})


def _key(key: str | None) -> str:
    if key is None:
        return _own_key()
    if not isinstance(key, str) or not key or len(key.encode()) > _LONGEST_KEY or not key.isprintable():
        raise InputError(
            f"key must be 1 to {_LONGEST_KEY} bytes of printable text, not {described(key)}", argument="key"
        )
    return key


def _own_key() -> str:
    """A key for whoever gave none: rising with time, so that a large ledger's index grows at its end."""
    return f"auto-{time.time_ns():016x}-{secrets.token_hex(8)}"


def _word(text: Any, name: str) -> str:
    if not isinstance(text, str) or len(text) > 255 or not (text.isprintable() or not text):
        raise InputError(f"{name} must be a short printable text, not {described(text)}", argument=name)
    return text


def _said(reason: Any) -> str:
    if not isinstance(reason, str) or not reason.strip() or len(reason) > 2000:
        raise InputError("say why: reason= takes a text of up to 2000 characters", argument="reason")
    return reason


def _texts(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, as texts: the journal holds no floats."""
    return {key: value if value is True else str(value) for key, value in given.items() if value not in (None, False)}


def _reservation_id(reservation: str | Reservation) -> str:
    id = reservation.id if isinstance(reservation, Reservation) else reservation
    if not isinstance(id, str) or not id:
        raise InputError(f"reservation must be a reservation or its id, not {described(id)}", argument="reservation")
    return id
