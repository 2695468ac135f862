"""The ledger: a durable budget that admits or refuses each release.

    with Ledger("sqlite:///budget.db") as ledger:
        ledger.open("census", epsilon="1", delta="1e-6")
        receipt = ledger.spend("census", Gaussian(sigma=50.0), key="query-0001")

The debit is durable before the query runs, nothing is refunded because a query failed, and a refusal leaves the ledger
as it was. All methods may be called from many threads; those that wait at the same time share one commit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

from bursar.errors import BudgetExceeded, InputError, LedgerHalted, described
from bursar.ledger import arguments
from bursar.ledger.budget.currencies import Unpriced, find_here
from bursar.ledger.budget.currencies.splits import as_texts, shares_of
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope, scope_name
from bursar.ledger.commit.alerts import Alert, log
from bursar.ledger.commit.office import Office
from bursar.ledger.commit.request import Request, Verb
from bursar.ledger.inspection.bases import cheaply, deeply
from bursar.ledger.inspection.export import exported
from bursar.ledger.inspection.reprice import Pricer
from bursar.ledger.inspection.verify import Verification, verify
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.entry import Chained
from bursar.ledger.receipt import Quote, Receipt, Reservation
from bursar.ledger.stores import Store
from bursar.ledger.verbs.bring_in import bring_in
from bursar.ledger.verbs.correct import correct
from bursar.ledger.verbs.draw import Close, draw
from bursar.ledger.verbs.limit import limit
from bursar.ledger.verbs.open import Place, open_scope
from bursar.ledger.verbs.reserve import reserve
from bursar.ledger.verbs.restore import restore
from bursar.ledger.verbs.spend import quote, spend
from bursar.ledger.verbs.status import status
from bursar.ledger.views import looks
from bursar.ledger.views.standing import Standing

Answer = TypeVar("Answer")
Output = TypeVar("Output")
Scopes = str | Sequence[str]
Facts = Mapping[str, Any] | None
Text = str | None
Reserved = str | Reservation
Query = Callable[[], Output]


class Ledger(looks.OfStore):
    """One journal and its scopes, in a store: ``memory://``, ``sqlite:///budget.db`` or ``postgresql://…``."""

    def __init__(
        self,
        url: str | os.PathLike[str] | Store,
        *,
        anchor: Text = None,
        create: bool = True,
        actor: str = "",
        alert: Callable[[Alert], None] | None = log,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
        find: Callable[[Unpriced], None] = find_here,
        read: Callable[[Any, Any], Release] = release_of,
        compare: Callable[[Basis], str] = deeply,
    ) -> None:
        """``create=False`` refuses a file that does not exist; ``anchor`` is a file outside the database (beside a
        SQLite file unless you name a better place); ``alert`` is called when a share of a limit is passed; ``clock``
        gives microseconds; ``find`` finds prices, ``read`` reads texts and ``compare`` asks engines again: here, unless
        told otherwise.
        """
        self.actor, self.read, self.compare = actor, read, compare
        self.office = Office(url, anchor=anchor, create=create, alert=alert, clock=clock, find=find)
        self.store = self.office.store

    def request(self, verb: Verb[Answer], *, key: Text = None, by: Text = None) -> Request[Answer]:
        """A verb on behalf of somebody, for `commit` and `begin`; the methods below make and submit their own."""
        actor = arguments.word(self.actor if by is None else by, "by")
        return Request(verb, arguments.key_of(key), actor, verb.text())

    def _do(self, verb: Verb[Answer], key: Text, by: Text) -> Answer:
        try:
            return self.office.submit(self.request(verb, key=key, by=by))
        except BudgetExceeded as refusal:
            raise looks.advised(self.office, verb, refusal) from None

    def commit(self, requests: Sequence[Request[Any]]) -> None:
        """Perform requests in one transaction, for callers with a queue of their own: each then has its own outcome or
        failure. Where a price is not known that is `Unpriced`: `find` it where nobody waits, then it may come again.
        """
        self.office.batches.together(requests)

    def begin(self, requests: Sequence[Request[Any]]) -> Callable[[], None] | None:
        """`commit` in two steps, for callers that must not block: what is decided now becomes durable, and only then
        true, when the function that this gives back has been called (in any thread, once). None where it cannot be
        decided without waiting: then `commit` in a thread.
        """
        return self.office.batches.begin(requests)

    # what people do who spend
    def spend(
        self, scopes: Scopes, what: Any, *, key: Text = None, delta: Any = None, by: Text = None, reason: Text = None
    ) -> Receipt:
        """Charge a release to its scopes and all above them, or to none: `BudgetExceeded` says what is left."""
        return self._do(spend(scopes, what, delta, reason=reason), key, by)

    def run(
        self, scopes: Scopes, what: Any, query: Query[Output], *, key: str, delta: Any = None, reason: Text = None
    ) -> Output:
        """Charge, durably, then run the query once. With a key that was charged before it raises `AlreadyRun`."""
        if not callable(query):
            raise InputError(f"query must be a function, not {described(query)}", argument="query")
        if key is None:
            raise InputError("a query that runs once needs a key of its own", argument="key")
        self.spend(scopes, what, key=key, delta=delta, reason=reason).once()
        return query()

    def quote(self, scopes: Scopes, what: Any, *, delta: Any = None) -> Quote:
        """Would it pass now, and how many more of these would? Nothing is written."""
        release = release_of(what, delta)
        return quote(looks.states(self.office, scopes, release), release)  # others read meanwhile

    def reserve(
        self,
        scopes: Scopes,
        what: Any,
        *,
        ttl: Any,
        key: Text = None,
        delta: Any = None,
        by: Text = None,
        reason: Text = None,
    ) -> Reservation:
        """Set an allowance aside for ``ttl`` seconds; it counts against the limit at once."""
        chosen = arguments.key_of(key)
        return self._do(reserve(scopes, what, ttl, chosen, delta, reason=reason), chosen, by)

    def draw(
        self, reservation: Reserved, amount: Any = None, *, key: Text = None, by: Text = None, reason: Text = None
    ) -> Receipt:
        """Spend a part of a reservation (all that is left, unless an amount is given), before the data is touched."""
        return self._do(draw(reservation, amount, reason=reason), key, by)

    def close(self, reservation: Reserved, *, key: Text = None, by: Text = None) -> Receipt:
        """End a reservation: the undrawn part is given back where that is sound."""
        return self._do(Close(arguments.reservation_id(reservation)), key, by)

    def correct(
        self,
        entry: Receipt | tuple[str, int],
        what: Any,
        *,
        reason: str,
        key: Text = None,
        delta: Any = None,
        by: Text = None,
        consent: Text = None,
    ) -> Receipt:
        """Add spend that an entry should have had. It can only add; what no longer fits freezes the scope. Where it
        would do more than charge the release, `ConsentNeeded` says what, and which ``consent`` agrees to that.
        """
        with self.store.reading() as reader:
            asked = correct(reader, entry, what, reason, delta, consent)
        return self._do(asked, key, by)

    # what a steward does
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
        currency: Text = None,
        parent: Text = None,
        kind: Text = None,
        unit: Text = None,
        relation: Text = None,
        splits: Sequence[Any] | None = None,
        alerts: Sequence[Any] | None = None,
        second_person: bool = False,
        spent: Iterable[Any] = (),
        consent: Text = None,
        by: Text = None,
        key: Text = None,
        within: Text = None,
    ) -> Receipt:
        """Open a scope. ``epsilon`` with ``delta`` gets the strongest filter, ``epsilon`` alone a pure one, ``rho`` a
        zCDP one, ``mu`` a GDP one, ``order`` (with epsilon and delta, or renyi) one Rényi order. ``splits`` divides
        an (ε, δ) budget between pure and Gaussian-like releases: pairs of a share of ε and a share of δ, as text.
        ``spent`` lists what was released before, in that order; ``consent`` to it is that of `correct`.

        A name under an existing scope, such as census/maps under census, opens below it unless ``parent`` says
        otherwise; ``kind="root"`` insists on a budget of its own. ``within`` names the scope that it must lie below.
        """
        limits = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "order": order}
        limits |= {"renyi": renyi, "leak": leak}
        limits["splits"] = None if splits is None else as_texts(shares_of(splits))
        options: dict[str, Any] = {"unit": unit, "relation": relation, "alerts": alerts}
        options["second_person"], place = second_person, Place(parent, kind, within)
        return self._do(open_scope(scope, place, currency, limits, options, spent, consent), key, by)

    def limit(
        self,
        scope: str,
        *,
        reason: str,
        by: Text = None,
        approved_by: Text = None,
        key: Text = None,
        consent: Text = None,
        **limits: Any,
    ) -> Receipt:
        """Raise or lower a limit, with the reason; scopes opened with ``second_person`` need two people. ``consent`` is
        that of `correct`, where nothing would be left for Gaussian-like releases.
        """
        return self._do(limit(scope, limits, reason, approved_by, consent), key, by)

    def freeze(self, scope: str, *, reason: str, by: Text = None, key: Text = None) -> Receipt:
        """Accept no charges until it is thawed."""
        return self._do(status(scope, "frozen", reason), key, by)

    def thaw(self, scope: str, *, reason: str, by: Text = None, key: Text = None) -> Receipt:
        """Let a frozen scope accept charges again."""
        return self._do(status(scope, "open", reason), key, by)

    def retire(self, scope: str, *, reason: str, by: Text = None, key: Text = None) -> Receipt:
        """Close a scope, and those below it, for good; the journal keeps everything."""
        return self._do(status(scope, "closed", reason), key, by)

    def bring_in(self, scope: str, table: str, *, key: Text = None, by: Text = None, consent: Text = None) -> Receipt:
        """Charge past releases from the text of a CSV table, in the order in which they ran, or none of them;
        ``consent`` is that of `correct`.
        """
        return self._do(bring_in(scope, table, consent), key, by)

    def backup(self, target: str) -> None:
        """A consistent copy, while others go on."""
        self.office.open_only()
        self.store.backup(arguments.file_name(target, "target"))

    def restore(self, *, assume_spent: bool, reason: str, by: Text = None) -> list[Receipt]:
        """Go on with a ledger that is behind its anchor, counting all that was left of the affected roots as spent."""
        if assume_spent is not True:
            raise InputError(
                "what was spent since is not known: only assume_spent=True is safe", argument="assume_spent"
            )
        actor, why = arguments.word(self.actor if by is None else by, "by"), arguments.said(reason)
        return self.office.restore(lambda posting, lost: restore(posting, lost, actor, why))

    # what everybody may look at
    def show(self, scope: str) -> Standing:
        """How a scope stands: per cent used and left, about how many more fit, and how this is counted."""
        return looks.stood(self.office, scope)

    def released(self, scope: str) -> list[tuple[str, int]]:
        """What was released in a scope, with counts."""
        return looks.released(self.store, scope)

    def scopes(self) -> list[Scope]:
        """All scopes, by name."""
        with self.store.reading() as reader:
            return [Scope(row) for row in reader.scopes()]

    def scope(self, name: str) -> Scope:
        """One scope; `ScopeUnknown` where there is none."""
        with self.store.reading() as reader:
            return self.office.catalogue.find(scope_name(name), reader)[0]

    def entries(self, root: str, *, after: int = 0, most: int | None = None) -> list[Chained]:
        """A root's entries in order."""
        with self.store.reading() as reader:
            return list(reader.entries(scope_name(root), after, most))

    def last(self, root: str) -> int:
        """The number of a root's last entry."""
        return looks.last(self.store, root)

    def verify(self, *, reprice: bool = False, deep: bool = False) -> Verification:
        """Recompute the chain, every balance and anchor from the journal. ``reprice`` checks every price too, and asks
        no engine. ``deep`` does that and asks the engines whether what the prices rest on is true.
        """
        anchors, compare = self.office.anchors, self.compare if deep else cheaply
        pricer = Pricer(self.read, self.office.find, compare, deep) if reprice or deep else None
        with self.store.reading() as reader:
            return verify(reader, self.office.chain, None if anchors is None else anchors.read(), pricer)

    def export(self, form: str = "jsonl", *, root: Text = None, facts: Facts = None) -> str:
        """The journal as JSON Lines (``jsonl``, checked by `bursar.ledger.inspection.export.verifier`), as ``csv``, or
        a draft for the OpenDP deployments registry (``opendp``, of one root), for which ``facts`` says what no ledger
        knows: who publishes what, where, when and what for.
        """
        with self.store.reading() as reader:
            return exported(reader, self.office.chain, form, root, facts)

    @property
    def halted(self) -> LedgerHalted | None:
        """Why the ledger accepts nothing; None where it does."""
        return self.office.halted

    def shut(self) -> None:
        """Let go of the store; afterwards the ledger refuses everything."""
        self.office.shut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()
