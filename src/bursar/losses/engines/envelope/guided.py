"""Losses with certified moments of their own, which the envelope engine searches by their places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.contour.factors import Factor, Moments, NoContour
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.places import Law
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball

_MOST_PAIRS = 3e7  # of a node and a frequency
_DEEP = 20.0  # as `gathering` asks for


class GuidedFactor(PointsFactor):
    """Copies of a loss with certified moments of its own, searched by its places."""

    def __init__(self, law: Law, own: Factor) -> None:
        super().__init__(law, own.count, arb(0))
        self.own = own

    @property
    def given_up(self) -> Ball:  # type: ignore[override]  # a value of the class elsewhere
        """What the loss's own way gives up."""
        return self.own.given_up

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K of all copies, by the loss's own way."""
        return self.own.cumulants(tilts)

    def live(self, tau: float, step: float, count: int) -> int:
        """All of them: places say nothing about moments that are taken another way."""
        return count

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """The moments of all copies, by the loss's own way; refused where its places have them for far less."""
        if self.own.pairs(tau, frequencies) > _MOST_PAIRS:
            raise ArithmeticError("so many moments are quicker by places")
        return self.own.moments(tau, frequencies)


def guided(loss: Loss, count: int, depth: float) -> GuidedFactor | None:
    """The loss's contour factor for a δ to which this depth belongs, searched by the loss's places; None where it has
    only one of the two.
    """
    law = loss.lattice_law(depth)
    try:
        own = loss.contour_factor(count, _DEEP + math.log(count) - depth)
    except (NoContour, ArithmeticError, ValueError):
        return None
    return None if law is None or own is None else GuidedFactor(law, own)
