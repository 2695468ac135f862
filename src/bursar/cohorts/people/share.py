"""The one question about a filter's own state: how many people could still bear a release, and how many not.

The state is as private as the data, so that this is a query like any other: two counts with noise, of which one person
moves one by 1, so that discrete Gaussian noise of σ costs ρ = 1/(2σ²). Those whom it tells most about have nothing left
to pay with. So everybody pays, from a part of the budget that was set aside when the filter was created, which no
admission can touch: `proofs/exhausted.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from bursar.cohorts.blocks.charge import chargeable
from bursar.cohorts.people.charges import Participation, limit_of, positive, units_of
from bursar.cohorts.people.commit import LostRace
from bursar.cohorts.people.noise import discrete_gaussian
from bursar.cohorts.people.units import NANO
from bursar.errors import BudgetExceeded, InputError, ScopeUnknown
from bursar.ledger.budget.amounts import exact, shown, written
from bursar.ledger.budget.currencies import Refusal
from bursar.ledger.budget.currencies._moves import drawn
from bursar.ledger.budget.refusals import refusal_of, short
from bursar.ledger.commit.posting import Posting
from bursar.ledger.commit.request import Met, Verb
from bursar.ledger.journal.body import Body, Counts, Draft, body_in, effects_of
from bursar.ledger.journal.entry import Chained


class Share(NamedTuple):
    """Two noisy counts of the people who were ever charged; negative ones are noise."""

    exhausted: int
    """Who could not bear the release."""
    others: int
    sigma: Fraction
    """The noise of each."""

    @property
    def share(self) -> float | None:
        """What part is exhausted, between 0 and 1; None where there is more noise than people."""
        total = self.exhausted + self.others
        return None if total <= 0 else min(1.0, max(0.0, self.exhausted / total))

    def __str__(self) -> str:
        about = "nobody can tell" if self.share is None else f"about {self.share:.1%} of them"
        spread = shown(self.sigma, up=True, digits=3)
        return f"{about}: {self.exhausted} exhausted, {self.others} not, each with noise of {spread}"


class Question(NamedTuple):
    """What is asked: a release that people may bear or not, and the noise of the answer."""

    query: Participation
    sigma: Fraction

    @property
    def cost(self) -> int:
        """What it costs everybody, in units."""
        return units_of(1 / (2 * self.sigma * self.sigma), "sigma")

    def fields(self) -> dict[str, Any]:
        """The question as the journal has it."""
        return {**self.query.fields(), "sigma": written(self.sigma)}

    def answered(self, exhausted: int, everybody: int) -> Counts:
        """Both counts with fresh noise; nothing else of them is kept."""
        noise = [discrete_gaussian(self.sigma * self.sigma) for _ in range(2)]
        return Counts(exhausted + noise[0], everybody - exhausted + noise[1], self.cost)


def question(query: Participation, sigma: Any) -> Question:
    """A question as people give it."""
    found = positive(sigma, "sigma")
    if found < Fraction(1, 1000):
        raise InputError(f"sigma must be at least 1/1000, not {sigma}: that would be no noise", argument="sigma")
    return Question(query, found)


class AskShare(Verb[Share], frozen=True):
    """A question, the entry after which its answer was computed, and the answer."""

    name: ClassVar[str] = "share"
    scope: str
    asked: Question
    after: int
    counts: Counts | None

    @property
    def about(self) -> Sequence[str]:
        """The root of the people."""
        return (self.scope,)

    def fields(self) -> dict[str, Any]:
        """The question; its answer is no part of the request."""
        return {"scope": self.scope, **self.asked.fields()}

    def decide(self, posting: Posting, actor: str) -> Sequence[Draft]:
        """Charge what is set aside, in the entry that holds the answer; a refusal is written down too."""
        scope = chargeable(posting.scope(self.scope), "people")
        head = posting.rows.head(scope.row.root)
        before = posting.lines(scope)
        balance = before["rho"]
        cost = scope.currency.lines["rho"].price(Fraction(self.asked.cost, NANO))
        if cost > balance.held:
            rest = balance._replace(spent=balance.limit - balance.held, held=0)
            return [Draft("refuse", scope.row.root, Body(effect=[], refusal=short(scope, Refusal("rho", cost, rest))))]
        if self.counts is None or head is None or head.seq != self.after:
            raise LostRace(f"{self.scope} was charged by somebody else meanwhile")
        after = {**before, "rho": drawn(balance, cost)}
        return [Draft("share", scope.row.root, Body(effect=effects_of(scope.name, before, after), counts=self.counts))]

    def answer(self, chained: Chained, again: bool, scope: Met) -> Share:
        """The noisy counts that were computed first; or that too little is set aside."""
        body = body_in(chained.entry.body)
        if body.refusal is not None:
            told = refusal_of(scope(self.scope), body.refusal, again)
            names = ("asked", "spent", "held", "limit", "left")
            raise BudgetExceeded(
                str(told).replace(": ", ", of what is set aside for questions about the filter: ", 1),
                scope=self.scope,
                line=told.line,
                numbers={name: getattr(told, name) for name in names},
                replayed=again,
            )
        if body.counts is None:
            raise ScopeUnknown(f"entry {chained.entry.seq} of {chained.entry.root} counts nobody")
        return Share(body.counts.exhausted, body.counts.others, self.asked.sigma)


def set_aside(reserve: Any, rho: Any) -> str:
    """What is set aside of a budget: a part of it, and not all."""
    part = exact(reserve, "reserve")
    if not 0 < part < exact(rho, "rho") or limit_of(rho) - units_of(part, "reserve") < 1:
        raise InputError(f"reserve must lie between 0 and rho, {rho}, not {reserve}", argument="reserve")
    return written(part)
