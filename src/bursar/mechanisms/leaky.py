"""Mechanisms that may reveal everything: leaky randomized response and name-and-shame."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from bursar.guarantees import ApproxDP, Claim, Tightness
from bursar.losses import Directions, Leaks, leaky_response, symmetric
from bursar.losses.laws.table import TableLoss
from bursar.losses.laws.table_rows import Row
from bursar.mechanisms._base import Mechanism
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import probability, real
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class LeakyRandomizedResponse(Mechanism):
    """Randomized response that with probability δ says everything: the worst case of every (ε, δ)-DP mechanism
    (simulation lemma).
    """

    epsilon: Real
    delta: Real
    relation: str = ADD_REMOVE
    name = "leaky_randomized_response"

    def __init__(self, epsilon: Number, delta: Number, *, relation: str = ADD_REMOVE) -> None:
        self._set(
            epsilon=real(epsilon=epsilon, at_least=0),
            delta=probability(delta=delta),
            relation=relation_field(relation),
        )

    def claims(self) -> tuple[Claim, ...]:
        """Exactly (ε, δ)-DP."""
        return (Claim(ApproxDP(self.epsilon, self.delta), "MV18", Tightness.EXACT),)

    def losses(self) -> Directions:
        """±ε as randomized response, +∞ with probability δ."""
        return symmetric(leaky_response(ball(self.epsilon), ball(self.delta)))

    def leaks(self) -> Leaks:
        """With probability δ it says everything, the record itself too."""
        leak = ball(self.delta)
        return Leaks(leak, leak, leak)


@dataclass(frozen=True, init=False, repr=False)
class NameAndShame(Mechanism):
    """Publishes a person's record with probability δ, else nothing: the reason why δ must be far below 1/n."""

    delta: Real
    relation: str = ADD_REMOVE
    name = "name_and_shame"

    def __init__(self, delta: Number, *, relation: str = ADD_REMOVE) -> None:
        self._set(delta=probability(delta=delta), relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """Exactly (0, δ)-DP."""
        return (Claim(ApproxDP(0, self.delta), "DR14", Tightness.EXACT),)

    def losses(self) -> Directions:
        """+∞ with probability δ, else 0."""
        leak = ball(self.delta)
        rows = [Row(1 - leak, 1 - leak, arb(0))] if not leak >= 1 else []
        if not leak <= 0:
            rows += [Row(leak, arb(0), None), Row(arb(0), leak, None)]
        return symmetric(TableLoss(tuple(rows)))

    def leaks(self) -> Leaks:
        """With probability δ the record itself is published."""
        leak = ball(self.delta)
        return Leaks(leak, leak, leak)
