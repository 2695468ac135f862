"""A release as the residue test reads it: finitely many losses that dominate it, in floats rounded up.

Any pair is dominated by the one whose profile joins the dots of its own (in e^ε), so a finite table is never a loss of
soundness. For the test only upper ends matter: Σ p·δ(x − l) grows with every p and every l, so both are rounded up.
What lies beyond the last dot is leaked mass and is paid for as δ (proofs/residue.md §3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.losses.laws.table import TableLoss, connect_the_dots
from bursar.losses.laws.table_rows import Row
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ball, finite, up, up_fraction

DOTS = 40  # on each side of 0; what joining them adds falls with the square
# closer together where most losses lie; by balls, so that every processor has the same places
_RULE = np.array([float((arb(3 * dot) / DOTS).sinh() / arb(3).sinh()) for dot in range(1, DOTS + 1)])
_FARTHEST = 600.0  # of a loss: beyond it floats run out of exponents


@dataclass(frozen=True)
class ResidueLaw:
    """``sides`` are the laws that must each stay under the Gaussian at every ε ≥ 0: both directions, each with its
    reverse. ``leak`` is at least the mass that has no finite loss in any of them.
    """

    sides: tuple[tuple[Array, Array], ...]
    """(losses, masses), both rounded up."""
    leak: Fraction


def law_of_directions(directions: Directions, cut: float) -> ResidueLaw:
    """The law of known losses. ``cut`` is the mass that may be left beyond the last dot of each side."""
    directions = directions.suited(math.log(cut)) if cut > 0 else directions
    tables = [_table(directions.remove, cut)]
    # where adding presents the very pair of removing, the other way round, one table and its reverse dominate both
    if not (directions.same or directions.add.reverses(directions.remove)):
        tables.append(_table(directions.add, cut))
    return _law(tables)


def law_of_promise(delta_at: Callable[[Ball], Ball], cut: float) -> ResidueLaw:
    """The law of a promise whose δ at each ε bounds both directions."""
    places = places_of(_reach(delta_at, cut))
    return _law([_mirrored(places, [delta_at(arb(x)) for x in places])])


class Points(NamedTuple):
    """Upper ends of δ at the places of a law that bounds both directions: all that is known of a composed profile."""

    reach: float
    """The last place, from which all others follow."""
    deltas: tuple[float, ...]


def law_of_points(points: Points) -> ResidueLaw:
    """The law of these points."""
    if len(points.deltas) != DOTS + 1 or not all(0 <= delta <= 1 for delta in points.deltas):
        raise LossUnknown(f"a profile has {DOTS + 1} points from 0 to 1")
    if not 0 < points.reach <= _FARTHEST:
        raise LossUnknown(f"a profile reaches from above 0 to {_FARTHEST}")
    return _law([_mirrored(places_of(points.reach), [arb(delta) for delta in points.deltas])])


def places_of(reach: float) -> list[float]:
    """Where a composed profile is known, up to this place."""
    return [0.0, *(reach * _RULE).tolist()]


def reach_from(epsilon: float) -> float:
    """The place of a law's last point, where the profile is known to have fallen to the cut at this ε."""
    x = 0.25
    while x < epsilon:
        x *= 1.5
    if x > _FARTHEST:
        raise LossUnknown("its losses reach too far")
    low = x / 1.5
    between = (low + (x - low) * part / 16 for part in range(1, 17))
    return next((place for place in between if place >= epsilon), x)


def _law(tables: Sequence[TableLoss]) -> ResidueLaw:
    """Each table and its reverse, equal ones once."""
    sides: dict[bytes, tuple[Array, Array]] = {}
    leak = arb(0)
    for table in map(_evened, tables):
        for side in (table, table.reversed()):
            losses, masses = _floats(side.rows)
            sides.setdefault(losses.tobytes() + masses.tobytes(), (losses, masses))
            leak = leak.max(side.infinite_mass().upper())
    return ResidueLaw(tuple(sides.values()), up_fraction(leak))


def _evened(table: TableLoss) -> TableLoss:
    """A table that dominates it both ways and leaks as much in either direction (proofs/residue.md §3): of the column
    that leaks less, an equal share of all that is finite leaks too.
    """
    here, there = table.infinite_mass(), table.reversed().infinite_mass()
    if here > there:
        return _evened(table.reversed()).reversed()
    moved = (there - here).upper()
    finite = sum((row.p for row in table.rows if row.loss is not None), arb(0)).upper()
    if not moved > 0:
        return table
    if not finite > moved:
        raise LossUnknown("it leaks nearly everything in one direction")
    kept = 1 - moved / finite
    rows = [row if row.loss is None else Row(row.p * kept, row.q, row.loss + kept.log()) for row in table.rows]
    return TableLoss((*rows, Row(moved, arb(0), None)))


def _floats(rows: Sequence[Row]) -> tuple[Array, Array]:
    """The finite losses and their masses, rounded up, in rising order."""
    pairs = sorted((up(row.loss), up(row.p)) for row in rows if row.loss is not None)
    if not pairs or not all(math.isfinite(loss) and math.isfinite(mass) for loss, mass in pairs):
        raise LossUnknown("its losses have no finite form")
    table = np.array(pairs)
    return table[:, 0].copy(), table[:, 1].copy()


def _table(loss: Loss, cut: float) -> TableLoss:
    """Itself where it is a table of decided outcomes, else the dots of its profile joined."""
    table = loss.table()
    if table is not None and len(table.rows) <= 4 * DOTS and _decided(table):
        return table
    low, high = loss.support()
    top = up(high) if finite(high) else _reach(loss.profile, cut)
    # the reverse direction's δ at y is what the profile at −y has above 1 − e^{−y}
    bottom = up(-low) if finite(low) else _reach(lambda y: (loss.profile(-y) - 1 + (-y).exp()) * y.exp(), cut)
    return _dotted(loss.profile, max(bottom, 1e-9), max(top, 1e-9))


def _decided(table: TableLoss) -> bool:
    """Whether each outcome surely has, or surely lacks, each probability."""
    return all((row.p > 0 or row.p <= 0) and (row.q > 0 or row.q <= 0) for row in table.rows)


def _reach(profile: Callable[[Ball], Ball], cut: float) -> float:
    """An ε at which the profile has certainly fallen to the cut."""
    x = 0.25
    while not profile(arb(x)) <= cut:
        x *= 1.5
        if x > _FARTHEST:
            raise LossUnknown("its losses reach too far")
    low = x / 1.5
    for _ in range(4):
        middle = (low + x) / 2
        if profile(arb(middle)) <= cut:
            x = middle
        else:
            low = middle
    return x


def _mirrored(places: Sequence[float], deltas: Sequence[Ball]) -> TableLoss:
    """The dots of a curve that bounds both directions: δ(−x) = 1 − e^{−x} + e^{−x}δ(x) on the other side of 0."""
    right = list(zip(places, deltas, strict=True))
    left = [(-x, 1 - (-arb(x)).exp() * (1 - delta)) for x, delta in reversed(right[1:])]
    return _joined(left + right)


def _dotted(profile: Callable[[Ball], Ball], bottom: float, top: float) -> TableLoss:
    """The dots of a profile from e^{−bottom} to e^{top}."""
    places = np.concatenate([-bottom * _RULE[::-1], [0.0], top * _RULE]).tolist()
    return _joined([(x, profile(arb(x))) for x in places])


def _joined(dots: Sequence[tuple[float, Ball]]) -> TableLoss:
    """The pair whose profile joins the dots."""
    corners: list[tuple[Ball, Ball]] = [(arb(0), arb(1))]
    for x, value in dots:
        point = arb(x)
        if not finite(value):
            raise LossUnknown("its profile is not known everywhere")
        corner = (point.exp(), ball(up_fraction(value.max(arb(0)))))
        while len(corners) > 1 and not _bends(corners[-2], corners[-1], corner):
            corners.pop()  # leaving out a dot only lifts the curve
        corners.append(corner)
    return connect_the_dots(corners)


def _bends(a: tuple[Ball, Ball], b: tuple[Ball, Ball], c: tuple[Ball, Ball]) -> bool:
    """Whether the curve certainly bends upwards at the middle one."""
    return bool((c[1] - b[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (c[0] - b[0]))
