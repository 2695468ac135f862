"""Private training as plans see it: families of one sampled Gaussian whose σ grows with the unknown.

Where the target is met is found in floats, for one family or for many at once; what is promised is proved at the places
that were found. One family is accounted for at the answer, and at its neighbour δ is bounded from below. Of many, δ at
the target's ε is bounded from above at the answer, in both directions, and from below at its neighbour, all in arrays;
their reports are written when somebody reads them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.jobs.account import account
from bursar.jobs.plan_family import Family
from bursar.jobs.report import Report, Row
from bursar.losses.engines.training.contours import Contours, contours
from bursar.losses.engines.training.rows import Rows
from bursar.losses.engines.training.solve import first_guess, fits, least, misses
from bursar.numerics.arrays import Array, Truths
from bursar.numerics.balls import Ball, ball, down, relative_radius, up
from bursar.numerics.real import Real
from bursar.numerics.trusted import UNIT

APART = 2e-7
"""How far from the place that was found the answer and its neighbour lie, relatively."""
_LEAST_RATE = 1e-100  # its inverse is nothing beside e^600
_UNSURE = 1e-12  # of parameters: more is not served in arrays


@dataclass(frozen=True)
class Training:
    """So many copies of one sampled Gaussian, under addition and removal of a record."""

    sigma: Ball
    rate: Ball
    copies: int


def training_of(what: Composition) -> Training | None:
    """The composition as training, where it is that."""
    if len(what.terms) != 1 or what.count < 2:
        return None
    ((mechanism, count),) = what.terms
    try:
        losses = mechanism.losses()
    except LossUnknown:
        return None
    noise, other = losses.remove.sampled_noise(), losses.add.sampled_noise()
    if noise is None or other is None or not losses.attained or not (noise[2] and not other[2]):
        return None
    return Training(noise[0], noise[1], count) if noise[1] > _LEAST_RATE else None


class Guess(NamedTuple):
    """Where the target may be met, and whether floats found it to all the digits that matter."""

    place: float
    found: bool
    where: Contours
    """Which contours serve there, where it was found."""


def guess(family: Family) -> Guess | None:
    """Where the target is met, in floats, or about where a Gaussian of the same variance would meet it: None for other
    families.
    """
    one = first_look(family)
    if one is None:
        return None
    rows = _rows([one], [family])
    sigma, where = least(rows)
    found = bool(where.fit[0])
    place = float((sigma if found else first_guess(rows))[0]) / float(one.sigma)
    if not (0 < place < math.inf and family.valid(place)):
        return None
    there = training_of(family.composition(place))
    return Guess(place, found, where) if there is not None and _grown(one, there, place) else None


def misses_goal(family: Family, value: float, where: Contours) -> bool:
    """Whether the value certainly costs more than the target: by a lower end of δ at its ε, or by an account."""
    what = training_of(family.composition(value))
    if what is not None:
        rows = _rows([what], [family])
        if rows.spread <= _UNSURE and misses(rows, where, _column([up(ball(family.delta))]))[0]:
            return True
    return family.cost(value, False) > family.goal


def _grown(one: Training, other: Training, times: float) -> bool:
    """Whether the other is the same training with so many times the noise: then the unknown is a measure of σ."""
    same = other.copies == one.copies and math.isclose(float(other.rate), float(one.rate), rel_tol=1e-12)
    return same and math.isclose(float(other.sigma), times * float(one.sigma), rel_tol=1e-12)


def first_look(family: Family) -> Training | None:
    """What the unknown 1.0 makes, where the family may be one of training."""
    if family.goal <= 0 or family.delta.low <= 0 or not family.valid(1.0):
        return None
    return training_of(family.composition(1.0))


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer and its neighbour, what both make, and what the answer is proved to cost at most. There may be very
    many, so that they hold little.
    """

    good: float
    bad: float
    fitting: Composition
    missing: Composition
    goal: float
    delta: Real

    def report(self) -> Report:
        """The account of the answer, which is proved to cost at most the goal."""
        return within(account(self.fitting, delta=self.delta), self.goal)

    def neighbour_report(self) -> Report:
        """The account of the neighbour."""
        return account(self.missing, delta=self.delta)


def pairs(families: Sequence[Family], looks: Sequence[Training]) -> list[Pair | None]:
    """For each family the value that certainly meets its target, and the neighbour that certainly does not; None where
    arrays do not prove it.
    """
    sigma, where = least(_rows(looks, families))
    near = sigma / np.array([float(look.sigma) for look in looks])
    found: list[Pair | None] = [None] * len(families)
    served: list[int] = np.flatnonzero(where.fit & np.isfinite(near) & (near > 0)).tolist()
    made = [_made(families[i], float(near[i])) for i in served]
    kept = [(i, pair, both) for i, one in zip(served, made, strict=True) if one is not None for pair, both in [one]]
    if kept:
        proofs = _proved([families[i] for i, _, _ in kept], [both for _, _, both in kept], where.part(_places(kept)))
        for (i, pair, _), proved in zip(kept, proofs.tolist(), strict=True):
            found[i] = pair if proved else None
    return found


def _places(kept: Sequence[tuple[int, Pair, object]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([i for i, _, _ in kept], dtype=np.int64)


def _made(family: Family, near: float) -> tuple[Pair, tuple[Training, Training]] | None:
    """What lies on both sides of a place, where that is training."""
    values = near * (1 + APART), near * (1 - APART)
    if not all(family.valid(value) for value in values):
        return None
    good, bad = (family.composition(value) for value in values)
    fitting, missing = training_of(good), training_of(bad)
    if fitting is None or missing is None:
        return None
    return Pair(*values, good, bad, family.goal, family.delta), (fitting, missing)


def _proved(families: Sequence[Family], both: Sequence[tuple[Training, Training]], where: Contours) -> Truths:
    """Which answers certainly fit while their neighbours certainly do not."""
    deltas = [ball(family.delta) for family in families]
    least_delta, most_delta = _column([down(delta) for delta in deltas]), _column([up(delta) for delta in deltas])
    good, bad = (_rows([pair[side] for pair in both], families) for side in (0, 1))
    if max(good.spread, bad.spread) > _UNSURE:
        return np.zeros(len(families), dtype=bool)
    proved = fits(good, where, least_delta) & misses(bad, where, most_delta)
    again = np.flatnonzero(~proved)
    if len(again):  # once more, with nodes for the very place
        near = good.part(again)
        where = contours(near, removed=True)
        proved[again] = fits(near, where, least_delta[again]) & misses(bad.part(again), where, most_delta[again])
    return np.asarray(proved)


def _rows(looks: Sequence[Training], families: Sequence[Family]) -> Rows:
    """The questions of the families about these."""
    unsure = max(max(relative_radius(look.sigma), relative_radius(look.rate)) for look in looks)
    return Rows(
        _column([float(look.sigma) for look in looks]),
        _column([float(look.rate) for look in looks]),
        _column([float(look.copies) for look in looks]),
        _column([family.goal for family in families]),
        _column([math.log(max(down(ball(family.delta)), 1e-300)) for family in families]),
        4 * UNIT + unsure,
    )


def _column(values: Sequence[float]) -> Array:
    return np.array(values, dtype=np.float64)


def within(report: Report, goal: float) -> Report:
    """A report about what is proved to cost at most the goal: both proofs hold, so the smaller upper end does."""
    if report.bound.upper <= goal:
        return report
    because = f"the sums of the sweep prove that δ at ε = {goal!r} is small enough; {report.bound.because}"
    rows = tuple(
        Row(row.theorem, replace(row.bound, upper=goal, because=because))
        if row.id == "numerical" and row.bound is not None
        else row
        for row in report.rows
    )
    return Report(report.composition, report.question, rows, replace(report.bound, upper=goal, because=because))
