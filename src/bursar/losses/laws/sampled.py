"""The loss of a mechanism that sees each record only with probability q (Poisson sampling), from its base's loss.

With the record present with probability q the pair is ((1−q)Q + qP, Q): removing the record, L' = ln(1 − q + q·e^L);
adding it, the reverse. For profiles this is exact algebra:

    remove:  δ'(x) = q·δ_{P‖Q}(ln(1 + (e^x − 1)/q))                       for x > ln(1−q), else 1 − e^x
    add:     δ'(x) = (1 − (1−q)e^x)·δ_{Q‖P}(−ln(1 + (e^{−x} − 1)/q))      for x < −ln(1−q), else 0

The add form is the remove form reversed. Sources: Zhu, Dong and Wang 2022, Thm 11; Balle, Barthe and Gaboardi 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flint import arb

from bursar.losses._base import Atom, Loss
from bursar.losses._directions import Directions, symmetric
from bursar.losses.engines.hit_parts import Hits, Sample, sampled_hits, sampled_tail
from bursar.losses.engines.lattice.sampled import sampled as sampled_law
from bursar.losses.laws.table_rows import sampled_loss
from bursar.losses.places import Law
from bursar.losses.twins import Twins, sampled_twins
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, complex_ball, hull, positive_part

if TYPE_CHECKING:
    import numpy as np

    from bursar.losses.laws.table import TableLoss


@dataclass(frozen=True)
class _Sampled(Loss):
    base: Directions
    rate: Ball

    def _shrink(self, loss: Ball) -> Ball:
        """ln(1 − q + q·e^l), also at infinite l."""
        if loss.is_finite():
            return sampled_loss(loss, self.rate)
        return (-self.rate).log1p() if loss < 0 else arb("inf")

    def _grow(self, excess: Ball) -> Ball:
        """The base loss behind e^{l'} − 1 = excess: ln(1 + excess/q)."""
        return (excess / self.rate).log1p()

    def bracket(self) -> tuple[Loss, Loss] | None:
        """The base's, sampled: domination survives sampling."""
        pairs = self.base.bracket()
        return None if pairs is None else (replace(self, base=pairs[0]), replace(self, base=pairs[1]))

    def twins(self) -> Twins | None:
        """Samples of the base's."""
        return sampled_twins(self.base, lambda law: self._side(poisson_sampled(symmetric(law), self.rate)))

    def _side(self, pair: Directions) -> Loss:
        return pair.remove if isinstance(self, SampledRemove) else pair.add

    def sampled_pair(self, pair: Directions, rate: Ball) -> Directions | None:
        """A sample of a sample is one sample, at the product of the rates."""
        return poisson_sampled(self.base, self.rate * rate)

    def strategy(self, share: float) -> TableLoss | None:
        """The base's, sampled, in this direction."""
        table = self.base.remove.strategy(share)
        if table is None:
            return None
        pair = table.sampled_pair(Directions(table, table.reversed(), True), self.rate)
        return self._side(pair).table()

    def gaussian_noise(self) -> bool:
        """Whether the base has one Gaussian law in both directions."""
        return self.base.same and self.base.remove.gaussian_noise()

    def mean(self) -> Ball:
        """E[L], by integrating over the base's loss."""
        return self.expect(lambda x, _: x).real if self.infinite_mass() <= 0 else arb("inf")

    def variance(self) -> Ball:
        """Var[L], by integrating over the base's loss."""
        mean = self.mean()
        return self.expect(lambda x, _: (x - mean) * (x - mean)).real if mean.is_finite() else arb("inf")

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln E[e^{tL}; L < ∞], by integrating over the base's loss."""
        z = complex_ball(t)
        return self.expect(lambda x, _: (z * x).exp()).log()


class SampledRemove(_Sampled):
    """The direction in which the record is removed."""

    def sample_of(self) -> Sample:
        """The base, at this rate."""
        return Sample(self.base.remove, self.rate)

    def profile(self, epsilon: RealLike) -> Ball:
        """See the module's first formula."""
        x = ball(epsilon)
        excess = x.expm1()
        if excess > -self.rate:
            return self.rate * self.base.remove.profile(self._grow(excess))
        outside = positive_part(-excess)
        # Below ln(1−q) the profile is 1 − e^x; where the balls reach across, it is at least that and at most q.
        return outside if excess <= -self.rate else hull(outside, self.rate.upper())

    def cdf(self, x: RealLike) -> Ball:
        """(1−q)·Q(L ≤ y) + q·P(L ≤ y) at the base loss y behind x."""
        excess = ball(x).expm1()
        if excess < -self.rate:
            return arb(0)
        if not excess > -self.rate:
            return hull(arb(0), arb(1))
        y = self._grow(excess)
        return (1 - self.rate) * (1 - self.base.add.below(-y)) + self.rate * self.base.remove.cdf(y)

    def tail(self, x: RealLike) -> Ball:
        """P(L > x), with all digits where it is small."""
        return sampled_tail(self.base, self.rate, ball(x))

    def support(self) -> tuple[Ball, Ball]:
        """The base's range, shrunk; down to ln(1−q) where the base may reveal absence."""
        low, high = self.base.remove.support()
        floor = (-self.rate).log1p()
        return (floor if not self.base.add.infinite_mass() <= 0 else self._shrink(low)), self._shrink(high)

    def infinite_mass(self) -> Ball:
        """q times the base's."""
        return self.rate * self.base.remove.infinite_mass()

    def atoms(self) -> tuple[Atom, ...]:
        """The base's atoms, shrunk, with mass (1−q)Q + qP = P·((1−q)e^{−L} + q)."""
        inner = [
            Atom(self._shrink(loss), mass * ((1 - self.rate) * (-loss).exp() + self.rate))
            for loss, mass in self.base.remove.atoms()
        ]
        absent = self.base.add.infinite_mass()
        return tuple(inner) if absent <= 0 else (*inner, Atom((-self.rate).log1p(), (1 - self.rate) * absent))

    def top(self, spare: Ball | None = None) -> Atom | None:
        """The base's, shrunk and weighed as all its atoms are: less, where the loss is above 0."""
        if self.base.remove.atoms():
            return super().top(spare)
        atom = self.base.remove.top(spare)
        if atom is None or not atom.loss > 0:
            return None
        return Atom(self._shrink(atom.loss), atom.mass * ((1 - self.rate) * (-atom.loss).exp() + self.rate))

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E_P[f(L')·((1−q)e^{−L} + q)], and the mass that only Q has."""
        rate = self.rate

        def under_base(x: ComplexBall, analytic: bool) -> ComplexBall:
            odds = 1 - rate + rate * x.exp()
            return f(odds.log(analytic=analytic), analytic) * odds * (-x).exp()

        absent = (1 - rate) * self.base.add.infinite_mass()
        return self.base.remove.expect(under_base) + absent * f(complex_ball((-rate).log1p()), False)

    def lattice_law(self, depth: float) -> Law | None:
        """The base's, each place moved and each mass weighed."""
        base = self.base.remove.lattice_law(depth)
        return None if base is None else sampled_law(base, self.rate, self.base.add.infinite_mass(), removed=True)

    def hits(self, clear: float) -> Hits | None:
        """The base's loss where the record took part, next to nothing where not."""
        return sampled_hits(self.base, self.rate, clear)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Present with probability q, then the base's loss, shrunk."""
        import numpy as np

        present = rng.random(size) < float(self.rate)
        base = np.where(present, self.base.remove.sample(rng, size), -self.base.add.sample(rng, size))
        return np.log1p(float(self.rate) * np.expm1(base))


class SampledAdd(_Sampled):
    """The direction in which the record is added."""

    def profile(self, epsilon: RealLike) -> Ball:
        """See the module's second formula."""
        x = ball(epsilon)
        excess = (-x).expm1()
        if excess > -self.rate:
            return positive_part(1 - (1 - self.rate) * x.exp()) * self.base.add.profile(-self._grow(excess))
        return arb(0) if excess <= -self.rate else positive_part(hull(arb(0), 1 - (1 - self.rate) * x.exp()))

    def cdf(self, x: RealLike) -> Ball:
        """Q(L ≤ y) at the base's reversed loss y behind x; 1 from −ln(1−q) on."""
        excess = (-ball(x)).expm1()
        if not excess > -self.rate:
            return arb(1) if excess <= -self.rate else hull(arb(0), arb(1))
        return self.base.add.cdf(-self._grow(excess))

    def support(self) -> tuple[Ball, Ball]:
        """The base's reversed range, shrunk; up to −ln(1−q) where the base may reveal absence."""
        low, high = self.base.add.support()
        ceiling = -(-self.rate).log1p()
        return -self._shrink(-low), (ceiling if not self.base.add.infinite_mass() <= 0 else -self._shrink(-high))

    def atoms(self) -> tuple[Atom, ...]:
        """The base's reversed atoms, shrunk; its infinite ones become finite."""
        inner = tuple(Atom(-self._shrink(-loss), mass) for loss, mass in self.base.add.atoms())
        absent = self.base.add.infinite_mass()
        return inner if absent <= 0 else (*inner, Atom(-(-self.rate).log1p(), absent))

    def top(self, spare: Ball | None = None) -> Atom | None:
        """What was infinite before sampling, else the base's, shrunk."""
        if self.base.add.atoms():
            return super().top(spare)
        absent = self.base.add.infinite_mass()
        if not absent <= 0:
            return Atom(-(-self.rate).log1p(), absent)
        atom = self.base.add.top(spare)
        return None if atom is None else Atom(-self._shrink(-atom.loss), atom.mass)

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E_Q[f(−ln(1 − q + q·e^{−L}))], and the mass that only Q has."""
        rate = self.rate

        def under_base(x: ComplexBall, analytic: bool) -> ComplexBall:
            return f(-(1 - rate + rate * (-x).exp()).log(analytic=analytic), analytic)

        absent = self.base.add.infinite_mass()
        return self.base.add.expect(under_base) + absent * f(complex_ball(-(-rate).log1p()), False)

    def lattice_law(self, depth: float) -> Law | None:
        """The base's, each place moved."""
        base = self.base.add.lattice_law(depth)
        return None if base is None else sampled_law(base, self.rate, self.base.add.infinite_mass(), removed=False)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """The base's reversed loss, shrunk."""
        import numpy as np

        return np.negative(np.log1p(float(self.rate) * np.expm1(-self.base.add.sample(rng, size))))


def sampled(base: Directions, rate: Ball) -> Directions:
    """Both directions, by the algebra of profiles, which holds for any pair."""
    return Directions(SampledRemove(base, rate), SampledAdd(base, rate), base.attained, base.pointwise)


def poisson_sampled(base: Directions, rate: Ball) -> Directions:
    """The same in the form that the base's own law knows best."""
    return base.remove.sampled_pair(base, rate) or sampled(base, rate)
