"""Why basic composition is optimal at δ = 0: an explicit example.

k randomized responses that all tell the truth are seen with probability Π e^{εᵢ}/(1+e^{εᵢ}) > 0 under one database,
and e^{Σεᵢ} times less often under its neighbour. So no ε below Σεᵢ holds with δ = 0, however small that probability
is; allowing δ > 0 is what lets ε grow like √k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from bursar.errors import InputError
from bursar.guarantees._base import total
from bursar.numerics.balls import ball, working
from bursar.numerics.interval import Interval
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, noise, real
from bursar.presented import Bare, Presented


@dataclass(frozen=True, repr=False)
class WorstCase(Presented):
    """The transcript in which every response is true: its loss is Σεᵢ exactly."""

    epsilon: Real
    probability: Interval
    probability_elsewhere: Interval

    def _facts(self) -> list[tuple[str, object]]:
        chances = [("probability", self.probability), ("elsewhere", self.probability_elsewhere)]
        return [("epsilon", Bare(self.epsilon.text())), *chances]

    def __str__(self) -> str:
        return (
            f"all responses true: loss {self.epsilon.text()} exactly, seen with probability {self.probability:.4g} "
            f"with the record and {self.probability_elsewhere:.4g} without it"
        )

    def delta_needed(self, epsilon: Number) -> Interval:
        """How much δ this one transcript forces at an ε below Σεᵢ: P − e^ε·Q, at least 0."""
        x = real(epsilon=epsilon, at_least=0)
        with working():
            p = arb(self.probability.lower).union(arb(self.probability.upper))
            gap = p * -(ball(x) - ball(self.epsilon)).expm1()
            found = Interval.of(gap.max(arb(0)))
            return Interval(max(found.lower, 0.0), found.upper)


def worst_case(epsilons: Sequence[Number]) -> WorstCase:
    """The example for randomized responses with these ε's."""
    given = [noise(epsilons=epsilon) for epsilon in listed(epsilons=epsilons)]
    if not given:
        raise InputError("worst_case needs at least one epsilon", argument="epsilons")
    loss = total([(epsilon, 1) for epsilon in given])
    with working():
        log = arb(0)
        for epsilon in given:
            log -= (-ball(epsilon)).exp().log1p()
        return WorstCase(loss, Interval.of(log.exp()), Interval.of((log - ball(loss)).exp()))
