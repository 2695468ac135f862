"""The loss of a pair that first says which of several pairs it will be.

If P = Σwᵢ·Pᵢ and Q = Σwᵢ·Qᵢ with the same weights, then saying i beside the outcome can only tell more, and the loss of
(i, outcome) is that of the pair i with probability wᵢ: profiles, distribution functions and moments are weighted sums.
By joint convexity the pair that says it dominates the one that does not (proofs/sampling.md §1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb, arb

from bursar.losses._base import Atom, Loss
from bursar.losses._directions import Directions
from bursar.losses.engines.chernoff import CumulantBound
from bursar.losses.engines.contour.announced_factor import AnnouncedFactor
from bursar.losses.engines.contour.sampled_factor import SampledFactor
from bursar.losses.places import SLACK, Density, Law, spread
from bursar.numerics.arrays import Array, Known
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, positive_part, square, up
from bursar.numerics.trusted import UNIT

_UNFELT = 35.0  # ln of how far below δ, for all copies together, a part may be left out and counted as leaked
_RARE = 8.0  # parts this much lighter than what may be missing are left out


@dataclass(frozen=True)
class AnnouncedLoss(Loss):
    """Each part's loss with the part's weight; the weights sum to 1."""

    parts: tuple[tuple[Ball, Loss], ...]

    def _sum(self, value: Callable[[Loss], Ball]) -> Ball:
        return sum((weight * value(loss) for weight, loss in self.parts), arb(0))

    def profile(self, epsilon: RealLike) -> Ball:
        """Σwᵢ·δᵢ(ε)."""
        return self._sum(lambda loss: loss.profile(epsilon))

    def cdf(self, x: RealLike) -> Ball:
        """Σwᵢ·P(Lᵢ ≤ x)."""
        return self._sum(lambda loss: loss.cdf(x))

    def below(self, x: RealLike) -> Ball:
        """Σwᵢ·P(Lᵢ < x)."""
        return self._sum(lambda loss: loss.below(x))

    def support(self) -> tuple[Ball, Ball]:
        """From the smallest of all to the largest of all."""
        ends = [loss.support() for _, loss in self.parts]
        low, high = ends[0]
        for least, most in ends[1:]:
            low, high = low.min(least), high.max(most)
        return low, high

    def infinite_mass(self) -> Ball:
        """Σwᵢ·P(Lᵢ = ∞)."""
        return self._sum(lambda loss: loss.infinite_mass())

    def mean(self) -> Ball:
        """Σwᵢ·E[Lᵢ]."""
        return self._sum(lambda loss: loss.mean())

    def variance(self) -> Ball:
        """What the parts vary, and their means: Σwᵢ·(Var[Lᵢ] + (E[Lᵢ] − E[L])²)."""
        mean = self.mean()
        return self._sum(lambda loss: loss.variance() + square(loss.mean() - mean))

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln Σwᵢ·e^{Kᵢ(t)}."""
        return sum((weight * loss.cumulant(t).exp() for weight, loss in self.parts), acb(0)).log()

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """Σwᵢ·E[f(Lᵢ)]."""
        return sum((weight * loss.expect(f) for weight, loss in self.parts), acb(0))

    def atoms(self) -> tuple[Atom, ...]:
        """Each part's, with its weight."""
        return tuple(Atom(at, weight * mass) for weight, loss in self.parts for at, mass in loss.atoms())

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """A part for each, then a loss of it."""
        weights = np.array([float(weight) for weight, _ in self.parts])
        which = rng.choice(len(weights), size, p=weights / weights.sum())
        return np.choose(which, [loss.sample(rng, size) for _, loss in self.parts])

    def gaussian_noise(self) -> bool:
        """Whether that is so of every part."""
        return all(loss.gaussian_noise() for _, loss in self.parts)

    def contour_factor(self, count: int, log_delta: float) -> AnnouncedFactor | None:
        """The parts' factors, where each is one that sums over nodes; parts that δ does not feel are left out."""
        least = math.exp(max(log_delta - _UNFELT, -600.0)) / count
        heavy = [(weight, loss.contour_factor(count, log_delta)) for weight, loss in self.parts if not weight <= least]
        factors = [factor for _, factor in heavy if isinstance(factor, SampledFactor)]
        if not factors or len(factors) < len(heavy):
            return None
        light = sum((weight for weight, _ in self.parts if weight <= least), arb(0))
        return AnnouncedFactor([weight for weight, _ in heavy], factors, count, light)

    def cumulant_bound(self) -> CumulantBound | None:
        """ln Σwᵢ·e^{bᵢ}, where every part has a bound bᵢ."""
        found = [(weight, loss.cumulant_bound()) for weight, loss in self.parts]
        bounds = [(weight, bound) for weight, bound in found if bound is not None]
        if len(bounds) < len(found):
            return None

        def mixed(tilt: float) -> Ball:
            return sum((weight * bound.at(tilt).exp() for weight, bound in bounds), arb(0)).log().upper()

        variance = sum(float(weight) * bound.variance for weight, bound in bounds)
        return CumulantBound(variance, min(bound.largest for _, bound in bounds), mixed)

    def lattice_law(self, depth: float) -> Law | None:
        """All atoms and densities, with their weights."""
        heavy = [(weight, loss) for weight, loss in self.parts if not weight <= math.exp(-depth - _RARE)]
        laws = [(weight, loss.lattice_law(depth)) for weight, loss in heavy]
        found = [(weight, law) for weight, law in laws if law is not None and law.panels is None]
        rare = sum((weight for weight, _ in self.parts), arb(0)) - sum((weight for weight, _ in heavy), arb(0))
        lost = up(positive_part(rare).log()) if len(heavy) < len(self.parts) else -math.inf
        return mixed_law(found, lost) if len(found) == len(laws) else None


def mixed_law(laws: Sequence[tuple[Ball, Law]], log_lost: float = -math.inf) -> Law:
    """Places and densities of several laws, each with its weight; ``log_lost`` is of what stands beside them."""
    heights = [float(weight.log()) for weight, _ in laws]
    doubts = [spread(weight) + 4 * UNIT * (1 + abs(height)) for (weight, _), height in zip(laws, heights, strict=True)]
    rows = list(zip(heights, doubts, (law for _, law in laws), strict=True))
    lost = [height + law.log_lost for height, _, law in rows if law.log_lost > -math.inf]
    lost += [log_lost] if log_lost > -math.inf else []
    return Law(
        np.concatenate([law.losses for _, _, law in rows]),
        np.concatenate([law.loss_errors for _, _, law in rows]),
        np.concatenate([law.log_masses + height for height, _, law in rows]),
        np.concatenate([law.mass_errors + doubt for _, doubt, law in rows]),
        tuple(_weighed(density, height, doubt) for height, doubt, law in rows for density in law.densities),
        float(np.logaddexp.reduce(lost)) + SLACK if lost else -math.inf,
    )


def _weighed(density: Density, height: float, doubt: float) -> Density:
    def log_density(v: Array) -> Known:
        value, error = density.log_density(v)
        return value + height, error + doubt + 2 * UNIT * np.abs(value)

    return Density(density.low, density.high, density.width, log_density, density.loss, density.place, density.calm)


def announced(parts: Sequence[tuple[Ball, Directions]], *, attained: bool = False) -> Directions:
    """Both directions of pairs of which one is drawn and said, with weights that depend on no record."""
    remove = AnnouncedLoss(tuple((weight, pair.remove) for weight, pair in parts))
    if all(pair.same for _, pair in parts):
        return Directions(remove, remove, attained)
    return Directions(remove, AnnouncedLoss(tuple((weight, pair.add) for weight, pair in parts)), attained)
