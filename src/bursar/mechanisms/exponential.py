"""The exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bursar.guarantees import ZCDP, BoundedRange, Claim, RenyiCurve, Tightness
from bursar.guarantees._base import rounded_up
from bursar.losses import BoundedRangeLoss, Directions, symmetric
from bursar.mechanisms._base import Mechanism
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import choice, noise
from bursar.relations import ADD_REMOVE, relation_field

UTILITIES = ("general", "monotone")


@dataclass(frozen=True, init=False, repr=False)
class Exponential(Mechanism):
    """Chooses y with weight exp(ε·u(y)/(2Δ)): ε-DP, and more, ε-bounded range.

    ``utility="monotone"`` says that one record moves all utilities in the same direction; the range is then ε/2.
    Report-noisy-max and permute-and-flip are not bounded range: declare them as PureDP.
    """

    epsilon: Real
    utility: str = "general"
    relation: str = ADD_REMOVE
    name = "exponential"

    def __init__(self, epsilon: Number, *, utility: str = "general", relation: str = ADD_REMOVE) -> None:
        self._set(
            epsilon=noise(epsilon=epsilon),
            utility=choice(utility=utility, among=UTILITIES),
            relation=relation_field(relation),
        )

    @property
    def eta(self) -> Real:
        """The length of the loss's range."""
        return self.epsilon.times(Fraction(1, 2)) if self.utility == "monotone" else self.epsilon

    def claims(self) -> tuple[Claim, ...]:
        """Bounded range; zCDP with η²/8; and the Rényi curve of the dominating pair, which is lower at high orders."""
        eta = self.eta
        return (
            Claim(BoundedRange(eta), "DDR20", Tightness.TIGHT),
            Claim(ZCDP(rounded_up(BoundedRange(eta).concentrated())), "CR21"),
            Claim(RenyiCurve(self.text(), BoundedRangeLoss(ball(eta)).renyi), "DDR20"),
        )

    def losses(self) -> Directions:
        """A pair that dominates every mechanism of this range. Each point of its profile is attained, with two
        candidates, but not all points by the same utilities.
        """
        return symmetric(BoundedRangeLoss(ball(self.eta)), attained=False, pointwise=True)
