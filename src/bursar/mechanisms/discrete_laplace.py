"""The discrete Laplace (geometric) mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.guarantees import Claim, PureDP, Tightness
from bursar.losses import Directions, DiscreteLaplaceLoss, symmetric
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import noise, whole
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplace(Mechanism):
    """Integer noise with weights e^{−|y|/scale}. ``scale`` is that law's own parameter, ``sensitivity`` a whole number:
    ε = sensitivity/scale.
    """

    scale: Real
    sensitivity: int = 1
    relation: str = ADD_REMOVE
    name = "discrete_laplace"

    def __init__(self, scale: Number, *, sensitivity: int = 1, relation: str = ADD_REMOVE) -> None:
        self._set(
            scale=noise(scale=scale),
            sensitivity=whole(sensitivity=sensitivity, at_least=1),
            relation=relation_field(relation),
        )

    def claims(self) -> tuple[Claim, ...]:
        """(Δ/scale)-DP; with sensitivity 1 its loss is exactly randomized response's."""
        exactly = Tightness.EXACT if self.sensitivity == 1 else Tightness.TIGHT
        epsilon = self.scale.reciprocal().times(self.sensitivity)
        return Claim(PureDP(epsilon), "GRS09", exactly), renyi_of_losses(self, "GRS09")

    def losses(self) -> Directions:
        """A lattice of losses between −ε and ε."""
        return symmetric(DiscreteLaplaceLoss(1 / ball(self.scale), self.sensitivity))

    def enlarged(self, size: int) -> DiscreteLaplace:
        """The same law with ``size`` times the sensitivity."""
        return DiscreteLaplace(self.scale, sensitivity=self.sensitivity * size, relation=self.relation)
