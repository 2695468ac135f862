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
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from bursar.errors import LossUnknown
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, hull, infinity

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from bursar.losses._directions import Directions
    from bursar.losses.engines.chernoff import CumulantBound
    from bursar.losses.engines.contour.factors import Factor
    from bursar.losses.engines.hit_parts import Hits, Sample
    from bursar.losses.engines.hit_steps import Steps
    from bursar.losses.engines.likeness import Likeness
    from bursar.losses.engines.rungs import Rungs
    from bursar.losses.laws.table import TableLoss
    from bursar.losses.places import Law
    from bursar.losses.twins import Twins


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

    def takes_integrals(self) -> bool:
        """Whether K in balls has no closed form, so that it takes longer than what it could show in passing."""
        return type(self).rough_cumulant is Loss.rough_cumulant

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
        """``count`` copies as the envelope engine sees them, if not by places; mass e^{−depth} may be missing."""
        return None

    def sampled_noise(self) -> tuple[Ball, Ball, bool] | None:
        """σ, q and whether a record is removed, for the Poisson-sampled Gaussian: many such laws are summed as one."""
        return None

    def sample_of(self) -> Sample | None:
        """What it is a Poisson sample of, where a record is removed."""
        return None

    def hits(self, clear: float) -> Hits | None:
        """What it is made of, where a sample shows itself: e^{−clear} is the slack that is asked for."""
        return None

    def copies_profile(self, count: int, epsilon: Ball) -> Ball | None:
        """δ(ε) of so many copies, where that is a closed form."""
        return None

    def equal_steps(self) -> Steps | None:
        """Its losses where they lie on few equal steps, from the largest one down."""
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

    def likeness(self) -> Likeness | None:
        """The Gaussian loss that this one is like, in any composition, up to an error in closed form."""
        return None

    def rungs(self, count: int, depth: float) -> Rungs | None:
        """The losses of so many copies, down to a chance of e^{−depth}, where each is far rarer than the one below."""
        return None

    def twins(self) -> Twins | None:
        """Simpler laws that cost no more, and no less, in any composition, where both are close to this one."""
        return None

    def base_twins(self) -> Twins | None:
        """The same for samples of what has this loss: also where the law itself is as simple as those."""
        return self.twins()

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

    def strategy(self, share: float) -> TableLoss | None:
        """Of a law that dominates a family of pairs without being one of them: the pair of this family at ``share``, of
        0 to 1, of its range, which the mechanism attains. None where no such family is known.
        """
        return None

    def bounded_range(self) -> Ball | None:
        """η, of the law that dominates every mechanism of bounded range η."""
        return None

    @property
    def drawable(self) -> bool:
        """Whether its distribution function is quick enough for a picture."""
        return True

    def reverses(self, other: Loss) -> bool:
        """Whether the other law is known to be that of the same pair the other way round."""
        return False

    def sampled_pair(self, pair: Directions, rate: Ball) -> Directions | None:
        """Both directions of the Poisson-sampled pair of which this law is the direction `remove`, where there is a
        better form than the general one of `laws.sampled`.
        """
        return None
