"""δ of a composition at several ε's, in each direction of the neighbour relation, as bounds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from flint import arb

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.jobs.account import account
from bursar.losses.engines import curve
from bursar.losses.engines import meet as engines
from bursar.losses.engines.answer import Losses, NoEngine, Precision, leak_of
from bursar.losses.engines.contour import NoContour
from bursar.mechanisms import Mechanism
from bursar.mechanisms._base import known_losses
from bursar.numerics.arrays import Array
from bursar.numerics.balls import down, up, working
from bursar.numerics.shown import shown
from bursar.presented import Table, Tabled, spread
from bursar.theorems.leaks import leaked
from bursar.theorems.numerical import composed
from bursar.theorems.strategies import common

_NEGLIGIBLE = 1e-15  # of the other direction's δ


@dataclass(frozen=True, repr=False)
class Band(Tabled):
    """Bounds of several numbers at once."""

    lower: Array
    upper: Array

    def _facts(self) -> list[tuple[str, object]]:
        return [("lower", self.lower.tolist()), ("upper", self.upper.tolist())]

    def _table(self) -> Table:
        return bounds((), ("", "at least", "at most"), np.arange(1.0, len(self.lower) + 1), self)


def bounds(above: Sequence[str], head: Sequence[str], places: Array, band: Band) -> Table:
    """A table of bounds at several places, rounded outward; of many a few."""
    chosen = spread(len(places))
    rows = [
        [f"{places[i]:.6g}", shown(float(band.lower[i]), up=False), shown(float(band.upper[i]), up=True)]
        for i in chosen
    ]
    left_out = [f"({len(chosen)} of {len(places)})"] if len(chosen) < len(places) else []
    return Table(above, head, rows, left_out)


@dataclass(frozen=True)
class Points:
    """Bounds of δ at the ε's asked, by direction (a record removed, and added where that differs), and a lower bound of
    what each direction leaks at every ε.
    """

    directions: tuple[Band, ...]
    leaks: tuple[float, ...]
    alike: bool
    """Whether a lower bound of the worse direction's δ holds in both."""


def points(what: Composition, epsilons: Sequence[float], precision: Precision) -> Points:
    """From the loss distributions where they are known, else from all theorems."""
    none = np.zeros(len(epsilons))
    if not what.terms:
        return Points((Band(none, none),), (0.0,), True)
    with working():
        try:
            pairs = [(term.mechanism.losses(), term.count) for term in what.terms]
        except LossUnknown:
            return _by_theorems(what, epsilons, precision)
        whole = composed(pairs)
        # one release costs what its pair says at every ε, if not by one pair (proofs/strategies.md §1)
        exact = all(pair.attained or (pair.pointwise and what.count == 1) for pair, _ in pairs)
        attained = whole if exact else common(pairs)
        found: list[Band] = []
        leaks: list[float] = []
        for i, losses in enumerate(whole):
            beside = found[0] if found else None
            band = _direction(what, losses, epsilons, precision, beside, alike=len(whole) == 1)
            reached = attained[min(i, len(attained) - 1)]
            leaks.append(max(down(leak_of(reached)), 0.0))
            least = np.maximum(band.lower if exact else _reached(reached, epsilons, precision), leaks[-1])
            found.append(Band(np.minimum(least, band.upper), band.upper))
    return Points(tuple(found), tuple(leaks), len(found) == 1)


def _reached(losses: Losses, epsilons: Sequence[float], precision: Precision) -> Array:
    """Lower bounds of the δ's that one strategy reaches."""
    try:
        return _band(_along(losses, epsilons, precision)).lower if losses else np.zeros(len(epsilons))
    except NoEngine:
        return np.zeros(len(epsilons))


def _direction(
    what: Composition,
    losses: Losses,
    epsilons: Sequence[float],
    precision: Precision,
    beside: Band | None,
    *,
    alike: bool,
) -> Band:
    if sum(count for _, count in losses) == 1:
        balls = [losses[0][0].profile(arb(x)) for x in epsilons]
        return _band([(max(down(ball), 0.0), min(up(ball), 1.0)) for ball in balls])
    try:
        return _band(_along(losses, epsilons, precision, beside))
    except NoEngine:
        return _band([_alone(what, losses, x, precision, alike=alike) for x in epsilons])


def _along(
    losses: Losses, epsilons: Sequence[float], precision: Precision, beside: Band | None = None
) -> list[tuple[float, float]]:
    """One direction's δ at many ε's: in arrays where the noise is Gaussian and contours serve, else by the engines.
    Where it lies far below that of the direction ``beside``, what smaller ε's prove of it is enough.
    """
    found: list[tuple[float, float] | None] = [None] * len(epsilons)
    if len(epsilons) > 1 and precision.engine is None and any(loss.gaussian_noise() for loss, _ in losses):
        enough = None if beside is None else (_NEGLIGIBLE * beside.lower).tolist()
        with suppress(NoContour, ArithmeticError, ValueError):  # whatever the floats stumble over, fail closed
            found = curve.deltas_at(losses, epsilons, precision.width or engines.usual_width(losses), enough)
    left = [epsilon for epsilon, ends in zip(epsilons, found, strict=True) if ends is None]
    others = iter(engines.deltas_at(losses, left, precision) if left else ())
    return [((other := next(others)).lower, other.upper) if ends is None else ends for ends in found]


def _alone(
    what: Composition, losses: Losses, epsilon: float, precision: Precision, *, alike: bool
) -> tuple[float, float]:
    """One ε by itself: an engine that does not serve the whole range may serve it. Else the theorems' upper end, which
    holds in both directions; their lower end speaks of the worse one, so where the two differ only the leak bounds this
    one from below.
    """
    if not alike:
        try:
            found = engines.delta_at([losses], arb(epsilon), precision)
            return found.lower, found.upper
        except NoEngine:
            pass
    bound = account(what, epsilon=epsilon, width=precision.width, effort=precision.effort).delta
    return (bound.lower if alike else min(max(down(leak_of(losses)), 0.0), bound.upper)), bound.upper


def _by_theorems(what: Composition, epsilons: Sequence[float], precision: Precision) -> Points:
    """From all theorems, one ε at a time. They speak of the worse direction, so from below they say something of a
    single one only where both are alike.
    """
    bounds = [account(what, epsilon=x, width=precision.width, effort=precision.effort).delta for x in epsilons]
    band = _band([(bound.lower, bound.upper) for bound in bounds])
    # each ε may have a strategy of its own, and what is read off the curve speaks of one
    if all(_alike(mechanism) and not _chosen(mechanism) for mechanism, _ in what.terms):
        return Points((band,), (max(down(leaked(what)), 0.0),), True)
    return Points((Band(np.zeros(len(bounds)), band.upper),), (0.0,), False)


def _alike(mechanism: Mechanism) -> bool:
    """Whether what is proved from below about this one holds in both directions."""
    losses = known_losses(mechanism)
    return mechanism.leaks().same if isinstance(losses, str) else losses.same


def _chosen(mechanism: Mechanism) -> bool:
    """Whether it may be one pair or another, as one likes."""
    losses = known_losses(mechanism)
    return not isinstance(losses, str) and not losses.attained


def _band(ends: list[tuple[float, float]]) -> Band:
    lower, upper = (np.array(column) for column in zip(*ends, strict=True))
    return Band(lower, upper)
