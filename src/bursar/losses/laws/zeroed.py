"""The loss of a sample of fixed size under zero_out: a record becomes null and keeps its place.

Draw m of n records; q = m/n. With probability q the batch holds the record, in somebody's place, and otherwise that
somebody. Between a batch with the record and one with a null record lies one step; between one with the record and one
with that somebody two, over the null record; between one with the null record and one with somebody a single one. By
advanced joint convexity, for ε ≥ 0, with e = ln(1 + (e^ε − 1)/q) and β = e^{ε−e},

    present → null:   δ'(ε) ≤ q·[(1 − β)·δ₂(e) + β·δ₁(e)]
    null → present:   δ'(ε) ≤ q·δ₁(e)

where δ₁ and δ₂ are the profiles of one step and of two. Below 0 each is the other's reverse (proofs/sampling.md §3).
This bounds profiles; the pair that engines compose joins dots of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.losses.laws.table import TableLoss, connect_the_dots
from bursar.losses.places import Law, of_atoms
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, hull, infinity, up, working
from bursar.numerics.convex import falling_convex_minorant

if TYPE_CHECKING:
    from collections.abc import Callable

_DOTS = 50  # in each standard deviation of the larger loss: joining them adds about 1e-4 of its variance
_MOST = 4000
_FARTHEST = 600.0
_BITS = 400
_DEPTHS = 50  # tables are made for multiples of this


def zeroed(near: Loss, far: Loss, rate: Ball) -> Directions:
    """Both directions, from the symmetric losses of one step and of two."""
    return Directions(ZeroedLoss(near, far, rate, True), ZeroedLoss(near, far, rate, False), False)


@dataclass(frozen=True)
class ZeroedLoss(Loss):
    """``present``: the first of the pair has the record, the second a null one; else the other way round."""

    near: Loss
    far: Loss
    rate: Ball
    present: bool

    def _forward(self, x: Ball, present: bool) -> Ball:
        """The bound at ε ≥ 0."""
        inner = (x.expm1() / self.rate).log1p()
        near = self.near.profile(inner)
        if not present:
            return self.rate * near
        share = (x - inner).exp()
        return self.rate * ((1 - share) * self.far.profile(inner) + share * near)

    def profile(self, epsilon: RealLike) -> Ball:
        """The bound; below 0 by reversal."""
        x = ball(epsilon)
        if x >= 0:
            return self._forward(x, self.present)
        if x < 0:
            return -x.expm1() + x.exp() * self._forward(-x, not self.present)
        return hull(self.profile(x.upper()), self.profile(x.lower()))  # it falls

    def support(self) -> tuple[Ball, Ball]:
        """Wherever the larger loss reaches, shrunk."""
        most = self.far.support()[1]
        shrunk = (self.rate * most.expm1()).log1p() if most.is_finite() else infinity()
        return -shrunk, shrunk

    def lattice_law(self, depth: float) -> Law:
        """The pair that joins the dots: it costs no less, in any composition."""
        table = self.dotted(_DEPTHS * math.ceil(depth / _DEPTHS))
        beyond = table.infinite_mass().upper()
        law = of_atoms(table.atoms())
        lost = up(beyond.log()) if beyond > 0 else -math.inf
        return Law(law.losses, law.loss_errors, law.log_masses, law.mass_errors, log_lost=lost)

    @cached_property
    def _known(self) -> dict[float, TableLoss]:
        return {}

    def dotted(self, depth: float) -> TableLoss:
        """A table that dominates, with at most mass e^{−depth} beyond its last dot."""
        if depth not in self._known:
            self._known[depth] = self._joined(depth)
        return self._known[depth]

    def _joined(self, depth: float) -> TableLoss:
        inner = self._dots(depth)
        places = [float((self.rate * arb(e).expm1()).log1p()) for e in inner]
        with working(_BITS):  # masses are second differences of the profile
            corners: list[tuple[Ball, Ball]] = [(arb(0), arb(1))]
            for x in [*(-place for place in reversed(places)), 0.0, *places]:
                corners.append((arb(x).exp(), self.profile(x).upper()))
            return connect_the_dots(falling_convex_minorant(corners))

    def _dots(self, depth: float) -> list[float]:
        """Losses of the larger step, from close to 0 to where its profile is all but gone."""
        reach, most = 0.25, self.far.support()[1]
        while not self.rate * self.far.profile(arb(reach)) <= math.exp(-min(depth, 690.0)) and reach < _FARTHEST:
            reach *= 1.2
        reach = min(reach, up(most)) if most.is_finite() else reach
        step = float(self.far.variance()) ** 0.5 / _DOTS
        return list(np.linspace(0.0, reach, min(math.ceil(reach / step), _MOST) + 1)[1:])

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses of the pair that joins the dots."""
        return self.dotted(40.0).sample(rng, size)

    def _unknown(self) -> NoReturn:
        raise LossUnknown("a sample of fixed size under zero_out is bounded by its profile, not by one pair")

    def cdf(self, x: RealLike) -> Ball:
        """Unknown: only profiles are bounded."""
        self._unknown()

    def mean(self) -> Ball:
        """Unknown, as is the distribution."""
        self._unknown()

    def variance(self) -> Ball:
        """Unknown, as is the distribution."""
        self._unknown()

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """Unknown, as is the distribution."""
        self._unknown()

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """Unknown, as is the distribution."""
        self._unknown()
