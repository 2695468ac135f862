"""The loss of discrete Gaussian noise N_Z(0, σ²) with integer sensitivity Δ: L = (Δ² − 2ΔY)/(2σ²)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import acb, arb

from bursar.losses._base import Atom, Loss
from bursar.losses.engines.contour.factors import ClosedFactor, Factor
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.hit_steps import Steps
from bursar.losses.engines.likeness import LEAST, LikeFactor, Likeness, delta_of
from bursar.losses.engines.rungs import Rungs
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.integer_rungs import rungs, steps_of, variance_of
from bursar.losses.laws.integer_tails import FARTHEST, MOST_TERMS, FarTails, chernoff_tail, near_tail, summed_tails
from bursar.losses.places import Comb, Law, spread
from bursar.losses.twins import Twins
from bursar.numerics.arrays import Array
from bursar.numerics.balls import (
    Ball,
    ComplexBall,
    ComplexLike,
    RealLike,
    ball,
    complex_ball,
    hull,
    infinity,
    maximum,
    positive_part,
    up,
)
from bursar.numerics.lattice import integers_around
from bursar.numerics.trusted import UNIT

_CLOSE = 1e10  # of the variance of all copies: then no question tells them from a Gaussian
_MOST_LISTED = 1_000_000  # of σ²: beyond, few tails can be listed, and the loss is all but Gaussian
_MOST_ATOMS = 2_000_000
_FURTHEST = 10**15  # outputs: further ones are not told apart
_DEEP, _DEEPEST = 20_000, 10**9  # e^{−20000} is nothing beside any δ
_ADDED, _LEAST_ADDED = 40, 4  # to σ²: its ripples are 1e-340 of the law, or 1e-33
_MOST_ADDED = 5_000_000  # times as large σ² must be: then ε's are 4e-7 apart
_NARROW, _FAR = 1.0, 60  # of σ², and outputs looked at, where one atom may decide


@dataclass(frozen=True)
class DiscreteGaussianLoss(Loss):
    """P(y) ∝ e^{−y²/(2σ²)} on the integers, against the same shifted by Δ."""

    variance_parameter: Ball
    shift: int

    def _theta(self, c: ComplexBall) -> ComplexBall:
        """Σ_y e^{−(y−c)²/(2σ²)} by Poisson summation: √(2πσ²)·ϑ₃(c; 2πiσ²)."""
        s = self.variance_parameter
        tau = acb(0, 1) * 2 * arb.pi() * s
        return (2 * arb.pi() * s).sqrt() * acb.modular_theta(c, tau)[2]

    def normaliser(self) -> Ball:
        """Σ_y e^{−y²/(2σ²)}."""
        return self._theta(acb(0)).real

    def _tail(self, m: int) -> Ball:
        """P(Y ≥ m)."""
        if m <= 0:
            return 1 - self._tail(1 - m)
        deep = arb(m) ** 2 / (2 * self.variance_parameter)
        if deep > _DEEPEST or (m > MOST_TERMS // 2 and deep > _DEEP):
            return hull(arb(0), chernoff_tail(self.variance_parameter, arb(m)))
        tails = self._tails[-1]
        if m >= len(tails) and m > FARTHEST:
            return self._far.at(m)
        if m >= len(tails):
            tails = self._sum_tails(max(m, min(2 * len(tails), FARTHEST)))  # more than asked: others will follow
            self._tails.append(tails)  # another thread may have asked for fewer meanwhile
        return tails[m]

    @cached_property
    def _far(self) -> FarTails:
        """Tails of outputs too far away to be listed."""
        return FarTails(self.variance_parameter, self.normaliser)

    @cached_property
    def _tails(self) -> list[list[Ball]]:
        """P(Y ≥ m) by m, as far as was asked, the last time at the end; a profile asks for many."""
        return [[]]

    def _sum_tails(self, most: int) -> list[Ball]:
        return summed_tails(self.variance_parameter, self.normaliser(), most)

    def _threshold(self, x: Ball) -> Ball:
        """The y at which the loss would be x."""
        return arb(self.shift) / 2 - x * self.variance_parameter / self.shift

    def profile(self, epsilon: RealLike) -> Ball:
        """The best event is {Y ≤ m}; by symmetry P(Y ≤ m) = P(Y ≥ −m)."""
        x, like = ball(epsilon), self.likeness()
        if like is not None and self.variance_parameter > _MOST_LISTED:
            return delta_of([(like, 1)], x)
        threshold = self._threshold(x)
        if not abs(threshold) < _FURTHEST:
            return self._far_profile(x, threshold)
        near = integers_around(threshold, -_FURTHEST, _FURTHEST)
        ways = [self._tail(-m) - x.exp() * self._tail(self.shift - m) for m in near]
        return positive_part(maximum(-x.expm1(), *ways))

    def _far_profile(self, x: Ball, threshold: Ball) -> Ball:
        """Between 1 − e^x and P(L > x) ≤ P(Y < threshold), which Chernoff's bound makes small far to the left."""
        return hull(positive_part(-x.expm1()), chernoff_tail(self.variance_parameter, positive_part(-threshold)))

    def cdf(self, x: RealLike) -> Ball:
        """P(Y ≥ threshold)."""
        return self._from(self._threshold(ball(x)), strict=False)

    def below(self, x: RealLike) -> Ball:
        """P(Y > threshold)."""
        return self._from(self._threshold(ball(x)), strict=True)

    def tail(self, x: RealLike) -> Ball:
        """P(Y < threshold) = P(Y > −threshold), with all digits where it is small."""
        return self._from(-self._threshold(ball(x)), strict=True)

    def _from(self, threshold: Ball, *, strict: bool) -> Ball:
        if not abs(threshold) < _FURTHEST:
            beyond = chernoff_tail(self.variance_parameter, positive_part(abs(threshold) - 1))
            return hull(1 - beyond, arb(1)) if threshold < 0 else hull(arb(0), beyond if threshold > 0 else arb(1))
        ends, s, norm = [], self.variance_parameter, self.normaliser()
        for m in integers_around(threshold, -_FURTHEST, _FURTHEST):
            # Y ≥ m is {Y ≥ threshold} for m − 1 < threshold ≤ m, and {Y > threshold} for m − 1 ≤ threshold < m
            outside = (threshold < m - 1 or threshold >= m) if strict else (threshold <= m - 1 or threshold > m)
            if not outside:
                ends.append(self._tail(m) if (near := near_tail(s, norm, m)) is None else near)
        return hull(*ends)

    def support(self) -> tuple[Ball, Ball]:
        """The whole lattice."""
        return -infinity(), infinity()

    def top(self, spare: Ball | None = None) -> Atom | None:
        """The loss of the least output that is not covered by what is spare; only where the noise is small is it likely
        enough to say something.
        """
        if spare is None or not self.variance_parameter < _NARROW:
            return None
        m = 0
        while not self._tail(m + 1) <= spare:
            m += 1
            if m > _FAR:
                return None
        loss = (arb(self.shift) ** 2 + 2 * self.shift * m) / (2 * self.variance_parameter)
        return Atom(loss, self._tail(m) - self._tail(m + 1))

    def likeness(self) -> Likeness | None:
        """The Gaussian with μ = Δ/σ, unless σ is small."""
        s = self.variance_parameter
        return Likeness(arb(self.shift) ** 2 / s, s, 2 * arb.pi() * s / self.shift) if s >= LEAST else None

    def rungs(self, count: int, depth: float) -> Rungs | None:
        """Where σ is so small that outputs are hardly ever moved."""
        return rungs(self.variance_parameter, self.shift, count, 1 / self.normaliser(), depth)

    def equal_steps(self) -> Steps | None:
        """Where σ is small."""
        return steps_of(self.variance_parameter, self.shift, 1 / self.normaliser())

    def mean(self) -> Ball:
        """Δ²/(2σ²), exactly."""
        return arb(self.shift) ** 2 / (2 * self.variance_parameter)

    def variance(self) -> Ball:
        """Δ²Var(Y)/σ⁴, where Var(Y) = σ² + 2σ⁴·ϑ′/ϑ with ϑ = Σ e^{−2π²σ²k²}."""
        s = self.variance_parameter
        return arb(self.shift) ** 2 * variance_of(s, self.normaliser()) / (s * s)

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """t(t + 1)Δ²/(2σ²) + ln[ϑ(tΔ)/ϑ(0)]."""
        z = complex_ball(t)
        ratio = self._theta(z * self.shift) / self._theta(acb(0))
        return z * (z + 1) * arb(self.shift) ** 2 / (2 * self.variance_parameter) + ratio.log()

    def rough_cumulant(self, t: float) -> float:
        """K(t) in floats, for searching: the Gaussian one, or where σ is small a few terms of the sum."""
        s, shift = float(self.variance_parameter), self.shift
        if s > _NARROW:
            return t * (t + 1) * shift * shift / (2 * s)
        # Σ e^{tl(y) − y²/(2s)}, by y less the whole number next to the largest term
        around, off = round(t * shift), t * shift - round(t * shift)
        heights = [(2 * off * y - y * y) / (2 * s) for y in range(-9, 10)]
        lead = (shift * shift * t + 2 * shift * t * around - around * around) / (2 * s)
        sums = (math.fsum(map(math.exp, heights)), math.fsum(math.exp(-y * y / (2 * s)) for y in range(-9, 10)))
        return lead + math.log(sums[0] / sums[1])

    def contour_factor(self, count: int, log_delta: float) -> ClosedFactor:
        """By theta functions; atoms alone do not decay, so something smooth must stand beside it."""
        return ClosedFactor(self, count)

    def envelope_factor(self, count: int, depth: float) -> Factor | None:
        """By its places, without those that only sampling would mix in; as a Gaussian where they are close together."""
        like = self.likeness()
        if like is not None and count * self.variance_parameter > _CLOSE:
            return LikeFactor(like, count)
        law = self._window(depth, 0)
        return None if law is None else PointsFactor(law, count, arb(0))

    def base_twins(self) -> Twins | None:
        """Gaussians with a little more noise and with a little less, where that is little beside σ²: the noise that is
        added, or taken off by rounding, hides the integers (proofs/likeness.md §5).
        """
        s, more = self.variance_parameter, arb(_ADDED)
        if not s > _MOST_ADDED * more:
            more = arb(_LEAST_ADDED)
            if not s > _MOST_ADDED * more:
                return None
        low, high = (GaussianLoss(self.shift / (s + side * more).sqrt()) for side in (1, -1))
        # of u = σ²w/(σ² + w), the smallest of the three variances whose ripples count
        slack = (9 * (-2 * arb.pi() ** 2 * s * more / (s + more)).exp()).upper()
        return Twins(low, high, slack)

    def lattice_law(self, depth: float) -> Law | None:
        """The atoms in the window, also after the shift that sampling mixes in; None where they are too many."""
        return self._window(depth, self.shift)

    def _window(self, depth: float, more: int) -> Law | None:
        s, shift = float(self.variance_parameter), self.shift
        doubt = spread(self.variance_parameter)
        # beyond `reach` there is at most 2e^{−reach²/(2s)}
        reach = math.ceil(math.sqrt(2 * s * (depth + 1))) + 1
        if 2 * reach + more > _MOST_ATOMS:
            return None
        y = np.arange(-reach, reach + more + 1, dtype=float)
        norm = up(self.normaliser().log())
        heights = -np.square(y) / (2 * s) - norm
        doubts = (doubt + 4 * UNIT) * (np.square(y) / (2 * s) + abs(norm) + 1)
        places = (shift * shift - 2.0 * shift * y) / (2 * s)
        comb = Comb(self.mean(), -arb(shift) / self.variance_parameter, y.astype(np.int64))
        errors = (doubt + 4 * UNIT) * np.abs(places)
        return Law(places, errors, heights, doubts, log_lost=math.log(2) - depth, comb=comb)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses of outputs drawn from the truncated lattice (the rest has mass below 1e-30)."""
        s = float(self.variance_parameter)
        reach = int(12 * s**0.5) + 2
        y = np.arange(-reach, reach + 1)
        weights = np.exp(-(y.astype(float) ** 2) / (2 * s))
        drawn = rng.choice(y, size=size, p=weights / weights.sum())
        return (self.shift**2 - 2.0 * self.shift * drawn) / (2 * s)
