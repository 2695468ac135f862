"""Several independent copies of a loss as one law: what a single mechanism may hide inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.lattice.bracket import around
from bursar.losses.engines.lattice.grid import NoLattice
from bursar.losses.engines.lattice.solve import MOST_POINTS, Profile
from bursar.losses.laws.slopes import cdf_by_slopes
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball

_WIDTH = 1e-4


def repeated(once: Directions, count: int) -> Directions:
    """Both directions of so many independent copies, which are only known to dominate."""
    if once.same:
        loss = RepeatedLoss(once.remove, once.remove, count)
        return Directions(loss, loss, False)
    return Directions(RepeatedLoss(once.remove, once.add, count), RepeatedLoss(once.add, once.remove, count), False)


@dataclass(frozen=True)
class RepeatedLoss(Loss):
    """The sum of ``count`` independent losses; ``other`` is the law of one in the other direction."""

    loss: Loss
    other: Loss
    count: int

    def copies(self) -> tuple[Loss, int]:
        """One of them, and how many there are."""
        return self.loss, self.count

    def profile(self, epsilon: RealLike) -> Ball:
        """By the lattice engine; below 0 by the other direction's."""
        x = ball(epsilon)
        if x < 0:
            return 1 - x.exp() + x.exp() * self._reversed.profile(-x)
        near = float(x)
        try:
            found = [(profile.again(near) if x == near else None) or profile.at(x) for profile in self._profiles]
        except NoLattice as limit:
            raise LossUnknown(f"{self.count} copies of a loss have no profile at {near}: {limit}") from limit
        return ball(min(found[0].lower, found[-1].upper)).union(ball(found[-1].upper))

    @cached_property
    def _profiles(self) -> list[Profile]:
        """The lattices that were asked last, one for each side where the law has two: they may serve again."""
        once: Losses = [(self.loss, self.count)]
        return [Profile(losses, _WIDTH, MOST_POINTS) for losses in around(once) or (once,)]

    @cached_property
    def _reversed(self) -> RepeatedLoss:
        return RepeatedLoss(self.other, self.loss, self.count)

    def cdf(self, x: RealLike) -> Ball:
        """P(L ≤ x) by the slope of the profile."""
        return cdf_by_slopes(self.profile, ball(x), self.variance().upper().sqrt())

    def support(self) -> tuple[Ball, Ball]:
        """The range of one, as many times as wide."""
        low, high = self.loss.support()
        return self.count * low, self.count * high

    def mean(self) -> Ball:
        """The sum of the means."""
        return self.count * self.loss.mean()

    def variance(self) -> Ball:
        """The sum of the variances."""
        return self.count * self.loss.variance()

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """The sum of the cumulants."""
        return self.count * self.loss.cumulant(t)

    def rough_cumulant(self, t: float) -> float:
        """The sum of the cumulants, in floats."""
        return self.count * self.loss.rough_cumulant(t)

    def infinite_mass(self) -> Ball:
        """The chance that one of them is infinite."""
        return 1 - (1 - self.loss.infinite_mass()) ** self.count

    def reverses(self, other: Loss) -> bool:
        """Whether the other has as many of the very losses that are this one's in the other direction."""
        return isinstance(other, RepeatedLoss) and other.count == self.count and self.loss.reverses(other.loss)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """The sum of as many draws."""
        found: Array = np.sum([self.loss.sample(rng, size) for _ in range(self.count)], axis=0)
        return found
