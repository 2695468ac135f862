"""What a steward does: open, change limits, freeze, close, import, back up, restore."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bursar.errors import InputError
from bursar.ledger.arguments import file_name, said, texts, word
from bursar.ledger.budget.release import release_of
from bursar.ledger.budget.scope import names_above, scope_name
from bursar.ledger.commit.office import Desk
from bursar.ledger.receipt import Receipt, receipt_of
from bursar.ledger.verbs import spend as charging
from bursar.ledger.verbs import steward as stewarding
from bursar.ledger.verbs.restore import restored
from bursar.numerics.validate import listed


class Steward(Desk):
    """The verbs of stewards."""

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
        within: str | None = None,
    ) -> Receipt:
        """Open a scope. ``epsilon`` with ``delta`` gets the strongest filter, ``epsilon`` alone a pure one, ``rho`` a
        zCDP one, ``mu`` a GDP one, ``order`` (with epsilon and delta, or renyi) one Rényi order. ``spent`` lists what
        was released before.

        A name under an existing scope, such as census/maps under census, opens below it unless ``parent`` says
        otherwise; ``kind="root"`` insists on a budget of its own. ``within`` refuses every other place than that scope
        and those below it.
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
        before = [release_of(what) for what in listed(spent=spent)]
        fields = {**asked, **texts(limits), **texts(options), "spent": [release.text for release in before]}
        scope_name(scope)
        # what may turn out to lie above is locked with the rest; which of them does, the transaction decides
        names = [scope_name(parent)] if parent is not None else [] if kind == "root" else names_above(scope)
        whole = {**asked, "limits": limits, "options": options, "within": within}
        request = self._request(
            "open", key, by, fields, lambda p, r: stewarding.open_scope(p, r, whole, before), receipt_of, names
        )
        receipt: Receipt = self._submit(request)
        return receipt

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
        if all(value is None for value in limits.values()):
            raise InputError("say which limit is to change: epsilon=, delta=, rho=, mu= or renyi=", argument="limit")
        fields = {
            "scope": scope_name(scope),
            "reason": said(reason),
            "approved_by": word(approved_by or "", "approved_by").strip(),
            **texts(limits),
        }
        request = self._request(
            "limit",
            key,
            by,
            fields,
            lambda p, r: stewarding.set_limit(p, r, scope, limits, fields["approved_by"]),
            receipt_of,
            [scope],
        )
        receipt: Receipt = self._submit(request)
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
        fields = {"scope": scope_name(scope), "status": status, "reason": said(reason)}
        request = self._request(
            "status", key, by, fields, lambda p, r: stewarding.set_status(p, r, scope, status), receipt_of, [scope]
        )
        receipt: Receipt = self._submit(request)
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
        receipt: Receipt = self._submit(request)
        return receipt

    def backup(self, target: str) -> None:
        """A consistent copy, while others go on."""
        if self._shut:
            raise InputError("this ledger has been shut")
        self.store.backup(file_name(target, "target"))

    def restore(self, *, assume_spent: bool, reason: str, by: str | None = None) -> list[Receipt]:
        """Go on with a ledger that is behind its anchor, counting all that was left of the affected roots as spent."""
        if assume_spent is not True:
            raise InputError(
                "what was spent since is not known: only assume_spent=True is safe", argument="assume_spent"
            )
        if self._anchors is None:
            raise InputError("this ledger has no anchor to be restored against", argument="anchor")
        actor = word(self.actor if by is None else by, "by")
        receipts = restored(self.store, self._chain, self._anchors, self._clock(), actor, said(reason))
        self._halted = None
        self._catalogue.doubt()
        self._seen.clear()
        self._check_anchors()
        return receipts
