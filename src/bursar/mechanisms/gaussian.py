"""The Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bursar.guarantees import GDP, ZCDP, Claim, Tightness
from bursar.losses import Directions, GaussianLoss, symmetric
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms._drawn import Drawn
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import noise
from bursar.relations import ADD_REMOVE, REPLACE_ONE, relation_field

_ALWAYS = Real(1)


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Mechanism):
    """Normal noise. ``sigma`` is the noise divided by the ℓ₂ sensitivity under the stated relation, always: μ = 1/sigma
    in every relation.
    """

    sigma: Real
    relation: str = ADD_REMOVE
    name = "gaussian"

    def __init__(self, sigma: Number, *, relation: str = ADD_REMOVE) -> None:
        self._set(sigma=noise(sigma=sigma), relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """Exactly (1/σ)-GDP, which is 1/(2σ²)-zCDP."""
        mu = self.sigma.reciprocal()
        return (
            Claim(GDP(mu), "DRS22", Tightness.EXACT),
            Claim(ZCDP(mu.half_square()), "BS16", Tightness.TIGHT),
        )

    def losses(self) -> Directions:
        """N(μ²/2, μ²) in both directions; in any dimension only μ matters."""
        return symmetric(GaussianLoss(1 / ball(self.sigma)))

    def drawn(self) -> Drawn | None:
        """One record, which always takes part; a subclass may release more than its noise says."""
        plain = type(self) is Gaussian and self.relation != REPLACE_ONE
        return Drawn(self.sigma, _ALWAYS, 1) if plain else None

    def enlarged(self, size: int) -> Gaussian:
        """σ/size."""
        larger: Gaussian = object.__new__(Gaussian)  # a group may bring it below what may be written
        larger._set(sigma=self.sigma.times(Fraction(1, size)), relation=self.relation)
        return larger
