"""Several different samples of Gaussians that show themselves: hits of all kinds together are one Gaussian.

With n_i hits of the i-th kind, of chance p_i(n_i), all hits together are one Gaussian with M² = Σ n_i·μ_i², so

    δ(ε) = Σ_n Π p_i(n_i)·δ_M(ε − what these hits and all misses cost by their constants),

each kind's doubts being factors as in `hits` (proofs/hits.md §8). Floats say which numbers may be left out, balls sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from bursar.guarantees.gdp import far_gaussian_delta
from bursar.losses.engines import hit_numbers, hits
from bursar.losses.engines.answer import Answer, Losses, both
from bursar.losses.engines.hit_parts import missed
from bursar.losses.engines.hit_totals import Total, total_of
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, down, hull, positive_part, up, working
from bursar.numerics.products import product
from bursar.numerics.search import crossing

_BITS = 160
_CLOSE = 1e-3  # of the width asked: closer than this nobody looks
_MOST_KINDS, _MOST = 6, 300_000  # kinds, and combinations of their numbers
_SUMMED = 4000  # combinations that are summed in balls
_LEFT_OUT = 24.0  # in logarithms, below δ: what all that is left out may have together
_FLOAT = 2.0**-48  # relative: more than what a few operations on floats round by


def epsilon_at(losses: Losses, delta: Ball, width: float) -> Answer | None:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ; None where some kind does not show itself, or too many numbers matter."""
    if len(losses) == 1:
        return hits.epsilon_at(losses, delta, width)
    if not 1 < len(losses) <= _MOST_KINDS or not 0 < delta < 1:
        return None
    with working(_BITS):
        kinds = [total_of([one], delta) for one in losses]
        shown = [kind for kind in kinds if kind is not None]
        if len(shown) < len(kinds):
            return None
        found = _of_gaussians(shown, delta, width)
        if found is not None and found.width <= width:
            return found
        other = hit_numbers.epsilon_at(shown, delta)
    return both(found, other) if found is not None and other is not None else found or other


def _of_gaussians(totals: list[Total], delta: Ball, width: float) -> Answer | None:
    """The answer where all hits are Gaussian, by a sum in balls; None elsewhere."""
    kinds = []
    for kind in totals:
        like = kind.parts.base.likeness()
        if like is None or like.noise is not None:
            return None
        kinds.append((kind, like.mu_square))
    if math.prod(kind.top + 1 for kind, _ in kinds) > _MOST:
        return None
    mixed = Mixed(kinds, delta)
    scale = max((kind.scale() for kind, _ in kinds), key=float)
    try:
        ends = crossing(lambda x: mixed.around(arb(x) * scale), delta, close=_CLOSE * width)
    except TooMany:
        return None
    low, high = down(arb(ends.lower) * scale), up(arb(ends.upper) * scale)
    return Answer(low, high, (), "hits", mixed.summed, 0.0) if high < math.inf else None


def delta_at(losses: Losses, epsilon: Ball) -> Answer | None:
    """The ends of δ(ε) of copies of one sample; None where hits and misses are not told apart."""
    return hits.delta_at(losses, epsilon)


class TooMany(Exception):
    """More combinations matter than are summed."""


class Mixed:
    """Kinds of samples, each with the μ² of its hits, at δ's of this size and above."""

    def __init__(self, kinds: list[tuple[Total, Ball]], delta: Ball) -> None:
        self.kinds, self.delta, self.summed = kinds, delta, 0
        self.depth = -float(delta.log())
        self.slack = sum((kind.slack for kind, _ in kinds), arb(0))
        self.beyond = 2 * sum((kind.tail(kind.top) for kind, _ in kinds), arb(0))  # whatever the others do
        axes = [np.arange(kind.top + 1) for kind, _ in kinds]
        self.numbers = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        self.chance = self._floats(lambda kind, n: float(kind.chance(n).log() + n * kind.more))
        # in units of the largest cost, so that no square leaves the range of floats
        self.unit = max((kind.scale() for kind, _ in kinds), key=float)
        self.offset = self._floats(lambda kind, n: float(kind.offset(n) / self.unit))
        self.square = product(self.numbers, np.array([float(mu / self.unit) for _, mu in kinds]))

    def _floats(self, of: Callable[[Total, int], float]) -> Array:
        columns = []
        for i, (kind, _) in enumerate(self.kinds):
            values = np.array([of(kind, n) for n in range(kind.top + 1)])
            columns.append(values[self.numbers[:, i]])
        found: Array = np.sum(columns, axis=0)
        return found

    def _heights(self, epsilon: Ball) -> Array:
        """ln of an upper bound of each combination's part of δ: δ_M(x) ≤ Φ(a) ≤ e^{−a²/2} where a < 0."""
        x = float(epsilon / self.unit) - self.offset
        unsure = float(self.slack / self.unit) + _FLOAT * (
            abs(float(epsilon / self.unit)) + np.abs(self.offset) + self.square
        )
        # a = M/2 − x/M: −a·M = x − M²/2, all in these units
        short = np.maximum(x - self.square / 2 - unsure, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            falls = np.where(self.square > 0, short * (short / self.square) * float(self.unit), np.inf * (short > 0))
        falls = np.nan_to_num(falls, nan=0.0, posinf=1e300)
        return np.asarray(self.chance + _FLOAT * np.abs(self.chance) + 1e-6 - falls / 2)

    def around(self, epsilon: Ball) -> Ball:
        """A ball that holds δ(ε); where δ(ε) is more than twice the δ asked, one that lies below it does."""
        heights = self._heights(epsilon)
        order = np.argsort(-heights)
        room = -self.depth - _LEFT_OUT - math.log(len(order))
        kept = order[: int(np.searchsorted(-heights[order], -room))]
        if len(kept) > _SUMMED:
            raise TooMany
        self.summed = max(self.summed, len(kept))
        low, high = arb(0), self.beyond + (self.delta * arb(-_LEFT_OUT).exp())
        for row in self.numbers[kept].tolist():
            least, most, value = self._part(row, epsilon)
            high += most * value.upper()
            low += least * positive_part(value.lower())
            if low > 2 * self.delta:
                return low
        return hull(positive_part(low.lower()), (self.slack.exp() * high).upper())

    def _part(self, row: list[int], epsilon: Ball) -> tuple[Ball, Ball, Ball]:
        """The least and the most that a combination weighs, and its δ."""
        square, x, least, most = arb(0), epsilon, arb(1), arb(1)
        for (kind, mu), n in zip(self.kinds, row, strict=True):
            parts = kind.parts
            square, x = square + n * mu, x - kind.offset(n)
            certain = n * (-parts.short_hit).log1p() + (kind.count - n) * (-parts.short_miss).log1p()
            least, most = least * kind.chance(n) * certain.exp(), most * kind.chance(n) * (n * kind.more).exp()
        if not any(row):
            return least, most, missed(x, self.slack, quiet=all(kind.parts.quiet for kind, _ in self.kinds))
        return least, most, far_gaussian_delta(square.sqrt(), x + arb(0, self.slack.upper()))
