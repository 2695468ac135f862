"""Losses on a comb: where all atoms of the only kind of release lie at an offset plus whole multiples of a step.

The composed loss is k·offset + step·N with a whole N, so the hockey stick matters only at N − x for whole N, where
x = (ε − k·offset)/step. M moments with M·step = B give its mean exactly, aliases apart: there is no gap between an
upper and a lower polynomial, and M is small where the step is large (proofs/envelope.md §6).
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Moments
from bursar.losses.engines.envelope.engine import Errors, Line, aliases, bounds_at
from bursar.losses.engines.envelope.factor import PointsFactor, all_copies
from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.envelope.polynomials import through
from bursar.losses.places import Comb
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, down, relative_radius, up
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_SHORTEST = 2.0  # of τ times the period
_FURTHEST = 2.0**50  # teeth: beyond, floats lie almost a tooth apart


class Combed:
    """Copies of one loss on a comb, at one tilt and period; it answers as an `Envelope` does."""

    def __init__(self, factor: PointsFactor, leak: Ball, line: Line) -> None:
        if factor.law.comb is None:
            raise NoEnvelope("the atoms form no comb")
        offset, step, teeth = factor.law.comb
        side = 1 if step > 0 else -1  # teeth shall count upwards
        self.comb = Comb(offset, side * step, side * teeth)
        self.factor, self.leak, self.line, self.tau = factor, leak, line, line.tau
        self.width, self.nodes = float(self.comb.step), line.nodes
        if not self.tau * self.width * self.nodes > _SHORTEST:
            raise NoEnvelope("the period is too short for the tilt")
        self.off = relative_radius(self.comb.step)
        self.cumulant, self.chernoff = bounds_at([factor], line)
        law = factor.combed(line.tau, self.comb.teeth.astype(float))
        self.middle = factor.count * int(law.mean)
        frequencies = np.arange(self.nodes // 2 + 1, dtype=np.float64) * (2 * math.pi / self.nodes)
        self.moments: Moments = all_copies(law, frequencies, *law.folded(self.nodes), factor)

    @cached_property
    def twice(self) -> Array:
        """How often each frequency counts: once for 0 and for the middle one, else with its mirror image."""
        twice = np.full(self.nodes // 2 + 1, 2.0)
        twice[0] = 1.0
        if self.nodes % 2 == 0:
            twice[-1] = 1.0
        return twice

    def _place(self, epsilon: Ball) -> Ball:
        """x, in teeth."""
        return (epsilon - self.factor.count * self.comb.offset) / self.comb.step

    def _sum(self, x: float) -> tuple[float, float]:
        """The mean of the hockey stick at x under the tilted law, aliases included, and a bound of its error."""
        if not abs(x) < _FURTHEST:
            raise NoEnvelope("ε lies too many teeth away")
        first = math.ceil(x)
        theta = self.width * (first - x)
        polynomial = through(self.tau, self.width, theta, self.nodes)
        # whole turns are taken off exactly
        shift = (self.middle - first) % self.nodes
        turn = np.arange(self.nodes // 2 + 1) * shift % self.nodes * (2 * math.pi / self.nodes)
        size = self.twice * np.exp(np.minimum(self.moments.log_size, 0.0))
        phase = self.moments.turn + turn
        terms = size * polynomial.values * np.exp(1j * phase)
        sizes, grown = np.abs(terms), np.exp(np.minimum(self.moments.error, 700.0))
        turned = (ULPS + 4) * (8 + np.abs(phase) + np.abs(self.moments.log_size)) + len(terms) + 24
        doubt = summed(sizes, grown - 1 + UNIT * turned) + summed(size * polynomial.errors, grown)
        return float(terms.real.sum()), SAFETY * (doubt + self.slip(theta))

    def slip(self, theta: float) -> float:
        """What the step's radius may change: |y·G′(y)| ≤ 4·min(0.74, 0.91/τ), and less where all teeth are far off."""
        most, away = min(0.74, 0.91 / self.tau), self.tau * theta
        if away >= 2 and away * self.off < 0.01:
            most = min(most, (away + 1) * theta * math.exp(-away))
        return 4 * most * self.off

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln of δ(ε) − δ_∞, in floats, and a slope for searching: as if the losses above ε lay far above it."""
        value = self._sum(float(self._place(arb(epsilon))))[0]
        if not value > 0:
            raise NoEnvelope("the sum is not positive")
        return float(self.cumulant) - self.tau * epsilon + math.log(value), -self.tau

    def evaluate(self, epsilon: float) -> tuple[Ball, Ball, Errors]:
        """Certified lower and upper ends of δ(ε), as balls, and the error budget relative to δ."""
        x, place = arb(epsilon), self._place(arb(epsilon))
        ends, unsure = [], 0.0
        # δ falls with ε, so a place a little further on gives a lower end, and one a little before an upper one
        for at in (up(place), down(place)):
            value, doubt = self._sum(at)
            lead = (self.cumulant - arb(self.tau) * (self.comb.step * at + self.factor.count * self.comb.offset)).exp()
            ends.append(lead * arb(value, doubt))
            unsure = max(unsure, doubt / max(value, 1e-320))
        off = aliases(self.chernoff, self.tau, self.nodes * self.comb.step, x)
        lower, upper = ends[0] - off, ends[1] + self.factor.given_up
        size = max(float(ends[1]), 1e-320)
        errors = (
            ("aliasing", float(off) / size),
            ("cut", float(self.factor.given_up) / size),
            ("rounding", unsure),
        )
        return self.leak + lower.max(arb(0)), self.leak + upper, errors
