"""Reserve: an allowance set aside for a declared composition.

A reservation counts against the limit at once. On lines that add up, and on the pure part of a split, each draw moves
its own price from held to spent, and closing gives back the rest. On the Gaussian part, and where a plan was priced as
one, the price is not a sum over its parts, so it is spent when it is reserved and nothing comes back.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from bursar.errors import InputError, described
from bursar.ledger.arguments import names_of, said_if, with_reason
from bursar.ledger.budget.amounts import exact
from bursar.ledger.budget.currencies import HELD
from bursar.ledger.budget.deciding import Decided, bases_of
from bursar.ledger.budget.refusals import UNCAPPED, Caps, within_caps
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.commit.posting import Posting
from bursar.ledger.commit.request import Met, Verb
from bursar.ledger.journal.body import Body, Draft, body_in, effects_of, kept
from bursar.ledger.journal.entry import Chained, canonical
from bursar.ledger.journal.held import Held, detail_of
from bursar.ledger.journal.rows import ReservationRow
from bursar.ledger.receipt import Reservation, receipt_of
from bursar.ledger.verbs._base import raise_refusal, refused

_MOST_SECONDS = 10**9


class Reserve(Verb[Reservation], frozen=True):
    """A composition, the scopes that it will be charged to, and for how many microseconds it is set aside."""

    name: ClassVar[str] = "reserve"
    scopes: tuple[str, ...]
    release: Release
    ttl: int
    id: str
    """The reservation's name, which follows from the key: a replay finds the same one."""
    caps: Caps = UNCAPPED
    reason: str | None = None

    @property
    def about(self) -> Sequence[str]:
        """The scopes that were named."""
        return self.scopes

    def fields(self) -> dict[str, Any]:
        """Scopes, composition and time, and the reason if there is one."""
        asked = {"scopes": list(self.scopes), **self.release.request(), "ttl": str(self.ttl)}
        return with_reason(asked, self.reason)

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Set aside what the composition would cost, everywhere or nowhere."""
        scopes = posting.debited(self.scopes, self.release)
        if len({scope.row.root for scope in scopes}) > 1:
            raise InputError("a reservation stays within one root", argument="scopes")
        found, refusal = posting.decide(scopes, self.release, HELD)
        if refusal is not None:
            return refused(*refusal)
        for one in found:
            within_caps(self.caps, one)
        held = _held(found, self.release, self.scopes)
        root = scopes[0].row.root
        row = ReservationRow(self.id, root, "open", posting.now + self.ttl, canonical(held))
        effects = [change for one in found for change in effects_of(one.scope.name, one.before, one.after)]
        return [Draft("reserve", root, Body(effect=effects, reservation=kept(row), bases=bases_of(found, root)))]

    def answer(self, chained: Chained, again: bool, scope: Met) -> Reservation:
        """The reservation that its entry records."""
        raise_refusal(chained, again, scope)
        made = body_in(chained.entry.body).reservation
        assert made is not None
        fixed = detail_of(made.detail).fixed
        return Reservation(made.id, int(made.expires), receipt_of(chained, again), not fixed)


def reserve(
    scopes: str | Sequence[str],
    what: Any,
    ttl: Any,
    key: str,
    delta: Any = None,
    caps: Caps = UNCAPPED,
    reason: str | None = None,
) -> Reserve:
    """A reservation as people give it, for ``ttl`` seconds."""
    release, names = release_of(what, delta), names_of(scopes)
    life = int(exact(ttl, "ttl") * 1_000_000)
    if not 0 < life <= _MOST_SECONDS * 1_000_000:
        raise InputError(f"ttl must be a positive number of seconds, not {described(ttl)}", argument="ttl")
    why, id = said_if(reason), uuid.uuid5(uuid.NAMESPACE_OID, key).hex
    return Reserve(tuple(names), release, life, id, caps, why)


def _held(found: Sequence[Decided], release: Release, named: Sequence[str]) -> Held:
    """What each line and split holds, with the prices of single releases: a draw takes as many of these."""
    held: dict[str, dict[str, int]] = {}
    splits: dict[str, list[list[int]]] = {}
    units: dict[tuple[int, ...], int] = {}
    priced: dict[str, dict[str, int]] = {}
    for one in found:
        name, measures = one.scope.name, one.price.units
        amounts = {line: one.after[line].held - before.held for line, before in one.before.items()}
        amounts = {line: amount for line, amount in amounts.items() if amount > 0}
        terms = [[] if payment is None else list(payment.terms) for payment in one.price.payments]
        if amounts:
            held[name] = amounts
        if any(terms):
            splits[name] = terms
        for measure in [*amounts, *(["pure"] if any(terms) else [])]:
            # scopes of one currency have the same unit prices: they are written once
            priced.setdefault(name, {})[measure] = units.setdefault(measures[measure], len(units))
    return Held(
        held=held,
        left=list(release.terms),
        scopes=[one.scope.name for one in found],
        named=list(named),
        fixed=any(one.price.fixed & one.charged().keys() for one in found),
        priced=priced,
        splits=splits,
        terms=[text for text, _ in release.terms] if units else [],
        units=[list(each) for each in units],
    )
