"""The whole curve of a composition: δ as a function of ε, the trade-off function, and what an attacker can make of it.

Each direction of the neighbour relation has its own curve δ(ε), ε ≥ 0; together they give the least false-negative rate
of every test between the two neighbours at each false-positive rate (the trade-off function of f-DP):

    f(a) = sup over ε ≥ 0 of  1 − δ(ε) − e^ε·a  and  e^{−ε}·(1 − δ′(ε) − a),      δ′ the other direction's.

Finitely many ε's bound it on both sides: any of them from below, and from above because both families are convex.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from bursar.composition import Composition, as_composition
from bursar.errors import InputError, LossUnknown
from bursar.jobs.account import account, ask
from bursar.losses import engines
from bursar.losses.answer import Losses, Precision
from bursar.mechanisms import Mechanism
from bursar.numerics.balls import down, up, working
from bursar.numerics.interval import Interval
from bursar.numerics.real import Number
from bursar.numerics.trusted import UNIT
from bursar.numerics.validate import listed, probability, real
from bursar.theorems.numerical import composed

Array = Any
_POINTS = 129
_MOST_POINTS = 100_000
_FAINTEST = 1e-12  # the range of ε ends where δ falls below this


@dataclass(frozen=True)
class Band:
    """Bounds of several numbers at once."""

    lower: Array
    upper: Array


@dataclass(frozen=True)
class Curve:
    """δ at each of several ε's, in each direction, as bounds."""

    composition: Composition
    epsilons: Array
    directions: tuple[Band, ...]
    """A record removed, and added where that differs."""
    precision: Precision

    @property
    def lower(self) -> Array:
        """Lower ends of δ, the worse direction's."""
        return np.max([band.lower for band in self.directions], axis=0)

    @property
    def upper(self) -> Array:
        """Upper ends of δ, the worse direction's."""
        return np.max([band.upper for band in self.directions], axis=0)

    def trade_off(self, false_positive_rate: float | Sequence[float]) -> Interval | Band:
        """The least false-negative rate of any test at this false-positive rate, in the worse direction: f(a) of
        f-DP.
        """
        rates = _rates(false_positive_rate)
        pairs = list(zip(self.directions, reversed(self.directions), strict=True))
        lower = np.min([self._least(one.upper, other.upper, rates) for one, other in pairs], axis=0)
        upper = np.min([self._most(one, other, rates) for one, other in pairs], axis=0)
        lower, upper = np.minimum(lower, upper), np.maximum(np.minimum(upper, 1 - rates), lower)
        return _given(false_positive_rate, lower, upper)

    def true_positive_rate(self, false_positive_rate: float | Sequence[float]) -> Interval | Band:
        """The largest true-positive rate of any attacker at this false-positive rate: 1 − f(a)."""
        band = self.trade_off(false_positive_rate)
        lower = np.maximum(np.nextafter(1 - np.atleast_1d(band.upper), 0), 0.0)
        upper = np.minimum(np.nextafter(1 - np.atleast_1d(band.lower), 2), 1.0)
        return _given(false_positive_rate, lower, upper)

    def advantage(self) -> Interval:
        """The largest true-positive minus false-positive rate: δ(0), the total variation distance."""
        return self._delta(0.0)

    def bayes_risk(self, prior: Number) -> Interval:
        """The least error probability of an attacker who holds the record's presence for ``prior`` likely: prior·(1 −
        δ(ln((1 − prior)/prior))).
        """
        p = probability(prior=prior)
        if not 0 < float(p) < 1:
            raise InputError("prior must be above 0 and below 1", argument="prior")
        # for a prior above one half the roles of presence and absence are swapped
        small = min(float(p), 1 - float(p))
        delta = self._delta(math.log1p(-small) - math.log(small))
        doubt = 8 * UNIT + float(p.high - p.low) / small
        lower, upper = small * (1 - delta.upper) * (1 - doubt), small * (1 - delta.lower) * (1 + doubt)
        return Interval(max(lower - 8 * UNIT * small, 0.0), min(upper + 8 * UNIT * small, small * (1 + doubt)))

    def _delta(self, epsilon: float) -> Interval:
        report = account(
            self.composition, epsilon=max(epsilon, 0.0), width=self.precision.width, effort=self.precision.effort
        )
        return Interval(report.delta.lower, report.delta.upper)

    def _least(self, upper: Array, other: Array, rates: Array) -> Array:
        """The largest of all lines, each a lower bound."""
        grown = np.exp(self.epsilons)[:, None]
        first = 1 - upper[:, None] - grown * rates - 8 * UNIT * (1 + grown * rates)
        second = (1 - other[:, None] - rates - 8 * UNIT) / grown * (1 - 8 * UNIT)
        return np.maximum(np.maximum(first.max(axis=0), second.max(axis=0)), 0.0)

    def _most(self, one: Band, other: Band, rates: Array) -> Array:
        """Both families of lines, between and beyond the ε's known: δ is convex in e^ε, and e^{−ε}·δ in e^{−ε}."""
        grown = np.exp(self.epsilons)
        first = 1 + _highest(grown, one.lower, one.upper, -rates)
        beyond = 1 - grown[-1] * rates
        shrunk = np.exp(-self.epsilons[::-1])
        second = _highest(shrunk, shrunk * other.lower[::-1], shrunk * other.upper[::-1], 1 - rates)
        below = shrunk[0] * (1 - rates)
        found = np.maximum.reduce([first, beyond, second, below])
        return np.clip(found + 64 * UNIT * (1 + np.minimum(grown[-1] * rates, 1.0)), 0.0, 1.0)


def _highest(x: Array, lower: Array, upper: Array, slope: Array) -> Array:
    """Upper bounds of the largest slope·x − v(x) on [x₀, xₙ] for a convex v that is only known to lie between the ends
    at the points: between two of them v lies above the lines through either one and its neighbour on the other side.
    """
    if len(x) == 1:
        return slope * x[0] - lower[0]
    step = np.diff(x)
    rise = (lower[1:] - upper[:-1]) / step, (upper[1:] - lower[:-1]) / step
    from_left = np.append(-np.inf, lower[1:-1] + rise[0][:-1] * step[1:])  # at a cell's right end
    from_right = np.append(lower[1:-1] - rise[1][1:] * step[:-1], -np.inf)  # at its left end
    a, b = slope[:, None] * x[:-1], slope[:, None] * x[1:]
    left = np.maximum(a - lower[:-1], b - from_left)
    right = np.maximum(a - from_right, b - lower[1:])
    best: Array = np.minimum(left, right).max(axis=1)
    return best


def profile(
    composition: Composition | Mechanism,
    epsilons: Sequence[float] | None = None,
    *,
    width: float | None = None,
    effort: str = "normal",
) -> Curve:
    """δ as a function of ε, at the ε's given or, by default, at 129 of them from 0 to where δ falls below 1e-12."""
    what = as_composition(composition)
    precision = ask(delta=1e-6, epsilon=None, width=width, effort=effort).precision
    grid = _grid(what, epsilons)
    with working():
        bands = _by_losses(what, grid, precision)
    return Curve(what, grid, bands or (_by_theorems(what, grid, precision),), precision)


def _grid(what: Composition, epsilons: Sequence[float] | None) -> Array:
    if epsilons is None:
        top = account(what, delta=_FAINTEST, width=1e-2, effort="low").epsilon.upper
        return np.linspace(0.0, top if math.isfinite(top) and top > 0 else 1.0, _POINTS)
    given = listed(epsilons=epsilons)
    if not 0 < len(given) <= _MOST_POINTS:
        raise InputError(f"epsilons must be 1 to {_MOST_POINTS} numbers, not {len(given)}", argument="epsilons")
    values = sorted({float(real(epsilons=x, at_least=0)) for x in given})
    return np.array(values)


def _by_losses(what: Composition, grid: Array, precision: Precision) -> tuple[Band, ...]:
    """From the loss distributions, where they are known and an engine serves them."""
    if not what.terms:
        return (Band(np.zeros(len(grid)), np.zeros(len(grid))),)
    try:
        pairs = [(term.mechanism.losses(), term.count) for term in what.terms]
    except LossUnknown:
        return ()
    attained = all(pair.attained for pair, _ in pairs)
    try:
        return tuple(_direction(losses, grid, precision, attained=attained) for losses in composed(pairs))
    except engines.NoEngine:
        return ()


def _direction(losses: Losses, grid: Array, precision: Precision, *, attained: bool) -> Band:
    if sum(count for _, count in losses) == 1:
        balls = [losses[0][0].profile(arb(float(x))) for x in grid]
        ends = [(max(down(ball), 0.0), min(up(ball), 1.0)) for ball in balls]
    else:
        ends = [(found.lower, found.upper) for found in engines.deltas_at(losses, grid.tolist(), precision)]
    lower, upper = (np.array(column) for column in zip(*ends, strict=True))
    return Band(lower if attained else np.zeros(len(grid)), upper)


def _by_theorems(what: Composition, grid: Array, precision: Precision) -> Band:
    """From all theorems, one ε at a time; the relation's worse direction at once."""
    found = [account(what, epsilon=float(x), width=precision.width, effort=precision.effort).delta for x in grid]
    return Band(np.array([bound.lower for bound in found]), np.array([bound.upper for bound in found]))


def _rates(given: object) -> Array:
    values = [given] if isinstance(given, (int, float, str)) else listed(false_positive_rate=given)
    return np.array([float(probability(false_positive_rate=value)) for value in values])


def _given(asked: object, lower: Array, upper: Array) -> Interval | Band:
    """One number for one, several for several."""
    if isinstance(asked, (int, float, str)):
        return Interval(float(lower[0]), float(upper[0]))
    return Band(lower, upper)
