"""A loss whose places are listed in floats, each with bounds of its error: how slow laws are bracketed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import acb, arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses.places import Law
from bursar.numerics.arrays import Array, Truths
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, complex_ball, down, infinity, up
from bursar.numerics.trusted import SAFETY, ULPS, UNIT


@dataclass(frozen=True, eq=False)
class ListedLoss(Loss):
    """All places but for a little mass, which may lie anywhere; a deeper list leaves out less."""

    made: Callable[[float], Law]
    depth: float = 0.0

    @classmethod
    def of(cls, law: Law) -> ListedLoss:
        """The law of one list."""
        return cls(lambda _: law)

    @property
    def law(self) -> Law:
        """The list that this law reads itself."""
        return self.made(self.depth)

    def lost(self) -> Ball:
        """How much mass the list may leave out."""
        return arb(self.law.log_lost).exp()

    def profile(self, epsilon: RealLike) -> Ball:
        """Σ mass·(1 − e^{ε−l})₊; what is lost may count in full."""
        x = ball(epsilon)
        found = self.law.tails.profile(down(x), up(x))
        return (found.union(found + self.lost())).nonnegative_part()

    def cdf(self, x: RealLike) -> Ball:
        """The mass of the places that are certainly at most x, up to what is unsure."""
        point = ball(x)
        low, high = down(point), up(point)
        surely = self.law.losses + self.law.loss_errors <= low
        maybe = self.law.losses - self.law.loss_errors <= high
        return self._mass(surely).union(self._mass(maybe) + self.lost())

    def _mass(self, chosen: Truths) -> Ball:
        """Of these places, rounding included."""
        masses = np.exp(self.law.log_masses[chosen])
        share = np.expm1(self.law.mass_errors[chosen]) + UNIT * (2 * ULPS + len(masses) + 8)
        return arb(float(np.sum(masses)), SAFETY * float(np.sum(masses * share)) + 1e-300)

    def support(self) -> tuple[Ball, Ball]:
        """The whole line: what is lost may lie anywhere."""
        return -infinity(), infinity()

    def mean(self) -> Ball:
        """Unknown: what is lost may lie anywhere."""
        raise LossUnknown("the mean of a listed law depends on what its list leaves out")

    def variance(self) -> Ball:
        """Unknown: what is lost may lie anywhere."""
        raise LossUnknown("the variance of a listed law depends on what its list leaves out")

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """Unknown, but for t = 0."""
        if complex_ball(t) == 0:
            return acb(0)
        raise LossUnknown("moments of a listed law depend on what its list leaves out")

    def rough_cumulant(self, t: float) -> float:
        """K of what is listed, in floats."""
        heights = self.law.log_masses + t * self.law.losses
        top = float(heights.max())
        return top + math.log(float(np.exp(heights - top).sum()))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Places drawn by their masses."""
        masses = np.exp(self.law.log_masses)
        found: Array = rng.choice(self.law.losses, size, p=masses / masses.sum())
        return found

    def lattice_law(self, depth: float) -> Law:
        """The list that is deep enough."""
        return self.made(depth)
