"""The loss of Laplace noise: atoms at ±ε and an exponential density between, ε = sensitivity/scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flint import arb

from bursar.losses._base import Atom, Loss
from bursar.losses.engines.contour.factors import ClosedFactor, Exponential
from bursar.losses.engines.envelope.factor import LaplaceFactor
from bursar.losses.laws.table import leaky_response
from bursar.losses.places import SLACK, Law, exponential, of_atoms
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
    positive_part,
    working,
)
from bursar.numerics.quadrature import integral

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

_FEW_COPIES = 500
_TINY = 1e-8  # of ε: four times how far the twins are apart, relatively


@dataclass(frozen=True)
class LaplaceLoss(Loss):
    """Laplace(0, 1/ε) against Laplace(1, 1/ε), in either direction: ½ at ε, ½e^{−ε} at −ε, density ¼e^{(l−ε)/2}
    between.
    """

    epsilon: Ball

    def profile(self, epsilon: RealLike) -> Ball:
        """1 − e^{(x−ε)/2} on [−ε, ε], 0 above, 1 − e^x below."""
        x = ball(epsilon)
        inside = positive_part(-((x - self.epsilon) / 2).expm1())
        if x >= -self.epsilon:
            return inside
        outside = -x.expm1()
        return outside if x <= -self.epsilon else hull(inside, outside)

    def cdf(self, x: RealLike) -> Ball:
        """½e^{(x−ε)/2} inside the range."""
        point = ball(x)
        if point >= self.epsilon:
            return arb(1)
        if point < -self.epsilon:
            return arb(0)
        inside = ((point - self.epsilon) / 2).exp() / 2
        if point < self.epsilon and point >= -self.epsilon:
            return inside
        ends = [inside.min(arb(1))]
        if not point < self.epsilon:
            ends.append(arb(1))
        if not point >= -self.epsilon:
            ends.append(arb(0))
        return hull(*ends)

    def support(self) -> tuple[Ball, Ball]:
        """[−ε, ε]."""
        return -self.epsilon, self.epsilon

    def atoms(self) -> tuple[Atom, ...]:
        """Both ends of the range."""
        return Atom(-self.epsilon, (-self.epsilon).exp() / 2), Atom(self.epsilon, arb(1) / 2)

    def top(self, spare: Ball | None = None) -> Atom | None:
        """ε, which it has half of the time, unless that may be left out."""
        half = arb(1) / 2
        plain = self.epsilon > 0 and (spare is None or spare < half)
        return Atom(self.epsilon, half) if plain else super().top(spare)

    def mean(self) -> Ball:
        """ε − 1 + e^{−ε}."""
        return self.epsilon + (-self.epsilon).expm1()

    def variance(self) -> Ball:
        """3 − (4ε + 2)e^{−ε} − e^{−2ε}."""
        e = self.epsilon
        return 3 - (4 * e + 2) * (-e).exp() - (-2 * e).exp()

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln[((t+1)e^{tε} + t·e^{−(t+1)ε})/(2t+1)], continued through t = −½."""
        z = complex_ball(t)
        if (2 * z + 1).contains(0):
            return (self.expect(lambda x, _: (z * x).exp())).log()
        top, bottom = (z + 1) / (2 * z + 1), z / (2 * z + 1)
        return z * self.epsilon + (top + bottom * (-(2 * z + 1) * self.epsilon).exp()).log()

    def rough_cumulant(self, t: float) -> float:
        """K(t) in floats, for searching."""
        e, top = float(self.epsilon), (t + 1) / (2 * t + 1)
        return t * e + math.log(top + (1 - top) * math.exp(-(2 * t + 1) * e))

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E[f(L)] for a function that is analytic near the range."""
        low, high = self.atoms()
        total = low.mass * f(complex_ball(low.loss), False) + high.mass * f(complex_ball(high.loss), False)
        return total + integral(
            lambda x, analytic: f(x, analytic) * ((x - self.epsilon) / 2).exp() / 4, (-self.epsilon, self.epsilon)
        )

    def contour_factor(self, count: int, log_delta: float) -> ClosedFactor:
        """The closed form, with the density between the atoms."""
        return ClosedFactor(self, count, Exponential(self.epsilon, arb(1) / 4))

    def envelope_factor(self, count: int, depth: float) -> LaplaceFactor:
        """By its places, or together with other Laplaces by the closed form."""
        return LaplaceFactor(lambda: self._top_law(depth), count, self.epsilon)

    def copies_profile(self, count: int, epsilon: Ball) -> Ball | None:
        """By the number of losses below ε and the gamma law of how far below (proofs/hits.md §4); None for many."""
        if count > _FEW_COPIES:
            return None
        apart = count * self.epsilon - epsilon
        if not apart > 0:
            return arb(0) if apart <= 0 else hull(arb(0), self._half_lines(count, apart.upper()))
        return self._half_lines(count, apart)

    def _half_lines(self, count: int, apart: Ball) -> Ball:
        """E[(1 − e^{2G − apart})₊], G a sum of J exponential numbers, J of ``count`` coins; and what the floor adds."""
        y, size = apart / 2, float(apart) / 2
        short = arb(0) if apart < 2 * self.epsilon else count * (-self.epsilon).exp() / 2
        if short >= 1:  # the floor may add anything
            return hull(arb(0), arb(1))
        if y > 20 * count + 4000:
            return hull(1 - (-arb(1000)).exp(), arb(1))
        with working(300 + 2 * count + int(6 * min(size, 200.0))):  # for sums of either sign
            fall, shrink, total, ways = (-apart).exp(), (-y).exp(), arb(0), 1
            term, upward, either = arb(1), arb(0), arb(0)  # y^j/j!, and the sums of these below j and with signs
            for j in range(count + 1):
                # ∫₀^y g^{j−1}e^g dg/Γ(j) = e^y·Σ_{i<j} (−1)^{j−1−i}·y^i/i! + (−1)^j
                part = 1 - shrink * upward - (shrink * either + (-1) ** j * fall)
                total += ways * part
                upward, either, term = upward + term, term - either, term * y / (j + 1)
                ways = ways * (count - j) // (j + 1)
        return positive_part(total / 2**count) + hull(arb(0), short.upper())

    def twins(self) -> Twins | None:
        """The responses that a threshold halfway makes of it, and those of ε, where these are hardly apart: outputs
        between the two means are all but never seen (proofs/likeness.md §7).
        """
        if not self.epsilon < _TINY:
            return None
        low = (2 * (self.epsilon / 2).expm1()).log1p()
        return Twins(leaky_response(arb(low.lower()), arb(0)), leaky_response(arb(self.epsilon.upper()), arb(0)))

    def lattice_law(self, depth: float) -> Law:
        """Two atoms, and the density between them."""
        return replace(of_atoms(self.atoms()), densities=(exponential(self.epsilon, math.log(0.25)),))

    def _top_law(self, depth: float) -> Law:
        """The same without the lower end of a long range, which is as good as nothing under P. (Under Q it is nearly
        everything, and sampling mixes the two: samples need the whole.)
        """
        if self.epsilon <= depth:
            return self.lattice_law(depth)
        density = exponential(self.epsilon, math.log(0.25), depth)
        return replace(of_atoms(self.atoms()[1:]), densities=(density,), log_lost=SLACK - depth)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses of Laplace outputs."""
        import numpy as np

        e = float(self.epsilon)
        outputs = rng.laplace(0.0, 1.0 / e, size)
        return e * (np.abs(outputs - 1.0) - np.abs(outputs))
