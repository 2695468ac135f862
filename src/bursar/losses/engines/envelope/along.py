"""δ at many ε's, asked of the envelope engine: few lines, each of which serves all the ε's around its own.

The sums at a tilt τ show δ(ε) times e^{(what the Chernoff bound at τ exceeds the least one by)}: as long as that is a
modest factor, the same moments serve. So each line is put where it serves the most ε's that are left; those that lie
too close to an atom for it are left to finer ones. Floats choose; every answer is proved where it is read (`many`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.contour.factors import Factor
from bursar.losses.engines.envelope.choice import spacing_for, start_of
from bursar.losses.engines.envelope.comb import Combed
from bursar.losses.engines.envelope.engine import Envelope, Line
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.gathering import factors_of
from bursar.losses.engines.envelope.many import ends_at
from bursar.losses.engines.envelope.points import NoEnvelope, TooMany
from bursar.numerics.arrays import CALM, Array, Integers, Truths
from bursar.numerics.balls import down, up
from bursar.numerics.lattice import short

_START = math.log(1e-9)
_REACH = (5.5, 3.0, 3.0, 2.0)  # by which factor, as a logarithm, δ may be below what a line is made for; by round
_ENOUGH = (1.0, 3.0, 10.0, 100.0)  # how many times as wide as asked does not ask for another round
_FINER = (1.0, 4.0, 16.0, 256.0)  # by how much the width asked falls with each round
_MOSTLY, _LOOKED_AT = 0.95, 16  # of the most ε's that a line could serve; rungs to choose from
_SHARE = 0.2  # of the width: how far apart the polynomials may lie on the average
_ALIASES = 0.1  # of the width: what aliases may take
_BELOW = 3.0  # by how much, as a logarithm, δ may lie below its Chernoff bound
_GENTLE = 1.1  # times the shortest period
_RUNGS = 96


@CALM
def deltas_at(losses: Losses, epsilons: Sequence[float], width: float, most: int) -> list[Answer | None]:
    """δ at each ε, as narrow as asked where that can be had; None where nothing is proved."""
    places = np.array(epsilons, dtype=np.float64)
    order = np.argsort(places)
    found = _Along(losses, places[order], width, most).answers()
    return [found[i] for i in np.argsort(order).tolist()]


class _Along:
    """What is known at each ε so far."""

    def __init__(self, losses: Losses, epsilons: Array, width: float, most: int) -> None:
        self.losses, self.epsilons, self.width, self.most = losses, epsilons, width, most
        self.leak = leak_of(losses)
        self.lower, self.upper = np.zeros(len(epsilons)), np.full(len(epsilons), math.inf)
        self.nodes, self.tilts = np.zeros(len(epsilons), dtype=np.int64), np.ones(len(epsilons))
        top = sum((count * loss.support()[1] for loss, count in losses), arb(0))
        beyond = np.array([bool(top <= x) for x in epsilons.tolist()], dtype=bool)
        self.lower[beyond], self.upper[beyond] = max(down(self.leak), 0.0), up(self.leak)
        self.depth, self.factors = math.inf, list[Factor]()

    def answers(self) -> list[Answer | None]:
        """Round by round, those that are still wide."""
        for turn, reach in enumerate(_REACH):
            left = np.flatnonzero(self._wide(_ENOUGH[turn]))
            if not len(left):
                break
            if turn == 0:
                self._survey(left)
            self._round(left, reach, self.width / _FINER[turn])
        columns = (column.tolist() for column in (self.lower, self.upper, self.nodes, self.tilts))
        rows = zip(*columns, strict=True)
        return [
            Answer(low, high, (), "envelope", nodes, tilt) if high <= 1 else None for low, high, nodes, tilt in rows
        ]

    def _wide(self, times: float = 1.0) -> Truths:
        return ~((self.upper - self.lower <= times * self.width * self.upper) & (self.upper <= 1))

    def _survey(self, left: Integers) -> None:
        """Chernoff bounds of δ at every ε along a ladder of tilts, from the one that suits the first to the last's."""
        factors = self._deep(_START)
        rungs = start_of(factors) * np.geomspace(1e-6, 1e8, 113)
        for _ in range(2):
            heights = sum(factor.rough_cumulants(rungs) for factor in factors)
            heights = np.where(np.isfinite(heights), heights, np.inf) - np.log1p(rungs) - rungs * np.log1p(1 / rungs)
            bounds = heights[:, None] - rungs[:, None] * self.epsilons
            best = rungs[np.argmin(bounds[:, left], axis=0)]
            self.rungs, self.heights, self.bounds = rungs, heights, bounds
            rungs = np.geomspace(0.2 * float(best.min()), 5 * float(best.max()), _RUNGS)
        self.least = np.minimum(self.bounds.min(axis=0), 0.0)

    def _deep(self, log_delta: float) -> list[Factor]:
        """The factors for δ's down to this size."""
        if log_delta < self.depth:
            self.depth = log_delta
            self.factors = factors_of(self.losses, log_delta)
        return self.factors

    def _round(self, left: Integers, reach: float, goal: float) -> None:
        """Lines until each of these ε's was within reach of one."""
        untried = np.zeros(len(self.epsilons), dtype=bool)
        untried[left] = True
        near = self.bounds - self.least <= reach
        near[0] = near[-1] = False  # tilts on either side are needed
        while untried.any():
            first = int(np.flatnonzero(untried)[0])
            served = near & untried
            counts = np.where(near[:, first], served.sum(axis=1), 0)
            at = self._cheapest(np.flatnonzero(counts >= max(_MOSTLY * int(counts.max()), 1)), served)
            within = served[at].copy() if at >= 0 else np.zeros_like(untried)
            within[first] = True
            untried &= ~within
            if at >= 0:
                self._line(np.flatnonzero(within), at, goal, near[at])
                untried &= self._wide()

    def _cheapest(self, rungs: Integers, served: Truths) -> int:
        """Of rungs that serve almost equally many, about the one that takes the fewest moments; −1 for none."""
        some = rungs[:: -(-len(rungs) // _LOOKED_AT)].tolist() if len(rungs) else []
        cost = {at: self._period(np.flatnonzero(served[at]), at)[0] / _scale(float(self.rungs[at])) for at in some}
        return min(cost, key=lambda at: cost[at]) if cost else -1

    def _line(self, those: Integers, at: int, goal: float, near: Truths) -> None:
        """One line for those ε's, read at all that are still wide among them or near: its moments are the cost."""
        try:
            sums = self._sums(those, at, goal)
            near = near.copy()
            near[int(those[0]) : int(those[-1]) + 1] = True
            asked = np.flatnonzero(near & self._wide())
            lower, upper = ends_at(sums, self.epsilons[asked])
        except (NoEnvelope, ArithmeticError, ValueError):
            return
        better = ~(upper - lower >= self.upper[asked] - self.lower[asked])
        kept = asked[better]
        self.lower[kept], self.upper[kept] = lower[better], upper[better]
        self.nodes[kept], self.tilts[kept] = sums.line.nodes, sums.tau

    def _sums(self, those: Integers, at: int, goal: float) -> Envelope | Combed:
        """The sums at a rung for those ε's: on a comb where its teeth are few, else by polynomials."""
        factors = self._deep(min(float(self.least[those].min()) - _BELOW, _START))
        tau, (period, tilts) = float(self.rungs[at]), self._period(those, at)
        step = short(2 * math.pi / period, 24)
        exact = min(0.01 * goal / len(factors), 1e-6)
        (first, *others) = factors
        teeth = math.inf
        if isinstance(first, PointsFactor) and first.law.comb is not None and not others:
            teeth = period / abs(float(first.law.comb.step))
        moments = min(teeth, period / spacing_for(tau, _SHARE * goal))
        if not moments < self.most:
            raise TooMany(f"{moments:.2g} moments are more than {self.most}")
        line = Line(tau, step, max(math.ceil(moments), 8), max(tilts), min(tilts), exact, tuple(tilts))
        if teeth <= moments and isinstance(first, PointsFactor):
            return Combed(first, self.leak, line)
        return Envelope(factors, self.leak, line)

    def _period(self, those: Integers, at: int) -> tuple[float, set[float]]:
        """How far apart images must lie for all those ε's, and the tilts that show it."""
        away = math.log(1 / (_ALIASES * self.width)) + _BELOW
        gaps = np.maximum(self.bounds[:, those] - self.least[those] + away, 1.0)
        apart = self.rungs - self.rungs[at]
        above, below = (gaps[side] / np.abs(apart[side])[:, None] for side in (apart > 0, apart < 0))
        plain = (away - self.least[those]) / self.rungs[at]
        if not (len(above) and len(below)):
            raise NoEnvelope("no tilts on either side bound the aliases")
        period = float(max(above.min(axis=0).max(), np.minimum(below.min(axis=0), plain).max()))
        # steep tilts take many places of a density: gentler ones where they do almost as well
        period *= _GENTLE
        ends = [0, len(those) // 2, len(those) - 1]
        tilts = {float(self.rungs[apart > 0][i]) for i in (above[:, ends] <= period).argmax(axis=0)}
        return 1.02 * period, tilts | {float(self.rungs[apart < 0][i]) for i in below.argmin(axis=0)[ends]}


def _scale(tau: float) -> float:
    """How far apart the places of polynomials may lie at a tilt, but for a factor."""
    return 1 / math.sqrt(tau * (tau + 1))
