"""Which line serves a question: the tilt, the period and the number of moments, all chosen in floats.

Any choice is sound. Chernoff bounds along a ladder of tilts say where ε lies at most, which tilts keep the sums within
a factor of δ, and how far apart the images of the law must be; how much the two polynomials may differ says how many
moments it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bursar.losses.engines.contour.factors import Factor
from bursar.losses.engines.envelope.engine import Line
from bursar.losses.engines.envelope.points import NoEnvelope, TooMany
from bursar.losses.engines.envelope.polynomials import gap
from bursar.numerics.arrays import Array
from bursar.numerics.lattice import short

_AWAY = math.log(1e9)  # by how much aliases are to stay below δ
_EXCESS = 1.5  # by how much, as a logarithm, the Chernoff bound at the tilt may exceed the least one
_COARSEST = 0.05  # of δ: polynomials that differ by more say nothing, however wide an ε is asked
_MOVES = 12  # of the ladder, by thirteen orders each
_MOST_OFF = 6.0  # by which, as a logarithm, a Chernoff bound is thought to be off
_FINE = np.linspace(-1.0, 1.0, 41)
_MANY = 6000  # moments: with more, tilts close to the one that serves may bound the aliases better
_NEAR = np.geomspace(0.002, 0.72, 20)
_CLOSE = np.concatenate([-_NEAR[::-1], [0.0], _NEAR])  # of logarithms: tilts that lie the closer the nearer they are


class Ladder:
    """The cumulants of a composition at tilts from far below to far above the ones of use, in floats."""

    def __init__(self, factors: Sequence[Factor], log_delta: float, most: int, at: float | None = None) -> None:
        self.factors, self.most, self._closer = factors, most, False
        self.tilts = start_of(factors) * np.geomspace(1e-6, 1e8, 113)
        self._fill()
        for _ in range(_MOVES):  # where rare losses are what matters, the spread says nothing about them
            values = self.epsilons(log_delta) if at is None else self.bounds(at)
            # the first of those that floats cannot tell apart
            best = int(np.argmax(values <= values.min() + 1e-12 * abs(values.min())))
            if 0 < best < len(self.tilts) - 1:
                break
            self.tilts = self.tilts * (1e-13 if best == 0 else 1e13)
            self._fill()
        for _ in range(2):
            best = int(np.argmin(self.epsilons(log_delta) if at is None else self.bounds(at)))
            centre = float(np.log(self.tilts[best]))
            spread = math.log(float(self.tilts[1] / self.tilts[0]))
            self.tilts = np.exp(centre + 10 * spread * _FINE)
            self._fill()

    def _fill(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            heights = sum(factor.rough_cumulants(self.tilts) for factor in self.factors)
            self.heights: Array = np.where(np.isfinite(heights), heights, np.inf)
            # Chernoff's constant, ln of τ^τ/(1+τ)^{1+τ}
            self.constants = -np.log1p(self.tilts) - self.tilts * np.log1p(1 / self.tilts)

    def epsilons(self, log_delta: float) -> Array:
        """The ε at which the Chernoff bound of each tilt meets δ."""
        return (self.heights + self.constants - log_delta) / self.tilts

    def guess(self, log_delta: float) -> float:
        """Where ε may lie: what the best Chernoff bound says, less what the saddle point takes off it."""
        at = self.epsilons(log_delta)
        i = int(np.argmin(at))
        if not 0 < i < len(at) - 1:
            return float(at[i])
        tau = float(self.tilts[i])
        first, second = (np.diff(self.heights[j : j + 2])[0] / np.diff(self.tilts[j : j + 2])[0] for j in (i - 1, i))
        variance = 2 * (second - first) / (self.tilts[i + 1] - self.tilts[i - 1])
        if not variance > 0:
            return float(at[i])
        excess = float(self.constants[i]) + math.log(tau * (tau + 1) * math.sqrt(2 * math.pi * variance))
        return float(at[i]) - min(max(excess, 0.0), _MOST_OFF) / tau

    def bounds(self, epsilon: float) -> Array:
        """ln of the Chernoff bound of δ(ε) at each tilt."""
        return self.heights + self.constants - self.tilts * epsilon

    def log_delta(self, epsilon: float) -> float:
        """About ln δ(ε): the least Chernoff bound, and a little less."""
        return min(float(self.bounds(epsilon).min()) - 1.5, -0.1)

    def _close_to(self, epsilon: float) -> None:
        """Tilts around the one that serves an ε, which lie the closer the nearer they are: where one more large loss
        pays as much as it costs, K is so steep that only a tilt next to it bounds the images of the law.
        """
        before = self.tilts
        for offsets in (0.1 * _FINE, _CLOSE):
            best = int(np.argmin(self.bounds(epsilon)))
            self.tilts = float(self.tilts[best]) * np.exp(offsets)
            self._fill()
        self.tilts, self._closer = np.union1d(before, self.tilts), True  # those far away may still bound more
        self._fill()

    def line(
        self, epsilon: float, log_delta: float, width: float, *, of_delta: bool = False, tooth: float | None = None
    ) -> Line:
        """The line with the fewest moments for an ε this narrow (or a δ), or for a comb with teeth this far apart."""
        excess = self.heights - self.tilts * epsilon - log_delta
        gaps = np.maximum(excess + self.constants + _AWAY, 1.0)
        apart = self.tilts[None, :] - self.tilts[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(apart > 0, gaps / apart, np.inf)
            below = np.where(apart < 0, gaps / -apart, np.inf)
        plain = (_AWAY - log_delta) / self.tilts
        periods = 1.02 * np.maximum(above.min(axis=1), np.minimum(below.min(axis=1), plain))
        bounds = excess + self.constants
        best, least = None, float(np.nanmin(np.where(np.isfinite(bounds), bounds, np.inf)))
        for i in np.flatnonzero(bounds <= least + _EXCESS):
            tau = float(self.tilts[i])
            spacing = tooth or spacing_for(tau, min(0.5 * width * (1.0 if of_delta else tau * epsilon), _COARSEST))
            nodes = float(periods[i]) / spacing if spacing > 0 else math.inf
            if math.isfinite(nodes) and (best is None or nodes < best[0]):
                best = (nodes, i)
        if (best is None or best[0] > _MANY) and tooth is None and not self._closer:
            self._close_to(epsilon)
            return self.line(epsilon, log_delta, width, of_delta=of_delta)
        if best is None:
            raise NoEnvelope("no tilt bounds the aliases")
        nodes, i = best
        step = short(2 * math.pi / float(periods[i]), 24)
        if not nodes < self.most:
            raise TooMany(f"{nodes:.2g} moments are more than {self.most}")
        low = below[i]
        lower = float(self.tilts[int(np.argmin(low))]) if i > 0 else 0.5 * float(self.tilts[i])
        higher = float(self.tilts[int(np.argmin(above[i]))])
        exact = 0.01 * width * (1.0 if of_delta else epsilon * float(self.tilts[i])) / len(self.factors)
        return Line(float(self.tilts[i]), step, max(math.ceil(nodes), 8), higher, lower, min(exact, 1e-6))


def start_of(factors: Sequence[Factor]) -> float:
    """A tilt of the right order: one over the losses' spread."""
    variance = sum(factor.rough_variance() for factor in factors)
    if not (0 < variance < math.inf):
        raise NoEnvelope("the losses do not vary")
    return 1 / math.sqrt(variance)


def spacing_for(tau: float, asked: float) -> float:
    """The h at which the two polynomials differ by this much, relatively."""
    if not asked > 0:
        return 0.0
    h = math.sqrt(8 * asked / (tau * (tau + 1)))
    for _ in range(60):
        if gap(tau, h) <= asked:
            return h
        h *= 0.8
    return h
