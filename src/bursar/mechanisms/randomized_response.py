"""Randomized response, binary and over k categories."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from bursar.guarantees import Claim, PureDP, Tightness
from bursar.losses import Directions, leaky_response, symmetric
from bursar.losses.laws.stepped_table import SteppedTable
from bursar.losses.laws.table_rows import Row
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import noise, whole
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class RandomizedResponse(Mechanism):
    """One bit, told truthfully with odds e^ε. The worst case of every ε-DP mechanism."""

    epsilon: Real
    relation: str = ADD_REMOVE
    name = "randomized_response"

    def __init__(self, epsilon: Number, *, relation: str = ADD_REMOVE) -> None:
        self._set(epsilon=noise(epsilon=epsilon), relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """Exactly ε-DP."""
        return (Claim(PureDP(self.epsilon), "War65", Tightness.EXACT),)

    def losses(self) -> Directions:
        """+ε with probability e^ε/(1 + e^ε), else −ε."""
        return symmetric(leaky_response(ball(self.epsilon), arb(0)))


@dataclass(frozen=True, init=False, repr=False)
class KaryRandomizedResponse(Mechanism):
    """One of k categories, told truthfully with odds e^ε against each other category."""

    epsilon: Real
    categories: int
    relation: str = ADD_REMOVE
    name = "kary_randomized_response"

    def __init__(self, epsilon: Number, categories: int, *, relation: str = ADD_REMOVE) -> None:
        self._set(
            epsilon=noise(epsilon=epsilon),
            categories=whole(categories=categories, at_least=2),
            relation=relation_field(relation),
        )

    def claims(self) -> tuple[Claim, ...]:
        """ε-DP (exactly for two categories), and its own Rényi curve."""
        exactly = Tightness.EXACT if self.categories == 2 else Tightness.TIGHT
        return Claim(PureDP(self.epsilon), "KOV16", exactly), renyi_of_losses(self, "KOV16")

    def losses(self) -> Directions:
        """+ε with probability e^ε/Z, −ε with 1/Z, 0 with (k − 2)/Z, Z = e^ε + k − 1."""
        epsilon = ball(self.epsilon)
        odds = (-epsilon).exp()  # which stays in reach where e^ε does not
        norm = 1 + (self.categories - 1) * odds
        truth, lie, rest = 1 / norm, odds / norm, (self.categories - 2) * odds / norm
        rows = [Row(truth, lie, epsilon), Row(lie, truth, -epsilon)]
        if self.categories > 2:
            rows.append(Row(rest, rest, arb(0)))
        return symmetric(SteppedTable(tuple(rows), epsilon))
