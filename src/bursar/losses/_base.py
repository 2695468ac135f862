"""The privacy loss as a random variable.

For a pair of output distributions (P, Q) the loss is L(y) = ln(P(y)/Q(y)) with y drawn from P, and L = +∞ where Q has
no mass. Everything that (ε, δ)-statements can say about the pair is in the law of L: δ(ε) = E[(1 − e^{ε−L})₊] = P(L >
ε) − e^ε Q(L > ε).

Methods take numbers or balls and return balls, which enclose the exact value whatever the working precision is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from bursar.errors import LossUnknown
from bursar.numerics.balls import Ball, ComplexBall, ball, hull, infinity

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


class Atom(NamedTuple):
    """A loss that occurs with positive probability."""

    loss: Ball
    mass: Ball


class Loss(ABC):
    """The law of the privacy loss of one ordered pair."""

    @abstractmethod
    def profile(self, epsilon: object) -> Ball:
        """δ(ε) = E[(1 − e^{ε−L})₊] for every real ε."""

    @abstractmethod
    def cdf(self, x: object) -> Ball:
        """P(L ≤ x); the mass at infinity is never counted."""

    @abstractmethod
    def support(self) -> tuple[Ball, Ball]:
        """The smallest and the largest finite loss (essential infimum and supremum)."""

    @abstractmethod
    def mean(self) -> Ball:
        """E[L], the Kullback–Leibler divergence; infinite with mass at infinity."""

    @abstractmethod
    def variance(self) -> Ball:
        """Var[L]; infinite with mass at infinity."""

    @abstractmethod
    def cumulant(self, t: object) -> ComplexBall:
        """K(t) = ln E[e^{tL}; L < ∞] for complex t; (α − 1)·D_α = K(α − 1)."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Losses drawn at random, in floats: for pictures and simulations, never for bounds."""

    def infinite_mass(self) -> Ball:
        """P(L = ∞)."""
        return arb(0)

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E[f(L); L < ∞] for f(x, analytic) analytic near the support; refused where the support is unbounded."""
        raise LossUnknown(
            f"{type(self).__name__} has no rigorous expectation of arbitrary functions: its support is unbounded"
        )

    def atoms(self) -> tuple[Atom, ...]:
        """The finite losses with positive probability, where there are finitely many."""
        return ()

    def below(self, x: object) -> Ball:
        """P(L < x)."""
        point = ball(x)
        result = self.cdf(point)
        for atom in self.atoms():
            if atom.loss == point:
                result -= atom.mass
            elif atom.loss.overlaps(point):
                result -= hull(arb(0), atom.mass)
        return result

    def tail(self, x: object) -> Ball:
        """P(L > x), the mass at infinity included."""
        return 1 - self.cdf(x)

    def rough_cumulant(self, t: float) -> float:
        """K(t) for real t in floats, for searching."""
        return float(self.cumulant(t).real)

    def rough_renyi(self, alpha: float) -> float:
        """D_α in floats, for searching."""
        return self.rough_cumulant(alpha - 1) / (alpha - 1)

    def renyi(self, alpha: object) -> Ball:
        """D_α(P‖Q) for α > 1; infinite with mass at infinity."""
        if not self.infinite_mass() <= 0:
            return infinity()
        order = ball(alpha)
        return self.cumulant(order - 1).real / (order - 1)


@dataclass(frozen=True)
class Directions:
    """Both ordered pairs of a neighbour relation: a record removed (P has it, Q does not), and added.

    ``attained`` says that the mechanism itself produces this pair (or that it is the worst case of what was
    declared), so that the pair bounds its cost from below too; otherwise it only dominates.
    """

    remove: Loss
    add: Loss
    attained: bool

    @property
    def same(self) -> bool:
        """Whether both directions are known to have one law."""
        return self.remove is self.add

    def profile(self, epsilon: object) -> Ball:
        """The worse direction's δ(ε)."""
        if self.remove is self.add:
            return self.remove.profile(epsilon)
        return self.remove.profile(epsilon).max(self.add.profile(epsilon))

    def renyi(self, alpha: object) -> Ball:
        """The worse direction's D_α."""
        if self.remove is self.add:
            return self.remove.renyi(alpha)
        return self.remove.renyi(alpha).max(self.add.renyi(alpha))

    def rough_renyi(self, alpha: float) -> float:
        """The same in floats, for searching."""
        if self.remove is self.add:
            return self.remove.rough_renyi(alpha)
        return max(self.remove.rough_renyi(alpha), self.add.rough_renyi(alpha))

    def infinite_mass(self) -> Ball:
        """The worse direction's P(L = ∞)."""
        return self.remove.infinite_mass().max(self.add.infinite_mass())

    def largest_loss(self) -> Ball:
        """The worse direction's largest finite loss."""
        return self.remove.support()[1].max(self.add.support()[1])


def symmetric(loss: Loss, *, attained: bool = True) -> Directions:
    """Both directions have the same law."""
    return Directions(loss, loss, attained)
