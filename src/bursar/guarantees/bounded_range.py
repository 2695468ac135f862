"""Bounded range: the privacy loss of every pair of neighbours fits into some interval of length η."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from bursar.errors import ConversionRefused
from bursar.guarantees._base import Counted, Guarantee, largest
from bursar.guarantees.pure import PureDP, shrunk
from bursar.numerics.balls import Ball, ball, maximum, positive_part, square
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import MAX_PROMISE, real


@dataclass(frozen=True, init=False, repr=False)
class BoundedRange(Guarantee):
    """η-bounded range, the promise of the exponential mechanism: stronger than η-DP, implied by (η/2)-DP."""

    eta: Real
    name = "bounded_range"

    def __init__(self, eta: Number) -> None:
        self._set(eta=real(eta=eta, at_least=0, largest=MAX_PROMISE))

    def delta_at(self, epsilon: Ball) -> Ball:
        """(1 − e^{(x−η)/2})²/(1 − e^{−η}) on [−η, η]: the worst over where the interval lies, tight for one release."""
        eta = ball(self.eta)
        if not eta > 0:
            return PureDP(self.eta).delta_at(epsilon)
        if epsilon >= eta:
            return arb(0)
        if epsilon <= -eta:
            return 1 - epsilon.exp()
        inside = square(((epsilon - eta) / 2).expm1()) / -(-eta).expm1()
        return positive_part(maximum(inside, 1 - epsilon.exp()))

    def epsilon_at(self, delta: Ball) -> Ball:
        """η + 2·ln(1 − √(δ(1 − e^{−η})))."""
        eta = ball(self.eta)
        if delta <= 0:
            return eta
        room = 1 - (positive_part(delta) * -(-eta).expm1()).sqrt()
        return shrunk(eta, room * room) if room > 0 else shrunk(eta, room)

    def concentrated(self) -> Ball:
        """The ρ ≤ η²/8 of its zero-concentrated privacy (Cesar and Rogers)."""
        return square(ball(self.eta)) / 8

    @classmethod
    def compose(cls, promises: Counted) -> BoundedRange:
        """Refused: where a later interval lies may depend on earlier answers, so the lengths need not add up."""
        raise ConversionRefused("bounded range does not add up when queries are chosen adaptively; convert it first")

    @classmethod
    def worst(cls, promises: Sequence[BoundedRange]) -> BoundedRange:
        """The longest interval."""
        return cls(largest([promise.eta for promise in promises]))

    def group(self, size: int) -> BoundedRange:
        """Each step of a chain of neighbours adds at most one interval."""
        return BoundedRange(self.eta.times(size))
