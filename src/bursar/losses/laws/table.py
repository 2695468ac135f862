"""The loss of two distributions on finitely many outcomes: randomized responses, leaks, custom tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from flint import acb, arb

from bursar.errors import InputError
from bursar.losses._base import Atom, Loss
from bursar.losses._directions import Directions
from bursar.losses.engines.contour.factors import ClosedFactor
from bursar.losses.engines.hit_parts import Hits, sampled_hits
from bursar.losses.laws.rare_row import around_rare
from bursar.losses.laws.table_rows import Row, problem_of, read_row, sampled_loss
from bursar.losses.places import Comb, Law, of_atoms
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
    positive_part,
    square,
    up,
    working,
)
from bursar.numerics.convex import bends

_FEW = 64  # outcomes; with more the contour engine would spend its time on them


@dataclass(frozen=True)
class TableLoss(Loss):
    """Finitely many outcomes. Zero probabilities are exact zeros: an uncertain ball around 0 is not a zero.

    Both columns are whole laws. What certainly does not sum to 1 is refused, since mass that is missing would be
    privacy that nobody counts; so is a loss that certainly is not ln(P/Q), or that is missing where both are positive.
    Numbers that are no balls are read as everywhere: a float is its shortest decimal, with the binary one beside it.
    """

    rows: tuple[Row, ...]
    origin: tuple[Directions, Ball] | None = field(default=None, kw_only=True, compare=False, repr=False)
    """The pair and the rate whose sample it is, if it is one, of a record removed."""

    def __post_init__(self) -> None:
        with working():
            rows = tuple(read_row(row) for row in self.rows)
            object.__setattr__(self, "rows", rows)
            for number, row in enumerate(rows):
                if problem := problem_of(row):
                    raise InputError(f"row {number} of a table of losses: {problem}", argument="rows")
            self._check_sums()

    def _check_sums(self) -> None:
        for name, column in (("p", [row.p for row in self.rows]), ("q", [row.q for row in self.rows])):
            total = sum(column, arb(0))
            if total < 1 or total > 1:
                raise InputError(
                    f"the probabilities {name} of a table of losses must sum to 1, not {float(total)!r}; give what is "
                    "missing as an outcome of its own, and numbers such as one third as fractions",
                    argument="rows",
                )

    @classmethod
    def of(cls, p: Iterable[Ball], q: Iterable[Ball], losses: Sequence[Ball] | None = None) -> TableLoss:
        """From the two columns; losses may be given where they are known more exactly than as a quotient."""
        rows = []
        for i, (a, b) in enumerate(zip(p, q, strict=True)):
            both = a > 0 and b > 0
            rows.append(Row(a, b, (losses[i] if losses is not None else (a / b).log()) if both else None))
        return cls(tuple(rows))

    def reversed(self) -> TableLoss:
        """The other direction: Q against P."""
        rows = tuple(Row(q, p, None if loss is None else -loss) for p, q, loss in self.rows)
        return replace(self, rows=rows, origin=None)

    def twins(self) -> Twins | None:
        """The tables on either side of one whose largest loss is all but never seen."""
        if (pair := around_rare(self.rows)) is None:
            return None
        low, high = (replace(self, rows=rows, origin=None) for rows in pair)
        return Twins(low, high)

    def profile(self, epsilon: RealLike) -> Ball:
        """Σ (p − e^ε q)₊, as p·(1 − e^{ε−l}) where the loss l is known: above it there is exactly nothing left."""
        x = ball(epsilon)
        open_ended = (p - x.exp() * q for p, q, loss in self.rows if loss is None and p != 0)
        known = (-p * (x - loss).expm1() for p, _, loss in self.rows if loss is not None and not x >= loss)
        return sum(map(positive_part, (*open_ended, *known)), arb(0))

    def cdf(self, x: RealLike) -> Ball:
        """Σ p over the losses up to x."""
        point, result = ball(x), arb(0)
        for row in self.rows:
            if row.loss is None:
                result += 0 if row.q == 0 else hull(arb(0), row.p)
            elif row.loss <= point:
                result += row.p
            elif not row.loss > point:
                result += hull(arb(0), row.p)
        return result

    def support(self) -> tuple[Ball, Ball]:
        """The smallest and the largest finite loss."""
        losses = [row.loss for row in self.rows if row.loss is not None]
        if not losses:
            return -infinity(), -infinity()
        low = high = losses[0]
        for loss in losses[1:]:
            low, high = low.min(loss), high.max(loss)
        return low, high

    def infinite_mass(self) -> Ball:
        """P's mass where Q has none; where Q may have some, it may be none of P's mass or all of it."""
        # a p that may be 0 where Q surely has none is what rounding left of a rest of 0
        alone = [row for row in self.rows if row.loss is None and not (row.q > 0 or row.p <= 0)]
        masses = (p if q == 0 else hull(arb(0), p) for p, q, _ in alone if p > 0 or q.rad() > 0)
        return sum(masses, arb(0))

    def atoms(self) -> tuple[Atom, ...]:
        """Every outcome that both distributions can produce."""
        return tuple(Atom(row.loss, row.p) for row in self.rows if row.loss is not None)

    def mean(self) -> Ball:
        """Σ p·ln(p/q)."""
        if not self.infinite_mass() <= 0:
            return infinity()
        return sum((atom.mass * atom.loss for atom in self.atoms()), arb(0))

    def variance(self) -> Ball:
        """Σ p·(ln(p/q) − mean)²."""
        mean = self.mean()
        if not mean.is_finite():
            return infinity()
        return sum((atom.mass * square(atom.loss - mean) for atom in self.atoms()), arb(0))

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ln Σ p·e^{tL} over the finite losses."""
        z = complex_ball(t)
        return sum((atom.mass * (z * atom.loss).exp() for atom in self.atoms()), acb(0)).log()

    @cached_property
    def _rough_atoms(self) -> list[tuple[float, float]]:
        """Losses and logarithms of their masses, which may be far below any float."""
        return [(float(atom.loss), float(atom.mass.log())) for atom in self.atoms()]

    def rough_cumulant(self, t: float) -> float:
        """K(t) in floats, for searching."""
        heights = [t * loss + mass for loss, mass in self._rough_atoms]
        top = max(heights)
        return top + math.log(math.fsum(math.exp(height - top) for height in heights))

    def expect(self, f: Callable[[ComplexBall, bool], ComplexBall]) -> ComplexBall:
        """E[f(L); L < ∞]."""
        return sum((atom.mass * f(complex_ball(atom.loss), False) for atom in self.atoms()), acb(0))

    def contour_factor(self, count: int, log_delta: float) -> ClosedFactor | None:
        """The closed form where it is short; atoms alone do not decay, so something smooth must stand beside it."""
        return None if len(self.rows) > _FEW else ClosedFactor(self, count)

    def lattice_law(self, depth: float) -> Law:
        """The law of all its atoms: two of them always form a comb."""
        atoms = self.atoms()
        # an outcome that may or may not be P's has no loss of its own: its mass may be missing
        unsure = sum((row.p.upper() for row in self.rows if row.loss is None and row.q > 0 and not row.p <= 0), arb(0))
        law = of_atoms(atoms)
        law = replace(law, log_lost=up(unsure.log())) if unsure > 0 else law
        if len(atoms) != 2:
            return law
        first, second = atoms
        return replace(law, comb=Comb(first.loss, second.loss - first.loss, np.array([0, 1])))

    def table(self) -> TableLoss:
        """The law as it is, since it is a table."""
        return self

    def sampled_pair(self, pair: Directions, rate: Ball) -> Directions:
        """A table again: each outcome has probability (1−q)Q + qP with the record sampled, Q without."""
        if self.origin is not None and (first := self.origin[0].remove.table()) is not None:
            return first.sampled_pair(self.origin[0], self.origin[1] * rate)  # a sample of a sample is one sample
        rows = []
        for p, q, loss in self.rows:
            sample = q + rate * (p - q)
            if loss is not None:
                rows.append(Row(sample, q, sampled_loss(loss, rate)))
            elif q > 0 and sample > 0:  # by Q's outcomes, whether or not P has them
                rows.append(Row(sample, q, (rate * (p / q - 1)).log1p()))
            else:
                rows.append(Row(sample, q, None))
        table = TableLoss(tuple(rows), origin=(pair, rate))
        return both_directions(table, attained=pair.attained)

    def hits(self, clear: float) -> Hits | None:
        """Those of the sample that it is."""
        return None if self.origin is None else sampled_hits(*self.origin, clear)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses of outcomes drawn from P."""
        drawn = [row for row in self.rows if row.p > 0]
        losses = np.array([np.inf if row.loss is None else float(row.loss) for row in drawn])
        weights = np.array([float(row.p) for row in drawn])
        return rng.choice(losses, size=size, p=weights / weights.sum())


def leaky_response(epsilon: Ball, leak: Ball) -> TableLoss:
    """Leaky randomized response, the worst case of (ε, δ): all with probability δ, else truth or lie with odds e^ε."""
    kept, odds = 1 - leak, (-epsilon).exp()
    truth, lie = kept / (1 + odds), positive_part(kept * odds / (1 + odds))
    rows = [Row(truth, lie, epsilon), Row(lie, truth, -epsilon)]
    if not leak <= 0:
        rows += [Row(leak, arb(0), None), Row(arb(0), leak, None)]
    return TableLoss(tuple(rows))


def revealed() -> TableLoss:
    """The pair that tells everything."""
    return TableLoss((Row(arb(1), arb(0), None), Row(arb(0), arb(1), None)))


def both_directions(table: TableLoss, *, attained: bool = True) -> Directions:
    """The table and its reverse."""
    return Directions(table, table.reversed(), attained)


def connect_the_dots(corners: Sequence[tuple[Ball, Ball]]) -> TableLoss:
    """The pair whose profile is the convex falling piecewise linear curve through the corners (e^ε, δ), from (0, 1) on.

    The mass of Q at a corner is the change of slope there, P's is e^ε times that, and what remains of the curve at
    its end is P's mass at infinity. It dominates each pair whose profile lies below the curve (Doroshenko et al. 2022).
    """
    rows, rest = [], arb(1)
    for (t, _), q in zip(corners[1:], bends(corners), strict=True):
        rest -= q
        rows.append(Row(t * q, q, t.log() if q > 0 else None))
    rows.append(Row(arb(0), positive_part(rest), None))
    end = corners[-1][1]
    if not end <= 0:
        rows.append(Row(end, arb(0), None))
    return TableLoss(tuple(rows))
