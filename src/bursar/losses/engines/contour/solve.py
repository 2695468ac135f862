"""Questions put to the contour engine, one direction at a time: δ at an ε, or ε at a δ, with both ends proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.chernoff import delta_at_most
from bursar.losses.engines.contour.choice import around, by_saddle, by_scales, factors_of, splitting
from bursar.losses.engines.contour.engine import Contour
from bursar.losses.engines.contour.factors import NoContour
from bursar.losses.engines.contour.modulus import delta_below
from bursar.losses.engines.contour.scales import two_scales
from bursar.losses.engines.contour.terms import Errors
from bursar.numerics.arrays import CALM
from bursar.numerics.balls import Ball, down, up

_MANY_LOSSES = 100  # different ones: beyond, evaluation costs no more than a ball for each
_HITS, _QUIET, _DEEPEST = 20.0, 0.5, arb(10) ** -30  # a crowd of hits, none of which stands out: how many, σ, δ


@CALM
def delta_at(losses: Losses, epsilon: Ball) -> Answer:
    """δ(ε) of the composed losses."""
    contour = around(losses, float(epsilon))
    # δ falls with ε, so the ends of ε's ball give the ends of δ's
    upper, errors = contour.evaluate(down(epsilon))[1:]
    return _answer(contour, contour.evaluate(up(epsilon))[0], upper, errors)


def deltas_at(losses: Losses, epsilons: Iterable[float]) -> Iterator[Answer]:
    """δ at many ε's in turn: a contour serves as long as it is precise."""
    contour = None
    for epsilon in epsilons:
        if contour is None or not contour.precise(epsilon):
            contour = around(losses, epsilon)
        yield _answer(contour, *contour.evaluate(epsilon))


def _answer(contour: Contour, lower: Ball, upper: Ball, errors: Errors) -> Answer:
    nodes, least, most = len(contour.frequencies), down(lower), up(upper)
    if not 0 <= least <= most:  # impossible: no end of such an interval can be trusted
        raise NoContour("the ends contradict each other")
    return Answer(least, min(most, 1.0), errors.terms(), "contour", nodes, contour.tau)


def suits(losses: Losses, delta: Ball) -> bool:
    """Whether no other engine is worth asking first: copies of one sampled Gaussian, in the middle of the main road."""
    noise = losses[0][0].sampled_noise() if len(losses) == 1 else None
    if noise is None:
        return False
    sigma, rate, _ = noise
    return bool(sigma >= _QUIET and losses[0][1] * rate >= _HITS and delta >= _DEEPEST)


@CALM
def epsilon_at(losses: Losses, delta: Ball) -> Answer:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of the composed losses: by all of them together, else by rare large ones."""
    try:
        return by_all(losses, delta)
    except (NoContour, ArithmeticError):
        found = by_rare(losses, delta)
        if found is None:
            raise
        return found


@CALM
def by_all(losses: Losses, delta: Ball) -> Answer:
    """ε by a contour for all losses together."""
    leak, log_delta = _target(losses, delta)
    factors = factors_of(losses, log_delta)
    contour, near = by_scales(factors, leak, log_delta) or by_saddle(factors, leak, log_delta)
    if near <= 0:
        return _at_zero(losses, delta)
    return _certified(contour, near, delta, log_delta)


@CALM
def by_rare(losses: Losses, delta: Ball) -> Answer | None:
    """ε by a contour for large losses alone, which are rare; None where they cannot be told from the others."""
    leak, log_delta = _target(losses, delta)
    whole = splitting(losses, log_delta)
    if whole is None:
        return None
    from bursar.losses.engines.contour.rare_choice import by_rare  # seldom needed

    contour, near = by_rare(whole, leak, log_delta)
    return _certified(contour, near, delta, log_delta)


@CALM
def by_leaps(losses: Losses, delta: Ball) -> Answer | None:
    """ε by a contour for all losses where the saddle point of δ says little; None where losses are of one scale."""
    leak, log_delta = _target(losses, delta)
    factors = factors_of(losses, log_delta)
    heavy = two_scales(factors, log_delta)
    if heavy == math.inf:
        return None
    from bursar.losses.engines.contour.leaps import by_leaps  # seldom needed

    return _certified(*by_leaps(factors, leak, log_delta, heavy), delta, log_delta)


def _target(losses: Losses, delta: Ball) -> tuple[Ball, float]:
    """What leaks, and ln of what is left of δ."""
    leak = leak_of(losses)
    target = delta - leak
    if not target > 0:
        raise NoContour("δ does not exceed what the releases leak")
    return leak, float(target.log())


def on_main_road(losses: Losses, delta: Ball) -> Answer:
    """The same for what `suits`: in fewer operations where they serve."""
    (loss, count), *_ = losses
    noise = loss.sampled_noise()
    if noise is not None and noise[2]:
        from bursar.losses.engines.contour import road  # with `added`, for those who sample

        with suppress(NoContour, ArithmeticError):
            return road.epsilon_at(noise[0], noise[1], count, delta)
    return epsilon_at(losses, delta)


@CALM
def at_most(losses: Losses, epsilon: float, delta: Ball, tilt: float) -> bool:
    """Whether δ(ε) of the composed losses is certainly at most δ: in closed form, by the largest loss, by a Chernoff
    bound, by the modulus of the integrand, or by evaluation.
    """
    if _added_at_most(losses, epsilon, delta):
        return True
    leak, x = leak_of(losses), arb(epsilon)
    if sum((count * loss.support()[1] for loss, count in losses), arb(0)) <= x:
        return bool(leak <= delta)
    if len(losses) <= _MANY_LOSSES and leak + delta_at_most(losses, epsilon) <= delta:
        return True
    factors = factors_of(losses, float(delta.log()) - 1)
    # the other direction may have been summed far below its saddle; a Gaussian of this variance has it here
    tilt = max(tilt, epsilon / sum(factor.rough_variance() for factor in factors) - 0.5)
    if delta_below(factors, leak, epsilon, tilt) <= delta:
        return True
    contour = Contour(factors, leak, epsilon, float(delta.log()), tilt, only_upper=True)
    return bool(contour.evaluate(epsilon)[1] <= delta)


def _added_at_most(losses: Losses, epsilon: float, delta: Ball) -> bool:
    """The same for copies of one sampled Gaussian to which a record is added, which leak nothing."""
    noise = losses[0][0].sampled_noise() if len(losses) == 1 else None
    if noise is None or noise[2]:
        return False
    from bursar.losses.engines.contour import added  # a third of the engines, for those who sample

    return added.at_most(noise[0], noise[1], losses[0][1], epsilon, delta)


def _at_zero(losses: Losses, delta: Ball) -> Answer:
    """ε would be negative: certify that δ(0) is at most δ."""
    at_zero = delta_at(losses, arb(0))
    if arb(at_zero.upper) <= delta:
        return Answer(0.0, 0.0, at_zero.errors, "contour", at_zero.nodes, at_zero.tilt)
    raise NoContour("ε is too close to 0 to be told from it")


def _certified(contour: Contour, near: float, delta: Ball, log_delta: float) -> Answer:
    """Step outwards from the root until the balls agree that each end is on its side."""
    slope = abs(contour.rough(near)[1])
    lower, upper, errors = contour.evaluate(near)
    gap_up = max(float(((upper - delta) / delta).upper()), 0.0)
    gap_down = max(float(((delta - lower) / delta).upper()), 0.0)
    least = 4 * math.ulp(near)
    high = _walk(near, 1, max(1.1 * gap_up / slope, least), lambda x: contour.evaluate(x)[1] <= delta)
    low = _walk(near, -1, max(1.1 * gap_down / slope, least), lambda x: contour.evaluate(x)[0] > delta)
    if not low <= high:
        raise NoContour("the ends contradict each other")
    return Answer(max(low, 0.0), max(high, 0.0), errors.terms(), "contour", len(contour.frequencies), contour.tau)


def _walk(start: float, side: int, step: float, proved: Callable[[float], bool]) -> float:
    """The first place on this side, in steps that double, at which the end is proved."""
    for _ in range(40):
        x = start + side * step
        if side < 0 and x <= 0:
            return 0.0
        if proved(x):
            return x
        step *= 2
        if step > 0.1 * (1 + abs(start)):
            break
    raise NoContour("the error budget is too large to certify an end")
