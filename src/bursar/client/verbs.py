"""Every verb that a client has, written once for both of them.

A method here says what is asked: it gives a `Call`. Asked of a `Client` it gives the answer, of an `AsyncClient` what
to await for it; `verb` makes the one of the other, for editors and type checkers too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from bursar import wire
from bursar.client.arguments import Names, Text, id_of, names_of, number, numbers, text_of
from bursar.client.calls import Call, call, verb
from bursar.errors import InputError
from bursar.keys import own_key
from bursar.wire import verbs


class Verbs:
    """What can be asked, as methods with the names that the `bursar.Ledger` has; ``key`` is your own, and where none is
    given one is made: a retry with the same key is charged once.
    """

    @verb
    def account(
        self,
        composition: Any,
        *,
        delta: Any = None,
        epsilon: Any = None,
        theorems: Sequence[str] | None = None,
        width: Any = None,
        effort: wire.Effort = "normal",
    ) -> Call[dict[str, Any]]:
        """What do releases cost? ``delta`` or ``epsilon``, and as in `bursar.account`."""
        given = numbers({"delta": delta, "epsilon": epsilon, "width": width})
        named = None if theorems is None else list(theorems)
        return call(verbs.ACCOUNT, wire.Account(text_of(composition), **given, theorems=named, effort=effort))

    @verb
    def plan(
        self, template: str, *, epsilon: Any, delta: Any, width: Any = None, effort: wire.Effort = "normal"
    ) -> Call[dict[str, Any]]:
        """Which value of the unknown, written ?, fits?"""
        return call(verbs.PLAN, wire.Plan(template, str(epsilon), str(delta), number(width), effort))

    @verb
    def quote(self, scopes: Names, what: Any, *, delta: Any = None) -> Call[wire.Quoted]:
        """Would it pass now, and how many more of these would?"""
        return call(verbs.QUOTE, wire.Quote(names_of(scopes), text_of(what), number(delta)))

    @verb
    def spend(
        self, scopes: Names, what: Any, *, key: Text = None, delta: Any = None, reason: Text = None
    ) -> Call[wire.Receipt]:
        """Charge a release before it runs; `BudgetExceeded` says what is left, and what would pass."""
        asked = wire.Spend(names_of(scopes), text_of(what), key or own_key(), number(delta), reason)
        return call(verbs.SPEND, asked)

    @verb
    def reserve(
        self, scopes: Names, what: Any, *, ttl: Any, key: Text = None, delta: Any = None, reason: Text = None
    ) -> Call[wire.Reservation]:
        """Set an allowance aside for ``ttl`` seconds."""
        asked = wire.Reserve(names_of(scopes), text_of(what), str(ttl), key or own_key(), number(delta), reason)
        return call(verbs.RESERVE, asked)

    @verb
    def draw(
        self, reservation: str | wire.Reservation, what: Any = None, *, key: Text = None, reason: Text = None
    ) -> Call[wire.Receipt]:
        """Spend a part of a reservation, or all that is left."""
        part = None if what is None else text_of(what)
        return call(verbs.DRAW, wire.Draw(id_of(reservation), key or own_key(), part, reason))

    @verb
    def close(self, reservation: str | wire.Reservation, *, key: Text = None) -> Call[wire.Receipt]:
        """End a reservation."""
        return call(verbs.CLOSE, wire.Close(id_of(reservation), key or own_key()))

    @verb
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
        splits: Sequence[tuple[Any, Any]] = (),
        second_person: bool = False,
        spent: Sequence[Any] = (),
        consent: Text = None,
        key: Text = None,
    ) -> Call[wire.Receipt]:
        """Open a scope; ``spent`` lists what was released before, ``consent`` is that of `correct`."""
        limits = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "order": order, "renyi": renyi}
        asked = wire.Open(
            scope,
            key or own_key(),
            **numbers({**limits, "leak": leak}),
            splits=[(str(epsilon), str(delta)) for epsilon, delta in splits],
            currency=currency,
            parent=parent,
            kind=kind,
            unit=unit,
            relation=relation,
            second_person=second_person,
            spent=[text_of(one) for one in spent],
            consent=consent,
        )
        return call(verbs.OPEN, asked)

    @verb
    def limit(
        self,
        scope: str,
        *,
        reason: str,
        approval: Text = None,
        consent: Text = None,
        key: Text = None,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        renyi: Any = None,
    ) -> Call[wire.Receipt]:
        """Raise or lower a limit, with the reason; ``approval`` is another person's token, where two must agree, and
        ``consent`` that of `correct`.
        """
        limits = numbers({"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "renyi": renyi})
        asked = wire.Limit(scope, reason, key or own_key(), **limits, approval=approval, consent=consent)
        return call(verbs.LIMIT, asked)

    @verb
    def freeze(self, scope: str, *, reason: str, key: Text = None) -> Call[wire.Receipt]:
        """Accept no charges until it is thawed."""
        return call(verbs.FREEZE, wire.Status(scope, reason, key or own_key()))

    @verb
    def thaw(self, scope: str, *, reason: str, key: Text = None) -> Call[wire.Receipt]:
        """Let a frozen scope accept charges again."""
        return call(verbs.THAW, wire.Status(scope, reason, key or own_key()))

    @verb
    def retire(self, scope: str, *, reason: str, key: Text = None) -> Call[wire.Receipt]:
        """Close a scope, and those below it, for good."""
        return call(verbs.RETIRE, wire.Status(scope, reason, key or own_key()))

    @verb
    def correct(
        self, entry: wire.Receipt | tuple[str, int], what: Any, *, reason: str, key: Text = None, consent: Text = None
    ) -> Call[wire.Receipt]:
        """Add spend that an entry should have had; `ConsentNeeded` says what more that would do, and which ``consent``
        agrees to it.
        """
        root, seq = (entry.root, entry.seq) if isinstance(entry, wire.Receipt) else entry
        return call(verbs.CORRECT, wire.Correct(root, seq, text_of(what), reason, key or own_key(), consent))

    @verb
    def bring_in(self, scope: str, table: str, *, key: Text = None, consent: Text = None) -> Call[wire.Receipt]:
        """Charge past releases from the text of a CSV table (columns what, count, delta): all of them, or none; where
        that does more than charge them, `ConsentNeeded` says what.
        """
        return call(verbs.BRING_IN, wire.BringIn(scope, table, key or own_key(), consent))

    @verb
    def scopes(self) -> Call[list[wire.Scope]]:
        """The scopes that the token reaches."""
        return call(verbs.SCOPES, None).then(lambda found: found.scopes)

    @verb
    def show(self, scope: str) -> Call[wire.Standing]:
        """A scope now: spent, held and left."""
        return call(verbs.SHOW, wire.OfScope(scope))

    @verb
    def released(self, scope: str) -> Call[list[wire.Released]]:
        """What was released in a scope, with counts."""
        return call(verbs.RELEASED, wire.OfScope(scope)).then(lambda found: found.released)

    @verb
    def entries(self, scope: str, *, after: int = 0, most: int = 100) -> Call[wire.Entries]:
        """A page of what was written about a scope."""
        return call(verbs.ENTRIES, wire.Page(scope, after, most))

    @verb
    def verify(self, *, reprice: bool = False, deep: bool = False) -> Call[wire.Verification]:
        """Recompute the whole ledger from its journal."""
        return call(verbs.VERIFY, wire.Verify(reprice, deep))

    @verb
    def export(self, form: str = "jsonl", *, root: Text = None, facts: Mapping[str, Any] | None = None) -> Call[str]:
        """The journal as a file: ``jsonl`` or ``csv``, or with ``opendp`` a draft for the OpenDP deployments registry
        of one ``root``, with the ``facts`` that no ledger knows.
        """
        if facts is None:
            return call(verbs.EXPORT, wire.Export(form, root))  # type: ignore[arg-type]  # the service refuses others
        if form != "opendp" or root is None:
            raise InputError("facts are for the registry: export as opendp with root=", argument="facts")
        return call(verbs.EXPORT_WITH_FACTS, wire.Registry(root, dict(facts)))

    @verb
    def health(self) -> Call[wire.Health]:
        """Is it up, and does the ledger accept charges?"""
        return call(verbs.HEALTH, None)

    @verb
    def metrics(self) -> Call[str]:
        """The service's counters, in the text form of Prometheus."""
        return call(verbs.METRICS, None)

    @verb
    def token_list(self) -> Call[list[wire.TokenInfo]]:
        """All tokens, without their secrets."""
        return call(verbs.TOKEN_LIST, None).then(lambda found: found.tokens)

    @verb
    def token_add(self, name: str, role: str, scope: str = "*", *, days: int = 90) -> Call[wire.Issued]:
        """A new token with its secret, which is shown this once; a lost answer is not asked for again."""
        return call(verbs.TOKEN_ADD, wire.NewToken(name, role, scope, days))  # type: ignore[arg-type]  # likewise

    @verb
    def token_revoke(self, id: str) -> Call[bool]:
        """Whether there was such a token; from now on it opens nothing."""
        return call(verbs.TOKEN_REVOKE, wire.Revoke(id)).then(lambda found: found.revoked)

    @verb
    def statement(self, scope: str) -> Call[wire.Standing]:
        """An old name of `show`."""
        warnings.warn("statement is now called show", DeprecationWarning, stacklevel=3)
        return call(verbs.SHOW, wire.OfScope(scope))

    @verb
    def registry(self, root: str, facts: Mapping[str, Any]) -> Call[str]:
        """An old name of `export` with facts."""
        warnings.warn('registry is now export("opendp", root=, facts=)', DeprecationWarning, stacklevel=3)
        return call(verbs.EXPORT_WITH_FACTS, wire.Registry(root, dict(facts)))
