"""Limit: raise or lower what a scope may spend. Its unit stays, what is spent, and which splits were given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from bursar.errors import InputError, NotPermitted
from bursar.ledger.arguments import said, texts, word
from bursar.ledger.budget import words
from bursar.ledger.budget.amounts import exact, units_down
from bursar.ledger.budget.currencies import Balance, Currency, Residue
from bursar.ledger.budget.currencies._moves import relimited
from bursar.ledger.budget.scope import Scope, scope_name, target_of
from bursar.ledger.commit.catalogue import usable
from bursar.ledger.commit.posting import Posting
from bursar.ledger.journal.body import Body, Draft, Effect, effect
from bursar.ledger.journal.rows import Splits
from bursar.ledger.verbs._base import Told
from bursar.ledger.verbs.consent import consented_to_limit


class Limit(Told, frozen=True):
    """A scope and its new limits, with the reason."""

    name: ClassVar[str] = "limit"
    scope: str
    limits: Mapping[str, Any]
    reason: str
    approved_by: str
    consent: str | None = None
    """What whoever asks agrees to, where it does more than change the limit."""

    @property
    def about(self) -> Sequence[str]:
        """The scope whose limit changes."""
        return (self.scope,)

    def fields(self) -> dict[str, Any]:
        """All of it, as text."""
        asked = {"scope": self.scope, "reason": self.reason, "approved_by": self.approved_by}
        return {**asked, **texts(self.limits)}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """The new limit, of a root for its open blocks too."""
        scope = posting.scope(self.scope)
        posting.expire(scope.row.root)
        self._check(scope, actor.strip())
        fresh = _limited(scope, {key: value for key, value in self.limits.items() if value is not None})
        every = [scope]
        if scope.kind == "root":
            rows = posting.rows.scopes(self.scope)
            every += [posting.scope(row.name) for row in rows if row.kind == "block" and row.status != "closed"]
        effects = [change for one in every for change in changes(one, posting.lines(one), fresh)]
        agreed = consented_to_limit(every, effects, self.limits, self.consent)
        changed = [one.with_terms(target=target_of(fresh), overdrawn={}).row for one in every]
        return [
            Draft(
                "limit",
                scope.row.root,
                Body(effect=effects, approved_by=self.approved_by, scopes=changed, consent=agreed),
            )
        ]

    def _check(self, scope: Scope, actor: str) -> None:
        if scope.row.status == "closed":
            usable(scope)
        if scope.kind == "block":
            raise InputError("a block has its root's limit: change that one", argument="scope")
        if scope.second_person and (not self.approved_by or self.approved_by == actor or not actor):
            raise NotPermitted(
                f"a change of {self.scope}'s limit needs two people: by= and approved_by=, and not the same"
            )


def limit(
    scope: str, limits: Mapping[str, Any], reason: str, approved_by: str | None, consent: str | None = None
) -> Limit:
    """A change as people give it."""
    if all(value is None for value in limits.values()):
        raise InputError("say which limit is to change: epsilon=, delta=, rho=, mu= or renyi=", argument="limit")
    other = word(approved_by or "", "approved_by").strip()
    agreed = None if consent is None else word(consent, "consent")
    return Limit(scope_name(scope), limits, said(reason), other, agreed)


def _limited(scope: Scope, limits: dict[str, Any]) -> Currency:
    """The currency with other limits, of which it must have the same lines."""
    if "order" in limits and exact(limits["order"], "order") != Fraction(scope.target.get("order", "0")):
        raise InputError("a scope keeps the order in which it counts: open a new one", argument="order")
    for name in limits.keys() - scope.target.keys():
        raise InputError(f"{scope.name} has no limit on {name}, only on {', '.join(scope.target)}", argument=name)
    terms = {**scope.target, **limits}
    if "leak" in terms and "delta" in limits and "leak" not in limits:
        terms.pop("leak")  # a share of the new δ
    fresh = scope.currency_at(terms)
    if fresh.lines.keys() != scope.currency.lines.keys():
        raise InputError("a scope keeps its lines: open a new one for another kind of limit", argument="limit")
    return fresh


def changes(scope: Scope, state: dict[str, Balance], fresh: Currency) -> list[Effect]:
    """The lines with their new limits; what was overdrawn is paid first."""
    beyond = scope.overdrawn
    if scope.lost or beyond is None:
        why = "entries of its root were lost" if scope.lost else "it is overdrawn by releases that have no price"
        raise InputError(f"nobody knows what {scope.name} has spent, {why}: open a new scope", argument="scope")
    effects = []
    for line, balance in state.items():
        if balance.splits is not None:
            after = _resplit(scope, balance, balance.splits, fresh)
        else:
            after = relimited(balance, _limit(scope, line, balance, fresh, beyond), beyond.get(line, 0))
        effects.append(effect(scope.name, line, balance, after))
    return effects


def _limit(scope: Scope, line: str, balance: Balance, fresh: Currency, beyond: Mapping[str, int]) -> int:
    """The new limit of a line, in units; refused where more is used already."""
    most = units_down(fresh.lines[line].limit, scope.currency.lines[line].unit)
    taken = balance.spent + beyond.get(line, 0) + balance.held
    if most < taken:
        more = words.taken(Fraction(taken, most)).removesuffix(" the limit") if most else "more than all of"
        more += "" if more.endswith(("times", "of")) else " of"
        raise InputError(f"{scope.name} has used {more} that limit already", argument=line)
    return most


def _resplit(scope: Scope, balance: Balance, splits: Splits, fresh: Currency) -> Balance:
    before, currency = scope.current, scope.currency
    assert isinstance(currency, Residue)
    assert isinstance(before, Residue)
    assert isinstance(fresh, Residue)
    after = currency.relimited(splits, before, fresh)
    if after is None:
        raise InputError(
            f"what {scope.name} has used is more than that limit, or is proved for its limit and larger ones only: "
            "close it and open a new scope, or freeze it",
            argument="limit",
        )
    return balance._replace(splits=after)
