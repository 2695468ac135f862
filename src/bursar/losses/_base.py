"""The privacy loss as a random variable.

For a pair of output distributions (P, Q) the loss is L(y) = ln(P(y)/Q(y)) with y drawn from P, and L = +∞ where Q has
no mass. Everything that (ε, δ)-statements can say about the pair is in the law of L:

    δ(ε) = E[(1 − e^{ε−L})₊] = P(L > ε) − e^ε Q(L > ε).

Methods take numbers or balls and return balls, which enclose the exact value whatever the working precision is.

A law is one file in `losses/laws/`. What the engines, the residue filter and the mechanisms want to know beyond the
mathematics are the questions at the end of `Loss`. Each has an answer for laws that do not know: it costs time or
width, never soundness.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from bursar.errors import LossUnknown
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, hull, infinity

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from bursar.losses.engines.chernoff import CumulantBound
    from bursar.losses.engines.contour.factors import Factor
    from bursar.losses.engines.lattice.law import Law
    from bursar.losses.laws.table import TableLoss


class Atom(NamedTuple):
    """A loss that occurs with positive probability."""

    loss: Ball
    mass: Ball


class Loss(ABC):
    """The law of the privacy loss of one ordered pair."""

    @abstractmethod
    def profile(self, epsilon: RealLike) -> Ball:
        """δ(ε) = E[(1 − e^{ε−L})₊] for every real ε."""

    @abstractmethod
    def cdf(self, x: RealLike) -> Ball:
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
    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """K(t) = ln E[e^{tL}; L < ∞] for complex t; (α − 1)·D_α = K(α − 1)."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int) -> Array:
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

    def top(self, spare: Ball | None = None) -> Atom | None:
        """The largest finite loss, or several that balls cannot tell from it, and how likely they are together; with
        ``spare`` the largest after those whose mass together is at most that. None where it has no mass of its own.
        """
        atoms = sorted(self.atoms(), key=lambda atom: -float(atom.loss))
        if spare is not None:
            heavy = next((atom for atom in atoms if not atom.mass <= spare), None)
            if heavy is not None and self.tail(heavy.loss) - self.infinite_mass() <= spare:
                return heavy
        largest = self.support()[1]
        near = [atom for atom in atoms if atom.loss.overlaps(largest)]
        return Atom(hull(*(atom.loss for atom in near)), sum((atom.mass for atom in near), arb(0))) if near else None

    def below(self, x: RealLike) -> Ball:
        """P(L < x)."""
        point = ball(x)
        result = self.cdf(point)
        for atom in self.atoms():
            if atom.loss == point:
                result -= atom.mass
            elif atom.loss.overlaps(point):
                result -= hull(arb(0), atom.mass)
        return result

    def tail(self, x: RealLike) -> Ball:
        """P(L > x), the mass at infinity included."""
        return 1 - self.cdf(x)

    def rough_cumulant(self, t: float) -> float:
        """K(t) for real t in floats, for searching."""
        return float(self.cumulant(t).real)

    def rough_renyi(self, alpha: float) -> float:
        """D_α in floats, for searching."""
        return self.rough_cumulant(alpha - 1) / (alpha - 1)

    def renyi(self, alpha: RealLike) -> Ball:
        """D_α(P‖Q) for α > 1; infinite with mass at infinity."""
        if not self.infinite_mass() <= 0:
            return infinity()
        order = ball(alpha)
        return self.cumulant(order - 1).real / (order - 1)

    # ---- questions of those who use a law

    def contour_factor(self, count: int, log_delta: float) -> Factor | None:
        """``count`` copies as the contour engine sees them, for a δ of about this size; None without fast moments."""
        return None

    def envelope_factor(self, count: int, depth: float) -> Factor | None:
        """``count`` copies as the envelope engine sees them, less mass e^{−depth}; None: by listing their places."""
        return None

    def sampled_noise(self) -> tuple[Ball, Ball, bool] | None:
        """σ, q and whether a record is removed, for the Poisson-sampled Gaussian: many such laws are summed as one."""
        return None

    def cumulant_bound(self) -> CumulantBound | None:
        """A bound of the cumulant function that costs next to nothing, where there is one."""
        return None

    def lattice_law(self, depth: float) -> Law | None:
        """Atoms and densities as the lattice engine reads them, in a window outside which there is at most mass
        e^{−depth}; None where only the profile is known.
        """
        return None

    def bracket(self) -> tuple[Loss, Loss] | None:
        """A law that costs no more and one that costs no less, in any composition, where this one's own profile is too
        slow for every point of a grid.
        """
        return None

    def suited(self, log_delta: float) -> Loss:
        """The same law for questions about δ of about this size, where it is known as closely as δ asks for."""
        return self

    def copies(self) -> tuple[Loss, int]:
        """The law as so many independent copies of another, where it is known as that."""
        return self, 1

    def gaussian_noise(self) -> bool:
        """Whether the noise is Gaussian, sampled once at most: then answers are narrow, and people expect them so."""
        return False

    def table(self) -> TableLoss | None:
        """The law as a table of finitely many outcomes, where it is one."""
        return None

    def reverses(self, other: Loss) -> bool:
        """Whether the other law is known to be that of the same pair the other way round."""
        return False

    def sampled_pair(self, pair: Directions, rate: Ball) -> Directions | None:
        """Both directions of the Poisson-sampled pair of which this law is the direction `remove`, where there is a
        better form than the general one of `laws.sampled`.
        """
        return None


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

    def profile(self, epsilon: RealLike) -> Ball:
        """The worse direction's δ(ε)."""
        if self.remove is self.add:
            return self.remove.profile(epsilon)
        return self.remove.profile(epsilon).max(self.add.profile(epsilon))

    def renyi(self, alpha: RealLike) -> Ball:
        """The worse direction's D_α."""
        if self.remove is self.add:
            return self.remove.renyi(alpha)
        return self.remove.renyi(alpha).max(self.add.renyi(alpha))

    def rough_renyi(self, alpha: float) -> float:
        """The worse direction's D_α in floats, for searching."""
        if self.remove is self.add:
            return self.remove.rough_renyi(alpha)
        return max(self.remove.rough_renyi(alpha), self.add.rough_renyi(alpha))

    def bracket(self) -> tuple[Directions, Directions] | None:
        """Both directions with laws that cost no more, and with laws that cost no less; None where neither needs it."""
        remove, add = self.remove.bracket(), self.add.bracket()
        if remove is None and add is None:
            return None
        first, second = remove or (self.remove, self.remove), add or (self.add, self.add)
        return Directions(first[0], second[0], self.attained), Directions(first[1], second[1], self.attained)

    def suited(self, log_delta: float) -> Directions:
        """Both directions for questions about δ of about this size."""
        remove = self.remove.suited(log_delta)
        return Directions(remove, remove if self.same else self.add.suited(log_delta), self.attained)

    def infinite_mass(self) -> Ball:
        """The worse direction's P(L = ∞)."""
        return self.remove.infinite_mass().max(self.add.infinite_mass())

    def largest_loss(self) -> Ball:
        """The worse direction's largest finite loss."""
        return self.remove.support()[1].max(self.add.support()[1])


def symmetric(loss: Loss, *, attained: bool = True) -> Directions:
    """The two directions of a pair whose laws are one."""
    return Directions(loss, loss, attained)
