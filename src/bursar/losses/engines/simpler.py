"""Questions that are easier than they look: where some losses only move the answer, where few matter among many alike,
and where simpler laws stand on either side of some.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from flint import arb

from bursar.losses.engines import dominant, lost, rungs, steady
from bursar.losses.engines.answer import USUAL_WIDTH, Answer, Losses, NoEngine, Precision, asked_between, between
from bursar.losses.twins import Twins
from bursar.numerics.balls import Ball, down, up

Solve = Callable[[Losses, Ball, Precision], Answer]
_COARSE = 1e-3  # the widest that the losses beside steady ones are asked for
_SMALL = 0.1  # of the width asked: what the others may cost to be left unasked
_APART = 0.9  # of each other: δ's for the two ends that are further apart than this may tell different stories
_SHARED = 0.4  # of the width asked: for the losses beside steady ones


def epsilon_at(losses: Losses, delta: Ball, precision: Precision, solve: Solve) -> Answer | None:
    """The answer where steady losses only move it, or where simpler laws stand for some; None where neither is so."""
    closer = replace(precision, width=_SHARED * (USUAL_WIDTH if precision.width is None else precision.width))
    with suppress(NoEngine):
        found = (
            lost.epsilon_at(losses, delta, closer.width or USUAL_WIDTH, lambda others, at: solve(others, at, closer))
            or _moved(losses, delta, precision, solve)
            or rungs.epsilon_at(losses, delta, lambda others, at: solve(others, at, closer))
        )
        if found is not None:
            return found
    twins = [(loss.twins() or Twins(loss, loss), count) for loss, count in losses]
    if all(pair.low is pair.high for pair, _ in twins):
        return None
    slack = sum((count * pair.slack for pair, count in twins), arb(0))
    less = delta * (-slack).exp()
    # δ_high(−2kρ) is at most δ_high(0) + 2kρ: so much less shows that ε is 0 itself, where it is
    less = less - 2 * slack if less > 2 * slack else less
    try:
        low = solve([(pair.low, count) for pair, count in twins], delta * slack.exp(), closer)
        high = solve([(pair.high, count) for pair, count in twins], less, closer)
    except NoEngine:
        return None
    nothing = high.upper == 0 and not less + 2 * slack > delta * (-slack).exp()
    lower, upper = max(down(arb(low.lower) - 2 * slack), 0.0), 0.0 if nothing else up(arb(high.upper) + 2 * slack)
    return between(high, lower, upper)


def _moved(losses: Losses, delta: Ball, precision: Precision, solve: Solve) -> Answer | None:
    """The answer where steady losses only move it: what the others cost, once for each end; None where none are, or
    where that is not as narrow as asked.
    """
    for dear in (steady.DEAR, 0.0):  # what others cost that take integrals is not known: it may be more than thought
        parts = steady.split(losses, delta, dear)
        found = None if parts is None else _beside(parts, precision, solve)
        if parts is None or found is not None or not parts.above < _APART * parts.below:
            return found
    return None


def _beside(parts: steady.Split, precision: Precision, solve: Solve) -> Answer | None:
    """The same for one way to split them."""
    # without the others ε is at least this, since forgetting them costs nothing
    low, high = parts.low + (-parts.below).log1p(), parts.high
    width = USUAL_WIDTH if precision.width is None else precision.width
    most = dominant.at_most(parts.rest, parts.above)
    if most <= _SMALL * width * parts.low:  # whatever the others cost: no engine needs to be asked
        high = high + most
    elif parts.rest:
        closer = replace(precision, width=min(_SHARED * width * parts.ease, max(width, _COARSE)))
        try:
            found = asked_between(
                lambda at: solve(parts.rest, at, closer), parts.above, parts.below, closer.width or USUAL_WIDTH
            )
        except NoEngine:
            return None
        high = high + arb(found.upper)
        low = low.max(parts.low + arb(found.lower)) if found.lower > 0 else low
    ends = max(down(low), 0.0), max(up(high), 0.0)
    answer = Answer(*ends, (), "steady", 1, 0.0) if ends[0] <= ends[1] else None
    return answer if answer is not None and answer.width <= width else None
