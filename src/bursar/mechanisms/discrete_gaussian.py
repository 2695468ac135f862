"""The discrete Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.guarantees import ZCDP, Claim, Tightness
from bursar.losses import Directions, DiscreteGaussianLoss, symmetric
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import noise, whole
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(Mechanism):
    """Integer noise with weights e^{−y²/(2σ²)}. ``sigma`` is that law's own parameter, ``sensitivity`` a whole number.

    For a vector query compose one mechanism per coordinate: the loss of the whole is not that of its ℓ₂ sensitivity.
    """

    sigma: Real
    sensitivity: int = 1
    relation: str = ADD_REMOVE
    name = "discrete_gaussian"

    def __init__(self, sigma: Number, *, sensitivity: int = 1, relation: str = ADD_REMOVE) -> None:
        self._set(
            sigma=noise(sigma=sigma),
            sensitivity=whole(sensitivity=sensitivity, at_least=1),
            relation=relation_field(relation),
        )

    def claims(self) -> tuple[Claim, ...]:
        """Δ²/(2σ²)-zCDP, and its own Rényi curve, which is a little lower between the integers."""
        mu = self.sigma.reciprocal().times(self.sensitivity)
        return Claim(ZCDP(mu.half_square()), "CKS20", Tightness.TIGHT), renyi_of_losses(self, "CKS20")

    def losses(self) -> Directions:
        """A lattice of losses; thresholds are the best events, so the largest shift is the worst pair."""
        sigma = ball(self.sigma)
        return symmetric(DiscreteGaussianLoss(sigma * sigma, self.sensitivity))

    def enlarged(self, size: int) -> DiscreteGaussian:
        """The same law with ``size`` times the sensitivity."""
        return DiscreteGaussian(self.sigma, sensitivity=self.sensitivity * size, relation=self.relation)
