"""The loss of two densities on an interval, given as formulas.

P and Q have densities proportional to the formulas on [low, high]. Where their logarithms are analytic the interval is
cut into panels on which it is known how far they move (`density_cut`): quadrature in floats with proved bounds, which
the envelope engine composes, and a search for the places where p exceeds e^ε·q. Else everything is rigorous
integration, and what stays undecided after many cuts is counted both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from flint import acb, arb

from bursar.losses._base import Atom, Loss
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.laws.density_cut import cut
from bursar.losses.laws.density_panels import Panelled, panelled
from bursar.losses.laws.density_stretches import Stretch, joined, mass, positive, where
from bursar.losses.laws.density_tables import tables
from bursar.losses.laws.table import TableLoss
from bursar.losses.places import Law
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
    minimum,
    positive_part,
    working,
)
from bursar.numerics.formula import Formula
from bursar.numerics.products import summed
from bursar.numerics.quadrature import real_integral
from bursar.numerics.running import running

_PIECES = 32  # of an interval whose integral does not converge as a whole


@dataclass(frozen=True)
class DensityLoss(Loss):
    """p against q on the interval between the first and the last break."""

    p: Formula
    q: Formula
    breaks: tuple[Ball, ...]
    other: DensityLoss | None = field(default=None, repr=False, compare=False)
    """The law of the same pair the other way round, which shares its work."""
    _panel_masses: dict[int, tuple[Ball, Ball]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _masses(self) -> tuple[Ball, Ball]:
        if self.other is not None:
            return self.other._masses[1], self.other._masses[0]
        return real_integral(self.p, self.breaks), real_integral(self.q, self.breaks)

    def masses(self) -> tuple[Ball, Ball]:
        """∫p and ∫q before normalising."""
        return self._masses

    @cached_property
    def _scales(self) -> tuple[Ball, Ball]:
        return 1 / self._masses[0], 1 / self._masses[1]

    @cached_property
    def panels(self) -> Panelled | None:
        """The pair on panels; None where they would be too many."""
        if self.other is not None:
            return None if self.other.panels is None else self.other.panels.reversed()
        with working():
            found = cut(self.p, self.q, self.breaks)
            return None if found is None else panelled(found, *self._scales)

    @property
    def _factor(self) -> PointsFactor | None:
        return None if self.panels is None else self.panels.factor

    def positive(self) -> bool:
        """Whether both formulas are certainly positive all over the interval, up to its ends."""
        return positive((self.p, self.q), self.breaks)

    def _densities(self, x: Ball) -> tuple[Ball, Ball]:
        return self._scales[0] * self.p.at(x), self._scales[1] * self.q.at(x)

    def _above(self, epsilon: Ball) -> tuple[Ball, Ball, list[tuple[Stretch, Ball]]]:
        """∫p and ∫q, before normalising, over where the loss certainly exceeds ε; and the stretches where it may, with
        by how much at most.
        """
        whole: list[int] = []
        if self.panels is not None:
            whole, sure, unsure = self.panels.above(epsilon)
        else:
            sure, unsure = where(self._densities, self.breaks, epsilon)
        parts = [self._panel_mass(i) for i in whole]
        parts += [(mass(self.p, stretch), mass(self.q, stretch)) for stretch in joined(sure)]
        return sum((p for p, _ in parts), arb(0)), sum((q for _, q in parts), arb(0)), unsure

    def _panel_mass(self, i: int) -> tuple[Ball, Ball]:
        """∫p and ∫q over a panel, or over a sliver."""
        if self.other is not None:
            return self.other._panel_mass(i)[::-1]
        if i not in self._panel_masses and self.panels is not None:
            a, b = self.panels.cut.ends[i] if i >= 0 else self.panels.cut.slivers[-1 - i]
            ways = [mass(f, (a, b)) if i >= 0 else f.at(hull(a, b)) * (b - a) for f in (self.p, self.q)]
            self._panel_masses[i] = ways[0], ways[1]
        return self._panel_masses[i]

    def profile(self, epsilon: RealLike) -> Ball:
        """∫ (p − e^ε q)₊."""
        odds = ball(epsilon).exp()
        p, q, unsure = self._above(ball(epsilon))
        total = positive_part(self._scales[0] * p - odds * self._scales[1] * q)
        # p − e^ε·q = p·(1 − e^{ε−L}), and 1 − e^{−y} is at most y
        for (a, b), over in unsure:
            most = positive_part(over).min(arb(1)) if over.is_finite() else arb(1)
            total += hull(arb(0), (self._densities(hull(a, b))[0] * (b - a) * most).upper())
        return positive_part(total)

    def cdf(self, x: RealLike) -> Ball:
        """∫ p over {p ≤ e^x q}."""
        above, _, unsure = self._above(ball(x))
        tail = self._scales[0] * above
        for stretch, _ in unsure:
            tail += hull(arb(0), self._scales[0] * mass(self.p, stretch))
        return positive_part(1 - tail)

    def top(self, spare: Ball | None = None) -> Atom | None:
        """What balls need not tell from the largest loss, and how likely it is."""
        return self._top

    @cached_property
    def _top(self) -> Atom | None:
        high = self.support()[1]
        if not high.is_finite():
            return None
        least = arb(high.lower()) - arb(2) ** -24 * abs(high).upper()
        above, _, unsure = self._above(least)
        rest = sum((hull(arb(0), mass(self.p, stretch)) for stretch, _ in unsure), arb(0))
        return Atom(hull(least, arb(high.upper())), self._scales[0] * (above + rest))

    def support(self) -> tuple[Ball, Ball]:
        """Balls around the smallest and the largest loss."""
        return self._support

    @cached_property
    def _support(self) -> tuple[Ball, Ball]:
        if self.other is not None:
            low, high = self.other._support
            return -high, -low
        if self.panels is not None and self.panels.support is not None:
            return self.panels.support
        seen = []
        for start, end in pairwise(self.breaks):
            for i in range(1024):
                p, q = self._densities(start + (end - start) * hull(arb(i), arb(i + 1)) / 1024)
                seen.append((p / q).log())
        return minimum(*seen), maximum(*seen)

    def lattice_law(self, depth: float) -> Law | None:
        """Panels, where there are any: for the envelope engine."""
        return None if self._factor is None else self._factor.law

    @cached_property
    def tables(self) -> tuple[TableLoss, TableLoss]:
        """Two tables around the pair, one that costs no more and one that costs no less."""
        return tables(self.p, self.q, self._scales, self.breaks)

    def bracket(self) -> tuple[TableLoss, TableLoss]:
        """The two `tables` around the pair."""
        return self.tables

    def mean(self) -> Ball:
        """∫ p·ln(p/q)."""
        return self.expect(lambda loss, _: loss).real

    def variance(self) -> Ball:
        """∫ p·(ln(p/q) − mean)²."""
        mean = self.mean()
        return self.expect(lambda loss, _: (loss - mean) * (loss - mean)).real

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln ∫ p·e^{tL}."""
        z = complex_ball(t)
        return self.expect(lambda loss, _: (z * loss).exp()).log()

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """∫ p·f(ln(p/q))."""
        first, second = self._scales

        def integrand(x: ComplexBall, analytic: bool) -> ComplexBall:
            p, q = first * self.p(x, analytic), second * self.q(x, analytic)
            return p * f((p / q).log(analytic=analytic), analytic)

        total = acb(0)
        for start, end in pairwise(self.breaks):
            found = _integral(integrand, start, end, 1)
            total += found if found.is_finite() else _integral(integrand, start, end, _PIECES)
        return total

    def rough_renyi(self, alpha: float) -> float:
        """D_α in floats, for searching: from the places on panels, else by the midpoint rule."""
        if self._factor is not None:
            return self._factor.rough(alpha - 1)[0] / (alpha - 1)
        losses, masses = self._rough_table
        top = float(losses.max())
        total = summed(masses, np.exp((alpha - 1) * (losses - top)))
        return top + math.log(total) / (alpha - 1) if total > 0 else top

    @cached_property
    def _rough_table(self) -> tuple[Array, Array]:
        """Losses and masses on a grid, in floats."""
        edges = [np.linspace(float(a), float(b), 257) for a, b in pairwise(self.breaks)]
        widths = np.concatenate([np.diff(edge) for edge in edges])
        x = np.concatenate([edge[:-1] for edge in edges]) + widths / 2
        p, q = self._rough_densities(x)
        return np.log(p / q), p * widths

    def _rough_densities(self, x: Array) -> tuple[Array, Array]:
        """Both densities in floats."""
        first, second = (np.maximum(running(formula.term, x)[0], 1e-300) for formula in (self.p, self.q))
        return float(self._scales[0]) * first, float(self._scales[1]) * second

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses by inverting the cdf on a fine grid."""
        grid = np.linspace(float(self.breaks[0]), float(self.breaks[-1]), 4097)
        p, q = self._rough_densities(grid)
        cumulative = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2)])
        x = np.interp(rng.random(size) * cumulative[-1], cumulative, grid)
        losses: Array = np.log(np.interp(x, grid, p) / np.interp(x, grid, q))
        return losses


def _integral(f: Callable[[ComplexBall, bool], ComplexBall], start: Ball, end: Ball, pieces: int) -> ComplexBall:
    """∫f in pieces, on each of which a wide ball in good time is worth more than a narrow one much later."""
    places = [start + (end - start) * step / pieces for step in range(pieces)] + [end]
    parts = (acb.integral(f, a, b, rel_tol=arb(2) ** -100, eval_limit=3000) for a, b in pairwise(places))
    return sum(parts, acb(0))
