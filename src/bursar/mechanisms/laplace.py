"""The Laplace mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bursar.guarantees import Claim, PureDP, Tightness
from bursar.losses import Directions, LaplaceLoss, symmetric
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import noise
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Mechanism):
    """Laplace noise. ``scale`` is the noise divided by the ℓ₁ sensitivity under the stated relation: ε = 1/scale."""

    scale: Real
    relation: str = ADD_REMOVE
    name = "laplace"

    def __init__(self, scale: Number, *, relation: str = ADD_REMOVE) -> None:
        self._set(scale=noise(scale=scale), relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """(1/scale)-DP, and its own Rényi curve."""
        return (
            Claim(PureDP(self.scale.reciprocal()), "DMNS06", Tightness.TIGHT),
            renyi_of_losses(self, "Mir17"),
        )

    def losses(self) -> Directions:
        """The single-coordinate pair, which is the worst one for vector queries too."""
        return symmetric(LaplaceLoss(1 / ball(self.scale)))

    def enlarged(self, size: int) -> Laplace:
        """scale/size."""
        larger: Laplace = object.__new__(Laplace)  # a group may bring it below what may be written
        larger._set(scale=self.scale.times(Fraction(1, size)), relation=self.relation)
        return larger
