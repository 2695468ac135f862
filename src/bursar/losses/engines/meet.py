"""The engines as one: each direction is asked of the engine that suits its losses, and of another where that cannot
serve or stays wider than asked.

    single event   bounded losses at a δ below the chance that all of them are largest: two ends for nothing
    closed form    discrete Gaussians of a large σ, beside Gaussians
    contour        where noise is Gaussian: fewest moments, because they decay
    envelope       everything whose places can be listed: atoms, densities, and both together
    lattice        what is left, and the cross-check of the others
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from flint import arb

from bursar.errors import ContradictionError, LossUnknown
from bursar.losses.engines import contour, envelope, lattice, likeness, rungs, steady, top
from bursar.losses.engines.answer import EFFORTS, Answer, Losses, Precision, leak_of
from bursar.losses.engines.contour import NoContour
from bursar.losses.engines.envelope import NoEnvelope
from bursar.losses.engines.lattice import NoLattice
from bursar.numerics.balls import Ball, down, up

SETTLED = "settled"
"""In place of an engine's name: as ledgers have priced plans up to now. What they wrote must not move with every better
engine."""
_USUAL = 1e-6
_MANY = 100
_COARSE = 1e-3  # the widest that those are asked for
_SHARED = 0.4  # of the width asked: for the losses beside steady ones
_CLOSE = 1e-4  # an answer this narrow is not worth another engine's minutes, unless effort is asked for
_PER_MOMENT = 4  # grid points are worth a moment
_STUMBLES = (NoContour, NoEnvelope, NoLattice, LossUnknown, ArithmeticError, ValueError)
"""Whatever the floats of an engine stumble over: it fails closed."""


class NoEngine(Exception):
    """No engine serves this composition."""


def usual_width(losses: Losses) -> float:
    """The relative width that is asked for unless another is: a millionth."""
    return _USUAL


def epsilon_at(directions: Sequence[Losses], delta: Ball, precision: Precision) -> Answer:
    """The smallest ε ≥ 0 at which every direction's δ(ε) is at most δ."""
    most = EFFORTS[precision.effort] // _PER_MOMENT
    ask = _Ask(
        precision,
        {
            "single event": lambda losses, _: top.epsilon_at(losses, delta),
            "closed form": lambda losses, _: likeness.epsilon_at(losses, delta),
            "contour": lambda losses, _: contour.epsilon_at(losses, delta),
            "envelope": lambda losses, width: envelope.epsilon_at(losses, delta, width, most),
            "lattice": lambda losses, width: lattice.epsilon_at(losses, delta, width, EFFORTS[precision.effort]),
        },
    )
    answers: list[Answer] = []
    for losses in directions:
        simpler = _simpler(losses, delta, precision) if precision.engine is None else None
        if simpler is not None:
            if simpler.width > (_USUAL if precision.width is None else precision.width):
                with suppress(NoEngine):
                    simpler = _both(simpler, ask(losses))
            answers.append(simpler)
            continue
        # Mostly the other direction is the cheaper one, which is easier to show than to solve.
        if not (answers and precision.engine is None and _cheaper(losses, answers[0], delta)):
            answers.append(ask(losses))
    return _worst(answers)


def _simpler(losses: Losses, delta: Ball, precision: Precision) -> Answer | None:
    """The answer where steady losses only move it, or where simpler laws stand for some; None where neither is so."""
    closer = replace(precision, width=_SHARED * (_USUAL if precision.width is None else precision.width))
    with suppress(NoEngine):
        found = _moved(losses, delta, precision) or rungs.epsilon_at(
            losses, delta, lambda others, at: epsilon_at([others], at, closer)
        )
        if found is not None:
            return found
    twins = [(loss.twins() or (loss, loss), count) for loss, count in losses]
    if all(pair[0] is pair[1] for pair, _ in twins):
        return None
    try:
        low, high = (epsilon_at([[(pair[side], n) for pair, n in twins]], delta, closer) for side in (0, 1))
    except NoEngine:
        return None
    return replace(high, lower=min(low.lower, high.upper))


def _moved(losses: Losses, delta: Ball, precision: Precision) -> Answer | None:
    """The answer where steady losses only move it: what the others cost, once for each end; None where none are, or
    where that is not as narrow as asked.
    """
    parts = steady.split(losses, delta)
    if parts is None:
        return None
    # without the others ε is at least this, since forgetting them costs nothing
    low, high = parts.low + (-parts.below).log1p(), parts.high
    width = _USUAL if precision.width is None else precision.width
    if parts.rest:
        closer = replace(precision, width=min(_SHARED * width * parts.ease, max(width, _COARSE)))
        try:
            first = epsilon_at([parts.rest], parts.above, closer)
            second = epsilon_at([parts.rest], parts.below, closer)
        except NoEngine:
            return None
        high = high + arb(first.upper)
        low = low.max(parts.low + arb(second.lower)) if second.lower > 0 else low
    ends = max(down(low), 0.0), max(up(high), 0.0)
    answer = Answer(*ends, (), "steady", 1, 0.0) if ends[0] <= ends[1] else None
    return answer if answer is not None and answer.width <= width else None


def delta_at(directions: Sequence[Losses], epsilon: Ball, precision: Precision) -> Answer:
    """The largest of the directions' δ(ε)."""
    most = EFFORTS[precision.effort] // _PER_MOMENT
    ask = _Ask(
        precision,
        {
            "single event": lambda losses, _: None if _smooth(losses) else top.delta_at(losses, epsilon),
            "contour": lambda losses, _: contour.delta_at(losses, epsilon),
            "envelope": lambda losses, width: envelope.delta_at(losses, epsilon, width, most),
            "lattice": lambda losses, width: lattice.delta_at(losses, epsilon, width, EFFORTS[precision.effort]),
        },
    )
    return _worst([ask(losses) for losses in directions])


def deltas_at(losses: Losses, epsilons: Sequence[float], precision: Precision) -> list[Answer]:
    """One direction's δ at many ε's, by the first engine that serves them all."""
    width, effort = precision.width or _width(losses, precision), EFFORTS[precision.effort]
    ways: dict[str, Callable[[list[float]], list[Answer]]] = {
        "contour": lambda asked: list(contour.deltas_at(losses, asked)),
        "envelope": lambda asked: list(envelope.deltas_at(losses, asked, width, effort // _PER_MOMENT)),
        "lattice": lambda asked: list(lattice.deltas_at(losses, asked, width, effort)),
    }
    found: dict[float, Answer] = {}
    if precision.engine is None and not _smooth(losses):
        low = ((epsilon, top.delta_at(losses, arb(epsilon))) for epsilon in epsilons)
        found = {epsilon: answer for epsilon, answer in low if answer is not None and answer.width <= width}
    asked = [epsilon for epsilon in epsilons if epsilon not in found]
    reasons = []
    for name in _order(losses, precision, ways):
        try:
            found.update(zip(asked, ways[name](asked), strict=True))
            return [found[epsilon] for epsilon in epsilons]
        except _STUMBLES as limit:
            reasons.append(f"the {name} engine: {limit}")
    raise NoEngine("; ".join(reasons))


def _order(losses: Losses, precision: Precision, ways: Iterable[str]) -> list[str]:
    """Which engines to ask, in turn: the one that is forced, or those that suit the losses."""
    if precision.engine == SETTLED:
        return ["contour", "lattice"]
    if precision.engine is not None:
        return [precision.engine]
    smooth = _smooth(losses)
    return [name for name in ways if name != "contour" or smooth]


def _width(losses: Losses, precision: Precision) -> float:
    """The width that is asked where none is given."""
    if precision.engine != SETTLED or _smooth(losses):
        return _USUAL
    return 1e-3 if sum(loss.table() is not None for loss, _ in losses) > _MANY else 1e-4


def _smooth(losses: Losses) -> bool:
    """Whether some noise is Gaussian, so that moments decay and the contour engine is the quickest."""
    return any(loss.gaussian_noise() for loss, _ in losses)


def _cheaper(losses: Losses, first: Answer, delta: Ball) -> bool:
    most = sum((count * loss.support()[1] for loss, count in losses), arb(0))
    if most <= first.lower and leak_of(losses) <= 0:  # no loss is ever larger than the other direction's ε
        return True
    try:
        if first.engine == "contour":
            return contour.at_most(losses, first.upper, delta, first.tilt)
        return envelope.at_most(losses, first.upper, delta)
    except _STUMBLES:
        return False


@dataclass(frozen=True)
class _Ask:
    """The engines in turn, until what they prove together is narrow enough."""

    precision: Precision
    engines: dict[str, Callable[[Losses, float], Answer | None]]

    def __call__(self, losses: Losses) -> Answer:
        width = _USUAL if self.precision.width is None else self.precision.width
        reasons, found = [], None
        for name in _order(losses, self.precision, self.engines):
            if name == "lattice" and found is not None and found.width <= _CLOSE and self.precision.effort != "high":
                break
            try:
                other = self.engines[name](losses, width)
            except _STUMBLES as limit:
                reasons.append(f"the {name} engine: {limit}")
                continue
            if other is not None:
                found = other if found is None else _both(found, other)
                if found.width <= width:
                    break
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
    found = max(answers, key=lambda answer: answer.upper)
    return replace(found, lower=max(answer.lower for answer in answers))
