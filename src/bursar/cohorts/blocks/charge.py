"""Charge: a release on some blocks, added to every one of them or to none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from bursar.cohorts.blocks.exhausted import BlocksExhausted
from bursar.errors import ScopeFrozen, ScopeUnknown
from bursar.ledger.budget.currencies import Balance, Refusal
from bursar.ledger.budget.refusals import alike, refusal_of, short
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.catalogue import usable
from bursar.ledger.commit.counters import Examined, examined
from bursar.ledger.commit.posting import Posting
from bursar.ledger.commit.request import Met, Verb
from bursar.ledger.journal.body import Body, Charge, Draft, Exhausted, body_in, effects_of
from bursar.ledger.journal.entry import Chained
from bursar.ledger.receipt import Receipt, receipt_of


class ChargeBlocks(Verb[Receipt], frozen=True):
    """A release, and the box of blocks that it reads."""

    name: ClassVar[str] = "charge"
    scope: str
    ranges: tuple[tuple[int, int], ...]
    release: Release

    @property
    def about(self) -> Sequence[str]:
        """The root of the blocks."""
        return (self.scope,)

    def fields(self) -> dict[str, Any]:
        """The blocks and the release."""
        return {"scope": self.scope, "ranges": [list(one) for one in self.ranges], **self.release.request()}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Charge every block of the box, or none; a refusal is written down too."""
        scope = chargeable(posting.scope(self.scope), "blocks")
        alike([scope], self.release)
        before = posting.lines(scope)
        amounts = scope.currency.known(self.release, before).amounts
        after = dict(before)
        for line, amount in amounts.items():
            balance = before[line]
            found = examined(posting.rows, scope, line, self.ranges, amount, balance.limit, balance.spent)
            if found.short:
                return [_refused(scope, line, amount, balance, found)]
            after[line] = balance._replace(spent=found.most)
        body = Body(effect=effects_of(scope.name, before, after), blocks=Charge(list(self.ranges), dict(amounts)))
        return [Draft("charge", scope.row.root, body)]

    def answer(self, chained: Chained, again: bool, scope: Met) -> Receipt:
        """The receipt; or which blocks have not enough left."""
        body = body_in(chained.entry.body)
        if body.refusal is not None and body.exhausted is not None:
            raise _exhausted(scope(self.scope), body, again)
        return receipt_of(chained, again)


def chargeable(scope: Scope, keeps: str) -> Scope:
    """A cohort of this kind that accepts charges."""
    if scope.cohort is None or scope.cohort["keeps"] != keeps:
        raise ScopeUnknown(f"{scope.name} is a {scope.kind} of the ledger that does not keep {keeps}")
    usable(scope)
    if scope.lost:
        raise ScopeFrozen(
            f"entries of {scope.name} were lost, so that nobody knows what its {keeps} have spent: create a new one",
            scope=scope.name,
        )
    return scope


def _refused(scope: Scope, line: str, amount: int, balance: Balance, found: Examined) -> Draft:
    worst = Refusal(line, amount, balance._replace(spent=found.spent))
    body = Body(effect=[], refusal=short(scope, worst), exhausted=Exhausted(found.short, found.first))
    return Draft("refuse", scope.row.root, body)


def _exhausted(scope: Scope, body: Body, again: bool) -> BlocksExhausted:
    assert scope.cohort is not None
    assert body.refusal is not None
    assert body.exhausted is not None
    names = [name for name, _ in scope.cohort["dimensions"]]
    blocks = [dict(zip(names, place, strict=True)) for place in body.exhausted.first]
    return BlocksExhausted(refusal_of(scope, body.refusal, again), blocks, body.exhausted.count)
