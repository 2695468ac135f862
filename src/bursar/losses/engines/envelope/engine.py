"""The sums of the envelope engine: certified ends of δ(ε) for one composition at one tilt.

    e^{K(τ)−τε}·Ẽ[T⁻(L − ε)] − aliases ≤ δ(ε) − δ_∞ ≤ e^{K(τ)−τε}·Ẽ[T⁺(L − ε)],

where both means are sums over M moments (`polynomials`), and aliases are bounded by Chernoff bounds at two other tilts
as in the contour engine (proofs/contour.md §2, proofs/envelope.md §1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from bursar.losses.engines.chernoff import chernoff_constant, exponentials
from bursar.losses.engines.contour.factors import DEAD, Factor, Moments
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.points import NoEnvelope, TooMany
from bursar.losses.engines.envelope.polynomials import Polynomial, above, below
from bursar.numerics.arrays import Array, Complexes, dot
from bursar.numerics.balls import Ball, up
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

MOST_MOMENTS = 1 << 18
_PLENTY = 4096  # moments: with more it is worth a look from which frequency on none of them matters
Errors = tuple[tuple[str, float], ...]
"""Named errors, relative to δ."""
Chernoff = tuple[tuple[float, Ball], ...]
"""Tilts above the one that is summed at and below it, each with ln of its Chernoff bound of δ(0)."""


@dataclass(frozen=True)
class Line:
    """Where the sums are taken: the tilt, the step between frequencies, how many, and two tilts that bound aliases."""

    tau: float
    step: float
    nodes: int
    higher: float
    lower: float
    exact: float
    """How closely the logarithm of each moment is to be known."""
    more: tuple[float, ...] = ()
    """Further tilts that bound aliases, for ε's further away."""

    @property
    def period(self) -> float:
        """How far apart the images of the law lie."""
        return 2 * math.pi / self.step


@dataclass(frozen=True)
class _Side:
    """The terms of one of the two sums, apart from the turn by ε, and what is unsure about them."""

    terms: Complexes
    doubt: float
    sizes: Array


class Envelope:
    """One direction of a composition on one line."""

    def __init__(self, factors: Sequence[Factor], leak: Ball, line: Line) -> None:
        self.factors, self.leak, self.line, self.tau = factors, leak, line, line.tau
        self.given_up = sum((factor.given_up for factor in factors), arb(0))
        self.cumulant, self.chernoff = bounds_at(factors, line)
        self.live = line.nodes
        for factor in sorted(factors, key=lambda one: -one.rough(line.tau)[2]) if line.nodes > _PLENTY else ():
            if self.live > _PLENTY:  # those that vary most first: one is enough
                self.live = factor.live(line.tau, line.step, self.live)
        if not self.live <= MOST_MOMENTS:
            raise TooMany(f"{self.live:.2g} moments are more than {MOST_MOMENTS}")
        self.frequencies = np.arange(self.live, dtype=np.float64) * line.step  # exact: the step has few bits

    @cached_property
    def moments(self) -> Moments:
        """The moments of the whole composition at every frequency."""
        for factor in self.factors:
            if isinstance(factor, PointsFactor):
                factor.exact = self.line.exact
        parts = [factor.moments(self.tau, self.frequencies) for factor in self.factors]
        if len(parts) == 1:
            return parts[0]
        return Moments(
            sum((part.drift for part in parts), arb(0)),
            np.sum([part.log_size for part in parts], axis=0),
            np.sum([part.turn for part in parts], axis=0),
            np.sum([part.error for part in parts], axis=0),
        )

    @cached_property
    def sides(self) -> tuple[_Side, _Side]:
        """The sums from below and from above."""
        line = self.line
        low, high = (find(line.tau, line.step, line.nodes, self.live) for find in (below, above))
        return self._side(low), self._side(high)

    def _side(self, polynomial: Polynomial) -> _Side:
        moments = self.moments
        size = np.exp(np.minimum(moments.log_size, 0.0))
        twice = np.full(len(size), 2.0)
        twice[0] = 1.0
        terms = twice * polynomial.values * size * np.exp(1j * moments.turn)
        sizes = np.abs(terms)
        grown = np.exp(np.minimum(moments.error, 700.0))
        doubt = summed(sizes, grown - 1) + summed(twice * polynomial.errors * size, grown)
        # those that nobody looks at
        doubt += 2 * (self.line.nodes - self.live) * polynomial.largest * math.exp(DEAD)
        # of the exponential, the turn and the products
        turned = (ULPS + 4) * (2 + np.abs(moments.turn) + np.abs(moments.log_size)) + 16
        return _Side(terms, SAFETY * (doubt + UNIT * summed(sizes, turned)), sizes)

    def _turned(self, epsilon: float) -> tuple[Complexes, Array]:
        """e^{is(drift − ε)} at every frequency, as products from two short tables, and a bound of the error of each."""
        apart = self.moments.drift - arb(epsilon)
        near = float(apart)
        if not math.isfinite(near):
            raise NoEnvelope("the losses are too large")
        off = float(abs(apart - arb(near)).upper())
        count, step = len(self.frequencies), self.line.step
        row = math.isqrt(count) + 1
        inner = np.exp(1j * (self.frequencies[:row] * near))
        outer = np.exp(1j * (np.arange(-(-count // row)) * (row * step) * near))
        turn = np.multiply.outer(outer, inner).ravel()[:count]
        return turn, self.frequencies * off + UNIT * (np.abs(self.frequencies * near) + 4 * ULPS + 12)

    @cached_property
    def _guides(self) -> tuple[tuple[Complexes, Complexes], ...]:
        """Terms whose sum is about δ, and the same times their frequencies: of both sums, then of the upper one."""
        low, high = (side.terms for side in self.sides)
        return tuple((terms, terms * self.frequencies) for terms in ((low + 2 * high) / 3, high))

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln of δ(ε) − δ_∞ and its derivative, in floats."""
        turn = self._turned(epsilon)[0]
        # far from all atoms δ may be so small that only the upper sum is positive
        for terms, paced in self._guides:
            value = _real(terms, turn)
            if value > 0:
                slope = dot(paced.real, turn.imag) + dot(paced.imag, turn.real)
                return float(self.cumulant) - self.tau * epsilon + math.log(value), slope / value - self.tau
        raise NoEnvelope("the sum is not positive")

    def evaluate(self, epsilon: float) -> tuple[Ball, Ball, Errors]:
        """Certified lower and upper ends of δ(ε), as balls, and the error budget relative to δ."""
        x = arb(epsilon)
        turn, off = self._turned(epsilon)
        lead = (self.cumulant - arb(self.tau) * x).exp()
        ends, unsure = [], 0.0
        for side in self.sides:
            value = _real(side.terms, turn)
            rounding = SAFETY * dot(side.sizes, off + (len(turn) + 8) * UNIT) + side.doubt
            ends.append(lead * arb(value, rounding))
            unsure = max(unsure, rounding / max(value, 1e-320))
        alias = aliases(self.chernoff, self.tau, 2 * arb.pi() / arb(self.line.step), x)
        lower, upper = ends[0] - alias, ends[1] + self.given_up
        size = max(float(ends[1]), 1e-320)
        errors = (
            ("aliasing", float(alias) / size),
            ("envelope", float(ends[1] - ends[0]) / size),
            ("cut", float(self.given_up) / size),
            ("rounding", unsure),
        )
        return self.leak + lower.max(arb(0)), self.leak + upper, errors


def _real(terms: Complexes, turn: Complexes) -> float:
    """The real part of Σ terms·turn."""
    return dot(terms.real, turn.real) - dot(terms.imag, turn.imag)


def bounds_at(factors: Sequence[Factor], line: Line) -> tuple[Ball, Chernoff]:
    """K at the tilt, and Chernoff bounds of δ(0) at the two others, in logarithms."""
    if not 0 < line.lower < line.tau < line.higher:  # a tilt on the wrong side would bound no alias
        raise NoEnvelope("no tilts on either side bound the aliases")
    tilts = [line.tau, line.higher, line.lower, *(tilt for tilt in line.more if tilt != line.tau)]
    found = [factor.cumulants(tilts) for factor in factors]
    cumulant, *others = (sum(values, arb(0)) for values in zip(*found, strict=True))
    sides = zip(tilts[1:], others, strict=True)
    return cumulant, tuple((tilt, (k + chernoff_constant(tilt)).upper()) for tilt, k in sides)


def aliases(chernoff: Chernoff, tilt: float, period: Ball, epsilon: Ball) -> Ball:
    """A bound of all images of the law: those above by higher tilts, those below by lower ones or by δ ≤ 1."""
    tau = arb(tilt)
    above, beneath = arb("inf"), 1 / (tau * period).expm1()
    for other, bound in chernoff:
        side = (bound - arb(other) * epsilon).exp() / (abs(arb(other) - tau) * period).expm1()
        if other > tilt:
            above = above.min(side)
        elif other < tilt:
            beneath = beneath.min(side)
    return (above + beneath).upper()


def alias_bounds(chernoff: Chernoff, tilt: float, period: Ball, epsilons: Array) -> Array:
    """The same at many ε's, in floats that err upwards."""
    tau = arb(tilt)
    above = np.full(len(epsilons), math.inf)
    beneath = np.full(len(epsilons), up(1 / (tau * period).expm1()))
    for other, bound in chernoff:
        height = bound - (abs(arb(other) - tau) * period).expm1().log()
        if not height.is_finite():
            continue
        side = exponentials(up(height), other, epsilons)
        if other > tilt:
            above = np.minimum(above, side)
        elif other < tilt:
            beneath = np.minimum(beneath, side)
    return np.asarray((above + beneath) * (1 + 8 * UNIT) + 1e-300)
