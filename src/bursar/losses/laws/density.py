"""The loss of two densities on an interval, given as formulas: everything by rigorous integration.

P and Q have densities proportional to the formulas on [low, high]; the interval is cut into cells until the balls can
tell where p exceeds e^ε·q, and what stays undecided after many cuts is counted both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import acb, arb

from bursar.losses._base import Loss
from bursar.losses.laws.table import Row, TableLoss
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, complex_ball, hull, positive_part
from bursar.numerics.formula import Formula
from bursar.numerics.quadrature import real_integral

if TYPE_CHECKING:
    import numpy as np

_DEPTH = 44
_CELLS = 64
_OUTCOMES = 160  # a stretch has as a table
_BUDGET = 400  # cuts in all: where p = e^ε·q on a whole stretch no number of them would decide


class _Covering(TableLoss):
    """A table that costs no less than the pair it stands for: masses that may be 0 count as the most that they may be,
    so that together they may exceed 1.
    """

    def _check_sums(self) -> None:
        pass


@dataclass(frozen=True)
class DensityLoss(Loss):
    """p against q on the interval between the first and the last break."""

    p: Formula
    q: Formula
    breaks: tuple[Ball, ...]

    @cached_property
    def _scales(self) -> tuple[Ball, Ball]:
        return 1 / real_integral(self.p, self.breaks), 1 / real_integral(self.q, self.breaks)

    def positive(self) -> bool:
        """Whether both formulas are certainly positive all over the interval, up to its ends."""
        budget = 4096
        stack = list(pairwise(self.breaks))
        while stack and budget > 0:
            a, b = stack.pop()
            budget -= 1
            if not (self.p.at(hull(a, b)) > 0 and self.q.at(hull(a, b)) > 0):
                middle = ((a + b) / 2).mid()
                stack += [(a, middle), (middle, b)]
        return not stack

    def masses(self) -> tuple[Ball, Ball]:
        """∫p and ∫q before normalising."""
        return real_integral(self.p, self.breaks), real_integral(self.q, self.breaks)

    def _densities(self, x: Ball) -> tuple[Ball, Ball]:
        return self._scales[0] * self.p.at(x), self._scales[1] * self.q.at(x)

    def _where(self, excess: Callable[[Ball, Ball], Ball]) -> tuple[list[tuple[Ball, Ball]], list[tuple[Ball, Ball]]]:
        """The stretches where excess(p, q) is certainly positive, and those where it stays undecided."""
        positive: list[tuple[Ball, Ball]] = []
        unsure: list[tuple[Ball, Ball]] = []
        budget = _BUDGET
        for start, end in reversed(list(pairwise(self.breaks))):
            stack = [
                (start + (end - start) * i / _CELLS, start + (end - start) * (i + 1) / _CELLS, 0) for i in range(_CELLS)
            ]
            while stack:
                a, b, depth = stack.pop()
                sign = excess(*self._densities(hull(a, b)))
                if sign > 0:
                    positive.append((a, b))
                elif not sign <= 0:
                    if depth >= _DEPTH or budget <= 0:
                        unsure.append((a, b))
                    else:
                        budget -= 1
                        middle = ((a + b) / 2).mid()
                        stack += [(a, middle, depth + 1), (middle, b, depth + 1)]
        return positive, unsure

    def profile(self, epsilon: RealLike) -> Ball:
        """∫ (p − e^ε q)₊."""
        odds = ball(epsilon).exp()
        positive, unsure = self._where(lambda p, q: p - odds * q)
        first, second = self._scales

        def gap(x: ComplexBall, analytic: bool) -> ComplexBall:
            return first * self.p(x, analytic) - odds * second * self.q(x, analytic)

        total = sum((real_integral(gap, stretch) for stretch in _joined(positive)), arb(0))
        for a, b in unsure:
            p, q = self._densities(hull(a, b))
            total += hull(arb(0), positive_part(p - odds * q).upper() * (b - a))
        return positive_part(total)

    def cdf(self, x: RealLike) -> Ball:
        """∫ p over {p ≤ e^x q}."""
        odds = ball(x).exp()
        positive, unsure = self._where(lambda p, q: p - odds * q)
        above = sum((self._mass(stretch) for stretch in _joined(positive)), arb(0))
        for stretch in unsure:
            above += hull(arb(0), self._mass(stretch))
        return positive_part(1 - above)

    def _mass(self, stretch: tuple[Ball, Ball]) -> Ball:
        return self._scales[0] * real_integral(self.p, stretch)

    def support(self) -> tuple[Ball, Ball]:
        """Balls around the smallest and the largest loss, from a fine partition of the interval."""
        cells = []
        for start, end in pairwise(self.breaks):
            cells += [(start + (end - start) * i / 1024, start + (end - start) * (i + 1) / 1024) for i in range(1024)]
        seen = []
        for a, b in cells:
            p, q = self._densities(hull(a, b))
            seen.append((p / q).log())
        low, high = seen[0], seen[0]
        for loss in seen[1:]:
            low, high = low.min(loss), high.max(loss)
        return low, high

    @cached_property
    def tables(self) -> tuple[TableLoss, TableLoss]:
        """Two tables around the pair. The first merges each cell of the interval into one outcome, so it is the pair
        processed; the second moves each cell's mass to the ends of its loss's range, both masses kept, so the pair is
        that one processed.
        """
        below, above = [], []
        for start, end in pairwise(self.breaks):
            for i in range(_OUTCOMES):
                a, b = start + (end - start) * i / _OUTCOMES, start + (end - start) * (i + 1) / _OUTCOMES
                p, q = self._scales[0] * real_integral(self.p, (a, b)), self._scales[1] * real_integral(self.q, (a, b))
                below.append(Row(p, q, (p / q).log()))
                above += self._ends(p, q, hull(a, b))
        return TableLoss(tuple(below)), _Covering(tuple(above))

    def bracket(self) -> tuple[TableLoss, TableLoss]:
        """The two `tables` around the pair."""
        return self.tables

    def _ends(self, p: Ball, q: Ball, cell: Ball) -> list[Row]:
        """A cell's masses at the ends of its loss's range."""
        over, under = self._densities(cell)
        span = (over / under).log()
        low, high = span.lower(), span.upper()
        width = high - low
        if not width > arb(2) ** -40:
            return [Row(p, q, (p / q).log())]
        up = (p - low.exp() * q) / -(-width).expm1()
        rows = []
        for mass, loss in ((p - up, low), (up, high)):
            # a mass that may be 0 counts as the most that it may be
            kept = mass if mass > 0 else arb(positive_part(mass).upper())
            if kept > 0:
                rows.append(Row(kept, kept * (-loss).exp(), loss))
        return rows

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
            # a wide ball in good time is worth more here than a narrow one after minutes
            total += acb.integral(integrand, start, end, rel_tol=arb(2) ** -100, eval_limit=3000)
        return total

    @cached_property
    def _rough_table(self) -> tuple[list[float], list[float]]:
        """Losses and masses on a grid, in floats."""
        losses, masses = [], []
        for start, end in pairwise(self.breaks):
            for i in range(256):
                x = start + (end - start) * (2 * i + 1) / 512
                p, q = self._densities(x.mid())
                losses.append(float((p / q).log()))
                masses.append(float(p * (end - start) / 256))
        return losses, masses

    def rough_renyi(self, alpha: float) -> float:
        """D_α by the midpoint rule, for searching."""
        losses, masses = self._rough_table
        top = max(losses)
        total = math.fsum(m * math.exp((alpha - 1) * (loss - top)) for loss, m in zip(losses, masses, strict=True))
        return top + math.log(total) / (alpha - 1) if total > 0 else top

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses by inverting the cdf on a fine grid."""
        import numpy as np

        grid = np.linspace(float(self.breaks[0]), float(self.breaks[-1]), 4097)
        values = [self._densities(arb(float(x))) for x in grid]
        p, q = (np.array([float(pair[i]) for pair in values]) for i in (0, 1))
        cumulative = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2)])
        x = np.interp(rng.random(size) * cumulative[-1], cumulative, grid)
        losses: Array = np.log(np.interp(x, grid, p) / np.interp(x, grid, q))
        return losses


def _joined(stretches: list[tuple[Ball, Ball]]) -> list[tuple[Ball, Ball]]:
    """Neighbouring stretches as one, so that each is integrated once."""
    ordered = sorted(stretches, key=lambda stretch: float(stretch[0]))
    result: list[tuple[Ball, Ball]] = []
    for a, b in ordered:
        if result and result[-1][1] == a:
            result[-1] = (result[-1][0], b)
        else:
            result.append((a, b))
    return result
