"""Spend: charge a release to its scopes and all above them, before it runs. Quote: what that would do now."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from bursar.ledger.arguments import names_of, said_if, with_reason
from bursar.ledger.budget.currencies import Balance, Refusal
from bursar.ledger.budget.deciding import Seen, bases_of, decided
from bursar.ledger.budget.instead import instead
from bursar.ledger.budget.refusals import asked_and_left, short, within_cap
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import measured
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Body, Draft, Effect, effects_of
from bursar.ledger.journal.entry import canonical
from bursar.ledger.receipt import Part, Quote, taken_of
from bursar.ledger.verbs._base import Told, by_root, refused


class Spend(Told, frozen=True):
    """A release, and the scopes that it is charged to."""

    name: ClassVar[str] = "spend"
    scopes: tuple[str, ...]
    release: Release
    cap: Fraction | None = None
    """The largest share of any limit that it may take; None where there is no such rule."""
    reason: str | None = None

    @property
    def about(self) -> Sequence[str]:
        """The scopes that were named."""
        return self.scopes

    def fields(self) -> dict[str, Any]:
        """The scopes and the release, and the reason if there is one."""
        return with_reason({"scopes": list(self.scopes), **self.release.request()}, self.reason)

    def text(self) -> str:
        """The same charges come again and again."""
        return _text(self.scopes, self.release) if self.reason is None else super().text()

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Charge every scope on its paths, or none."""
        scopes = posting.debited(self.scopes, self.release)
        found, refusal = posting.decide(scopes, self.release)
        if refusal is not None:
            return refused(*refusal)
        effects: list[Effect] = []
        for one in found:
            within_cap(self.cap, one)
            effects += effects_of(one.scope.name, one.before, one.after)
        what = self.release.text
        return [
            Draft("spend", root, Body(effect=part, released=what, bases=bases_of(found, root)))
            for root, part in by_root(scopes, effects).items()
        ]


def spend(
    scopes: str | Sequence[str],
    what: Any,
    delta: Any = None,
    cap: Fraction | None = None,
    reason: str | None = None,
) -> Spend:
    """A charge as people give it."""
    return Spend(tuple(names_of(scopes)), release_of(what, delta), cap, said_if(reason))


@lru_cache(maxsize=10_000)
def _text(scopes: tuple[str, ...], release: Release) -> str:
    return canonical({"verb": Spend.name, "scopes": list(scopes), **release.request()})


def quote(seen: Seen, release: Release) -> Quote:
    """What spending would do now, on scopes as somebody has found them."""
    found, refusal = decided(seen, release, price=lambda currency, what, state: currency.price(what, state))
    if refusal is not None:
        return _refused(seen, release, *refusal)
    parts, taken = [], []
    for one in found:
        taken.append(taken_of(one.scope.name, one.before, one.after))
        before = measured(one.before)
        for name, asked in one.charged().items():
            parts.append(_part(one.scope, name, asked, before[name], name not in one.price.fixed))
    fits = min(one.scope.currency.fits(release, one.before) for one in found)
    return Quote(release.text, fits, tuple(parts), None, tuple(taken))


def _refused(seen: Seen, release: Release, scope: Scope, refusal: Refusal) -> Quote:
    """Why, and what would pass."""
    part = _part(scope, refusal.line, refusal.asked, refusal.balance, True)
    reason = f"{scope.name}: {asked_and_left(scope, short(scope, refusal))}"
    return Quote(release.text, 0, (part,), reason, would_pass=instead(seen, release))


def _part(scope: Scope, line: str, asked: int, balance: Balance, comes_back: bool) -> Part:
    unit = scope.currency.lines[line].unit
    return Part(scope.name, line, asked * unit, balance.left * unit, balance.limit * unit, comes_back)
