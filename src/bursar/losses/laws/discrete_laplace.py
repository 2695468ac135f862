"""The loss of discrete Laplace (two-sided geometric) noise with integer sensitivity Δ: a lattice between −ε and ε,
where ε = Δ/scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from flint import acb, arb

from bursar.losses._base import Atom, Loss
from bursar.losses.engines.contour.factors import ClosedFactor
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.hit_steps import Steps
from bursar.losses.laws.laplace import LaplaceLoss
from bursar.losses.places import Comb, Law, of_atoms, spread
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
    maximum,
    positive_part,
    square,
)
from bursar.numerics.lattice import integers_around
from bursar.numerics.trusted import UNIT

_LISTED = 10_000
_MOST_STEPS = 1000
_MOST_PLACES = 1_000_000
_FINE = 1e-8  # of rate/Δ: four times how far the twins are apart, relatively
_CLOSE = arb(1) / 100  # of scales: outputs this close are all but continuous


@dataclass(frozen=True)
class DiscreteLaplaceLoss(Loss):
    """P(y) ∝ a^{|y|} against the same shifted by Δ, a = e^{−rate}: L = ε for y ≤ 0, −ε for y ≥ Δ, (Δ − 2y)·rate
    between.
    """

    rate: Ball
    shift: int

    @property
    def epsilon(self) -> Ball:
        """The largest loss."""
        return self.rate * self.shift

    def _cumulative(self, m: int) -> Ball:
        """P(Y ≤ m)."""
        a = (-self.rate).exp()
        return 1 - (-self.rate * (m + 1)).exp() / (1 + a) if m >= 0 else (self.rate * m).exp() / (1 + a)

    def _beyond(self, m: int) -> Ball:
        """P(Y > m), by symmetry: with all digits where it is small."""
        return self._cumulative(-m - 1)

    def _threshold(self, x: Ball) -> Ball:
        """The y at which the loss would be x."""
        return (self.shift - x / self.rate) / 2

    def profile(self, epsilon: RealLike) -> Ball:
        """The best event is {Y ≤ m}: the largest of P(Y ≤ m) − e^x P(Y + Δ ≤ m) over the m that may be best."""
        x = ball(epsilon)
        if x >= self.epsilon:
            return arb(0)
        below = -x.expm1()
        if x <= -self.epsilon:
            return below
        ways = [
            self._cumulative(m) - x.exp() * self._cumulative(m - self.shift)
            for m in integers_around(self._threshold(x), -1, self.shift)
        ]
        return positive_part(maximum(below, *ways))

    def cdf(self, x: RealLike) -> Ball:
        """P(Y ≥ threshold)."""
        return self._upper(ball(x), strict=False)

    def below(self, x: RealLike) -> Ball:
        """P(Y > threshold)."""
        return self._upper(ball(x), strict=True)

    def _upper(self, x: Ball, *, strict: bool) -> Ball:
        """P(L ≤ x), or P(L < x): the losses are largest for Y ≤ 0 and smallest for Y ≥ Δ."""
        top, ends = self.epsilon, []
        if x > top or (x >= top and not strict):
            return arb(1)
        if x < -top or (x <= -top and strict):
            return arb(0)
        if not x < top:
            ends += [arb(1), self._beyond(0)] if strict else [arb(1)]
        if not x > -top:
            ends.append(arb(0))
        threshold = self._threshold(x)

        def inside(m: int) -> bool:
            # cdf leaves out the outcomes below the threshold, `below` also those on it
            outside = (threshold < m or threshold >= m + 1) if strict else (threshold <= m or threshold > m + 1)
            return not outside

        around = integers_around(threshold, -1, self.shift)
        for way in (around, reversed(around)):  # P(Y > m) falls with m: the first and the last that may be
            ends += [self._beyond(m) for m in islice(filter(inside, way), 1)]
        return hull(*ends)

    def support(self) -> tuple[Ball, Ball]:
        """[−ε, ε]."""
        return -self.epsilon, self.epsilon

    def atoms(self) -> tuple[Atom, ...]:
        """All Δ + 1 losses, up to ten thousand of them."""
        if self.shift > _LISTED:
            return ()
        a = (-self.rate).exp()
        inner = [
            Atom((self.shift - 2 * y) * self.rate, -(-self.rate).expm1() / (1 + a) * (-self.rate * y).exp())
            for y in range(1, self.shift)
        ]
        last = (-self.rate * self.shift).exp() / (1 + a)
        return Atom(self.epsilon, 1 / (1 + a)), *inner, Atom(-self.epsilon, last)

    def top(self, spare: Ball | None = None) -> Atom:
        """ε, for all outputs up to 0: half of the mass at least."""
        return Atom(self.epsilon, 1 / (1 + (-self.rate).exp()))

    def mean(self) -> Ball:
        """ε(1 − a^Δ)/(1 + a) + (1 − a)/(1 + a)·(εS₀ − 2S₁·rate)."""
        a, s = (-self.rate).exp(), self._sums()
        ends = self.epsilon * (1 - (-self.epsilon).exp()) / (1 + a)
        return ends + (1 - a) / (1 + a) * (self.epsilon * s[0] - 2 * self.rate * s[1])

    def variance(self) -> Ball:
        """E[L²] − E[L]² by the same sums."""
        a, s = (-self.rate).exp(), self._sums()
        d = self.shift
        ends = self.epsilon**2 * (1 + (-self.epsilon).exp()) / (1 + a)
        inner = (1 - a) / (1 + a) * self.rate**2 * (d * d * s[0] - 4 * d * s[1] + 4 * s[2])
        return ends + inner - square(self.mean())

    def _sums(self) -> tuple[Ball, Ball, Ball]:
        """Σ y^j a^y over y = 1 … Δ − 1 for j = 0, 1, 2."""
        a, n = (-self.rate).exp(), self.shift - 1
        an = (-self.rate * n).exp()
        s0 = a * (1 - an) / (1 - a)
        s1 = a * (1 - (n + 1) * an + n * an * a) / (1 - a) ** 2
        s2 = a * (1 + a - (n + 1) ** 2 * an + (2 * n * n + 2 * n - 1) * an * a - n * n * an * a * a) / (1 - a) ** 3
        return s0, s1, s2

    def equal_steps(self) -> Steps | None:
        """From ε down to −ε, where outputs between 0 and Δ are few."""
        if self.shift > _MOST_STEPS:
            return None
        inner = [(self._cumulative(y) - self._cumulative(y - 1)) for y in range(1, self.shift)]
        last = 1 - self._cumulative(self.shift - 1)
        return Steps(self.epsilon, 2 * self.rate, [self._cumulative(0), *inner, last], arb(0))

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """The geometric sum in closed form."""
        z = complex_ball(t)
        a = (-self.rate).exp()
        r = (-self.rate * (2 * z + 1)).exp()
        if (1 - r).contains(0):
            inner = sum((r**y for y in range(1, self.shift)), acb(0)) if self.shift <= _LISTED else acb("nan")
        else:
            inner = (r - (-self.rate * (2 * z + 1) * self.shift).exp()) / (1 - r)
        last = (-(2 * z + 1) * self.epsilon).exp()
        return z * self.epsilon + ((1 + last + (1 - a) * inner) / (1 + a)).log()

    def rough_cumulant(self, t: float) -> float:
        """K(t) in floats, for searching."""
        rate, epsilon, twice = float(self.rate), float(self.epsilon), 2 * t + 1
        a, r, last = math.exp(-rate), math.exp(-rate * twice), math.exp(-twice * epsilon)
        inner = (r - last) / (1 - r) if r != 1 else self.shift - 1.0
        return t * epsilon + math.log((1 + last + (1 - a) * inner) / (1 + a))

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E[f(L)] over the listed atoms."""
        if self.shift > _LISTED:
            return super().expect(f)
        return sum((atom.mass * f(complex_ball(atom.loss), False) for atom in self.atoms()), acb(0))

    def contour_factor(self, count: int, log_delta: float) -> ClosedFactor:
        """The closed form; atoms alone do not decay, so something smooth must stand beside it."""
        return ClosedFactor(self, count)

    def bracket(self) -> tuple[Loss, Loss] | None:
        """Laplace noise of the same ε and of a little more, where the outputs lie close (proofs/likeness.md §4)."""
        if not self.rate < _CLOSE:
            return None
        most = self.epsilon + 2 * (self.rate / 2).cosh().log()
        return LaplaceLoss(arb(self.epsilon.lower())), LaplaceLoss(arb(most.upper()))

    def lattice_law(self, depth: float) -> Law | None:
        """The atoms, where they are listed: every second whole multiple of the rate."""
        atoms = self.atoms()
        if not atoms:
            return None
        return replace(of_atoms(atoms), comb=Comb(self.epsilon, -2 * self.rate, np.arange(len(atoms))))

    def envelope_factor(self, count: int, depth: float) -> PointsFactor | None:
        """By the places that weigh something, where they are too many to be listed as balls."""
        rate = float(self.rate)
        most = min(math.ceil(depth / rate) + 1, self.shift)  # P(Y > m) < e^{−rate·m}
        if self.shift <= _LISTED or not most < _MOST_PLACES:
            return None
        y, off = np.arange(most + 1, dtype=float), spread(self.rate) + 4 * UNIT
        heights = np.where(y > 0, math.log(math.tanh(rate / 2)) - rate * y, -math.log1p(math.exp(-rate)))
        if most == self.shift:
            heights[-1] = -rate * most - math.log1p(math.exp(-rate))  # all outputs from Δ on
        places, comb = float(self.epsilon) - 2 * rate * y, Comb(self.epsilon, -2 * self.rate, y.astype(np.int64))
        doubts = off * (2 * rate * y + np.abs(heights) + 8)
        errors = off * (2 * float(self.epsilon) + np.abs(places))
        law = Law(places, errors, heights, doubts, log_lost=-depth, comb=comb)
        return PointsFactor(law, count, arb(0))

    def twins(self) -> Twins | None:
        """Laplace losses of ε and of ε + 2 ln cosh(rate/2) ≤ ε + rate²/4, where these are hardly apart: at its corners
        the profile is the continuous one, and between them the chord of a convex curve (proofs/likeness.md §4).
        """
        if self.shift <= _LISTED or not self.rate < _FINE * self.shift:
            return None
        low, high = self.epsilon, self.epsilon + square(self.rate) / 4
        return Twins(LaplaceLoss(arb(low.lower())), LaplaceLoss(arb(high.upper())))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses of two-sided geometric outputs."""
        rate = float(self.rate)
        success = -np.expm1(-rate)
        y = rng.geometric(success, size) - rng.geometric(success, size)
        losses: Array = rate * (np.abs(y - self.shift) - np.abs(y))
        return losses
