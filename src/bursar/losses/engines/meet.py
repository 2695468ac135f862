"""The two engines as one: each direction is asked of the contour engine, and of the lattice engine where the other
cannot serve or stays wider than asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flint import arb

from bursar.errors import ContradictionError
from bursar.losses.engines import contour, lattice
from bursar.losses.engines.answer import EFFORTS, Answer, Losses, Precision, leak_of
from bursar.losses.engines.contour import NoContour
from bursar.losses.engines.lattice import NoLattice
from bursar.numerics.balls import Ball

_MANY = 100


class NoEngine(Exception):
    """Neither engine serves this composition."""


def usual_width(losses: Losses) -> float:
    """A millionth where something Gaussian is released, a thousandth where more than a hundred different tables meet,
    else 1e-4.
    """
    if any(loss.gaussian_noise() for loss, _ in losses):
        return 1e-6
    return 1e-3 if sum(loss.table() is not None for loss, _ in losses) > _MANY else 1e-4


def epsilon_at(directions: Sequence[Losses], delta: Ball, precision: Precision) -> Answer:
    """The smallest ε ≥ 0 at which every direction's δ(ε) is at most δ."""
    ask = _Ask(
        precision,
        lambda losses: contour.epsilon_at(losses, delta),
        lambda losses, width, most: lattice.epsilon_at(losses, delta, width, most),
    )
    answers: list[Answer] = []
    for losses in directions:
        # Mostly the other direction is the cheaper one, which is easier to show than to solve.
        if not (answers and precision.engine is None and _cheaper(losses, answers[0], delta)):
            answers.append(ask(losses))
    return _worst(answers)


def delta_at(directions: Sequence[Losses], epsilon: Ball, precision: Precision) -> Answer:
    """The largest of the directions' δ(ε)."""
    ask = _Ask(
        precision,
        lambda losses: contour.delta_at(losses, epsilon),
        lambda losses, width, most: lattice.delta_at(losses, epsilon, width, most),
    )
    return _worst([ask(losses) for losses in directions])


def deltas_at(losses: Losses, epsilons: Sequence[float], precision: Precision) -> list[Answer]:
    """One direction's δ at many ε's; where the contour engine serves them all it does so alone."""
    width = usual_width(losses) if precision.width is None else precision.width
    if precision.engine != "lattice":
        try:
            return list(contour.deltas_at(losses, epsilons))
        except (NoContour, ArithmeticError, ValueError):
            if precision.engine == "contour":
                raise NoEngine("the contour engine does not serve every ε of the range") from None
    try:
        return list(lattice.deltas_at(losses, epsilons, width, EFFORTS[precision.effort]))
    except (NoLattice, ArithmeticError, ValueError) as limit:
        raise NoEngine(f"the lattice engine: {limit}") from None


def _cheaper(losses: Losses, first: Answer, delta: Ball) -> bool:
    most = sum((count * loss.support()[1] for loss, count in losses), arb(0))
    if most <= first.lower and leak_of(losses) <= 0:  # no loss is ever larger than the other direction's ε
        return True
    try:
        return contour.at_most(losses, first.upper, delta, first.tilt)
    except (NoContour, ArithmeticError, ValueError):
        return False


@dataclass(frozen=True)
class _Ask:
    """The contour engine first; the lattice engine where that fails or is not narrow enough, and then both hold."""

    precision: Precision
    smooth: Callable[[Losses], Answer]
    gridded: Callable[[Losses, float, int], Answer]

    def __call__(self, losses: Losses) -> Answer:
        wanted, forced = self.precision.width, self.precision.engine
        width = usual_width(losses) if wanted is None else wanted
        reasons, found = [], None
        if forced != "lattice":
            try:
                found = self.smooth(losses)
            except (NoContour, ArithmeticError, ValueError) as limit:  # whatever the floats stumble over, fail closed
                reasons.append(f"the contour engine: {limit}")
        if forced != "contour" and (found is None or found.width > width):
            try:
                other = self.gridded(losses, width, EFFORTS[self.precision.effort])
                found = other if found is None else _both(found, other)
            except (NoLattice, ArithmeticError, ValueError) as limit:
                reasons.append(f"the lattice engine: {limit}")
        if found is None:
            raise NoEngine("; ".join(reasons))
        return found


def _both(first: Answer, second: Answer) -> Answer:
    """Two proved intervals: the narrower one's record with the ends of both."""
    best = min(first, second, key=lambda answer: answer.width)
    lower, upper = max(first.lower, second.lower), min(first.upper, second.upper)
    if lower > upper:
        raise ContradictionError(f"the engines exclude each other: {first} and {second}")
    return replace(best, lower=lower, upper=upper)


def _worst(answers: Sequence[Answer]) -> Answer:
    """The larger of the lower and of the upper ends; the record of the one that decides the upper."""
    top = max(answers, key=lambda found: found.upper)
    return replace(top, lower=max(found.lower for found in answers))
