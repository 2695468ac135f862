"""A black box with a promise."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from bursar.errors import InputError, LossUnknown, described
from bursar.guarantees import GDP, ZCDP, ApproxDP, BoundedRange, Claim, Guarantee, Profile, PureDP, Tightness
from bursar.losses import BoundedRangeLoss, Directions, GaussianLoss, Leaks, connect_the_dots, leaky_response, symmetric
from bursar.mechanisms._base import Mechanism
from bursar.numerics.balls import ball
from bursar.relations import ADD_REMOVE, relation_field


@dataclass(frozen=True, init=False, repr=False)
class Declared(Mechanism):
    """A mechanism of which only a promise is known: bounds speak of the worst one that keeps the promise."""

    guarantee: Guarantee
    relation: str = ADD_REMOVE
    name = "declared"

    def __init__(self, guarantee: Guarantee, *, relation: str = ADD_REMOVE) -> None:
        if not isinstance(guarantee, Guarantee):
            raise InputError(
                f"declared needs a promise such as PureDP(epsilon=0.1), not {described(guarantee)}",
                argument="guarantee",
            )
        self._set(guarantee=guarantee, relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """The promise itself."""
        return (Claim(self.guarantee, "declared", Tightness.EXACT),)

    def losses(self) -> Directions:
        """The worst pair that the promise allows, where there is one."""
        promise = self.guarantee
        if isinstance(promise, PureDP):
            return symmetric(leaky_response(ball(promise.epsilon), arb(0)))
        if isinstance(promise, ApproxDP):
            return symmetric(leaky_response(ball(promise.epsilon), ball(promise.delta)))
        if isinstance(promise, GDP):
            return symmetric(GaussianLoss(ball(promise.mu)))
        if isinstance(promise, BoundedRange):
            return symmetric(BoundedRangeLoss(ball(promise.eta)), attained=False, pointwise=True)
        if isinstance(promise, Profile):
            return symmetric(connect_the_dots(promise.corners()))
        raise LossUnknown(
            f"{promise.text()} bounds divergences, and no single pair of distributions is their worst case"
        )

    def leaks(self) -> Leaks:
        """What the promise sets aside may be the record itself, published; at the end of a profile too."""
        promise = self.guarantee
        leak = ball(promise.delta) if isinstance(promise, (ApproxDP, ZCDP)) else super().leaks().removed
        return Leaks(leak, leak, leak)
