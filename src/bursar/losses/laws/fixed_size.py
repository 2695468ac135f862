"""The loss of a sample of fixed size under replace_one, from the loss of the mechanism on one batch.

Draw m of n records; q = m/n. Whatever else is drawn, the batch holds the record with probability q, in somebody's
place, and otherwise that somebody. So each batch with the record is a neighbour of one without it, and by advanced
joint convexity (Balle, Barthe and Gaboardi 2018, Thm 2), for ε ≥ 0 and in both directions,

    δ'(ε) ≤ q·δ(ln(1 + (e^ε − 1)/q)),

where δ is the profile of the mechanism on a batch. Below 0 the other direction gives 1 − e^ε + e^ε·δ'(−ε). For a
symmetric pair this is the profile of a pair again (proofs/sampling.md §2): above 0 its loss is that of the
Poisson-sampled pair with the record, below 0 the mirror image of that, and the rest of the mass lies at 0.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import acb, arb

from bursar.errors import LossUnknown
from bursar.losses._base import Atom, Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.normal_integral import power
from bursar.losses.laws.sampled import poisson_sampled
from bursar.losses.laws.sampled_gaussian import SampledNormal
from bursar.losses.places import Law
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, complex_ball, hull, infinity, square
from bursar.numerics.trusted import UNIT


@dataclass(frozen=True)
class FixedSizeLoss(Loss):
    """``base`` is the loss on one batch, the same in both directions; ``rate`` is the share of records drawn."""

    base: Loss
    rate: Ball

    @cached_property
    def _twin(self) -> Directions:
        """The Poisson-sampled pair of the same base and rate."""
        return poisson_sampled(symmetric(self.base), self.rate)

    @cached_property
    def _middle(self) -> Ball:
        """The mass at 0: what neither a loss above nor its mirror image has."""
        return self._twin.remove.cdf(0) - self._twin.add.below(0)

    def profile(self, epsilon: RealLike) -> Ball:
        """The Poisson-sampled pair's for ε ≥ 0, by reversal below."""
        x = ball(epsilon)
        if x >= 0:
            return self._twin.remove.profile(x)
        if x < 0:
            return -x.expm1() + x.exp() * self._twin.remove.profile(-x)
        return hull(self.profile(x.upper()), self.profile(x.lower()))  # it falls

    def cdf(self, x: RealLike) -> Ball:
        """The record's own law above 0, the mirror image below."""
        point = ball(x)
        if point >= 0:
            return self._twin.remove.cdf(point)
        if point < 0:
            return self._twin.add.cdf(point)
        return hull(self._twin.add.cdf(point.lower()), self._twin.remove.cdf(point.upper()))

    def support(self) -> tuple[Ball, Ball]:
        """From minus the largest loss to the largest one."""
        most = self._twin.remove.support()[1]
        return -most, most

    def infinite_mass(self) -> Ball:
        """What the Poisson-sampled record has."""
        return self._twin.remove.infinite_mass()

    def atoms(self) -> tuple[Atom, ...]:
        """Those above 0, the mirror images of those, and 0 itself."""
        above = [atom for atom in self._twin.remove.atoms() if atom.loss > 0]
        below = [atom for atom in self._twin.add.atoms() if atom.loss < 0]
        return (*above, *below, Atom(arb(0), self._middle))

    def _moment(self, order: ComplexBall, moment: int = 0, centre: Ball | int = 0) -> ComplexBall:
        """E[e^{order·L}·(L − centre)^moment] of Gaussian noise and of a law that is all atoms; no other is known."""
        if isinstance(self.base, GaussianLoss):
            above = SampledNormal(symmetric(self.base), self.rate, 1 / self.base.mu)
            return above.mirrored(order, moment, centre) + self._middle * power(complex_ball(-centre), moment)
        law = self.base.lattice_law(1.0)
        if law is None or law.densities or law.panels is not None:
            raise LossUnknown("the moments of a sample of fixed size are known for Gaussian noise and tables only")
        return sum((mass * (order * at).exp() * (at - centre) ** moment for at, mass in self.atoms()), acb(0))

    def mean(self) -> Ball:
        """E[L]."""
        return self._moment(acb(0), 1).real if self.infinite_mass() <= 0 else infinity()

    def variance(self) -> Ball:
        """Var[L]."""
        if not self.infinite_mass() <= 0:
            return infinity()
        middle = self.mean().mid()
        return self._moment(acb(0), 2, middle).real - square(self.mean() - middle)

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln E[e^{tL}; L < ∞]."""
        return self._moment(complex_ball(t)).log()

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """With the record's own law: kept above 0; below, its mirror image as often as that has mass."""
        drawn = self._twin.remove.sample(rng, size)
        mirrored = self._twin.add.sample(rng, 4 * size + 64)
        pool = mirrored[mirrored < 0]
        share = float(self._twin.add.below(0)) / max(float(self._twin.remove.cdf(0)), 1e-300)
        below = rng.choice(pool, size) if len(pool) else np.zeros(size)
        return np.where(drawn > 0, drawn, np.where(rng.random(size) < share, below, 0.0))

    def lattice_law(self, depth: float) -> Law | None:
        """The halves of the sampled laws, cut exactly at 0, and the mass at 0."""
        above, below = self._twin.remove.lattice_law(depth), self._twin.add.lattice_law(depth)
        if above is None or below is None or above.panels is not None or below.panels is not None:
            return None
        middle = self._middle
        if not middle > 0:
            return None
        height = middle.log()
        own = Law(
            np.zeros(1),
            np.zeros(1),
            np.array([float(height)]),
            np.array([float(height.rad()) + 2 * UNIT * (1 + abs(float(height)))]),
        )
        return _joined([_half(above, 1.0), _half(below, -1.0), own], max(above.log_lost, below.log_lost))


def _half(law: Law, side: float) -> Law:
    """The losses on one side of 0. A base loss of exactly 0 is a sampled loss of exactly 0."""
    sure = side * law.losses > law.loss_errors
    if bool(np.any(~sure & (side * law.losses > -law.loss_errors) & (law.losses != 0))):
        raise LossUnknown("some losses cannot be told from 0")
    densities = []
    for one in law.densities:
        if float(one.loss(np.zeros(1))[0][0]) != 0:
            raise LossUnknown("a density cannot be cut where the loss is 0")
        low, high = (max(one.low, 0.0), one.high) if side > 0 else (one.low, min(one.high, 0.0))
        if low < high:
            densities.append(dataclasses.replace(one, low=low, high=high))
    return Law(law.losses[sure], law.loss_errors[sure], law.log_masses[sure], law.mass_errors[sure], tuple(densities))


def _joined(laws: list[Law], log_lost: float) -> Law:
    return Law(
        np.concatenate([law.losses for law in laws]),
        np.concatenate([law.loss_errors for law in laws]),
        np.concatenate([law.log_masses for law in laws]),
        np.concatenate([law.mass_errors for law in laws]),
        tuple(density for law in laws for density in law.densities),
        log_lost + 0.7 if log_lost > -np.inf else log_lost,  # either half may lose as much: ln 2
    )
