"""The loss of Gaussian noise in one of t steps, drawn at random: balls in bins, once an epoch.

With the record one step of t, drawn uniformly, is shifted; without it none is. The likelihood ratio is the mean of t
independent ones, R = (Y₁ + … + Y_t)/t with Y = e^{μX − μ²/2}, X normal without the record; the losses are ln R under P
(removed) and −ln R under Q (added). Every δ is the mean of a convex function of R, so two laws around R in convex order
bound it from both sides, in any composition (proofs/allocation.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import acb, arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses.allocation.sides import DEPTHS, Sides, sides
from bursar.losses.laws.allocated_moments import first_and_second, log_power
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.listed import ListedLoss
from bursar.losses.laws.slopes import cdf_by_slopes
from bursar.losses.places import Law
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, complex_ball, infinity, square

_SPARE = 12.0  # by how much, as a logarithm, what is lost should stay below δ


def allocated_gaussian(sigma: Ball, steps: int) -> Directions:
    """Both directions of Gaussian noise in one of so many steps, under the add/remove relation."""
    mu = 1 / sigma
    if steps == 1:
        return symmetric(GaussianLoss(mu))
    return Directions(AllocatedGaussian(mu, steps, True), AllocatedGaussian(mu, steps, False), True)


@dataclass(frozen=True)
class AllocatedGaussian(Loss):
    """ln R under P for a record removed, −ln R under Q for one added."""

    mu: Ball
    steps: int
    removed: bool
    tiers: tuple[float, ...] = DEPTHS
    """How deep the lists may be from which the profile is read: as deep as δ asks for."""

    @property
    def drawable(self) -> bool:
        """No: each point of its distribution function is a computation of its own."""
        return False

    def _sides(self, depth: float = DEPTHS[0]) -> Sides:
        return sides(self.mu, self.steps, depth)

    def _listed(self, depth: float) -> tuple[Law, Law]:
        """Both sides as lists."""
        both = self._sides(depth)
        return both.below.law(removed=self.removed, above=False), both.above.law(removed=self.removed, above=True)

    def _deep(self, depth: float) -> tuple[Law, Law]:
        """Both sides as lists that leave out little enough for a depth that an engine asks for."""
        return self._listed(_tier(depth))

    def suited(self, log_delta: float) -> AllocatedGaussian:
        """The same law, its profile read from lists that are deep enough for such a δ, and no deeper."""
        return replace(self, tiers=(_tier(3.5 * _SPARE - log_delta),))

    def bracket(self) -> tuple[ListedLoss, ListedLoss]:
        """The means of the labels, and the labels themselves: below and above in convex order."""
        return ListedLoss(lambda depth: self._deep(depth)[0]), ListedLoss(lambda depth: self._deep(depth)[1])

    def profile(self, epsilon: RealLike) -> Ball:
        """Between the two sides' profiles, as deep as δ asks for."""
        x = ball(epsilon)
        if x < 0:  # δ(ε) = 1 − e^ε + e^ε·δ'(−ε), δ' that of the other direction
            return 1 - x.exp() + x.exp() * replace(self, removed=not self.removed).profile(-x)
        for depth in self.tiers:
            below, above = map(ListedLoss.of, self._listed(depth))
            upper = above.profile(x).upper()
            if depth == self.tiers[-1] or above.lost() * arb(_SPARE).exp() <= upper:
                break
        return below.profile(x).lower().union(upper.min(arb(1)))

    def cdf(self, x: RealLike) -> Ball:
        """P(L ≤ x) by the slope of the profile."""
        deviation = (1 + (self.mu * self.mu).expm1() / self.steps).log().sqrt()
        return cdf_by_slopes(self.profile, ball(x), deviation)

    def support(self) -> tuple[Ball, Ball]:
        """The whole line."""
        return -infinity(), infinity()

    def mean(self) -> Ball:
        """E[L], from both sides."""
        return first_and_second(self._sides(), self.mu, removed=self.removed)[0]

    def variance(self) -> Ball:
        """E[L²] − E[L]², from both sides."""
        first, second = first_and_second(self._sides(), self.mu, removed=self.removed)
        return (second - square(first)).nonnegative_part()

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln E R^{1+t} or ln E R^{−t} for real t, from both sides; exact where the power is a whole number ≥ 0."""
        z = complex_ball(t)
        if not z.imag == 0:
            raise LossUnknown("moments of random allocation are known for real orders only")
        power = 1 + z.real if self.removed else -z.real
        return acb(log_power(self._sides, self.mu, self.steps, power))

    def rough_cumulant(self, t: float) -> float:
        """K of what is listed, in floats."""
        power = 1 + t if self.removed else -t
        try:
            side = self._sides().above
        except LossUnknown:  # no lists
            return float(self.mu) ** 2 * power * (power - 1) / 2
        heights = np.log(side.masses) + power * np.log(side.ratios)
        top = float(heights.max())
        return top + math.log(float(np.exp(heights - top).sum()))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Ratios drawn by their masses."""
        side = self._sides().below
        masses = side.masses * side.ratios if self.removed else side.masses
        losses: Array = np.log(rng.choice(side.ratios, size, p=masses / masses.sum()))
        return losses if self.removed else -losses

    def reverses(self, other: Loss) -> bool:
        """Whether the other is the other direction of the same μ and steps."""
        same = isinstance(other, AllocatedGaussian) and other.mu is self.mu and other.steps == self.steps
        return same and isinstance(other, AllocatedGaussian) and other.removed is not self.removed


def _tier(depth: float) -> float:
    """The least depth of the lists that will do; more than the deepest is left to what they leave out."""
    return next((tier for tier in DEPTHS if tier >= depth - _SPARE), DEPTHS[-1])
