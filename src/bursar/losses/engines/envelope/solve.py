"""The smallest ε at a δ, asked of the envelope engine, one direction at a time, with both ends proved."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.factors import Factor
from bursar.losses.engines.envelope.choice import Ladder
from bursar.losses.engines.envelope.comb import Combed
from bursar.losses.engines.envelope.engine import MOST_MOMENTS, Envelope
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.gathering import factors_of
from bursar.losses.engines.envelope.guided import GuidedFactor
from bursar.losses.engines.envelope.points import NoEnvelope, TooMany
from bursar.numerics.arrays import CALM
from bursar.numerics.balls import Ball

_ROUNDS, _TRIES = 6, 4  # of narrowing, and of placing a line around the ε that it finds
_SETTLED = 0.1  # of a period: a line serves every ε this near
_FINER = 16  # by how much the width asked falls where an atom lies close to ε
_FINEST = 1e-6


def target_of(losses: Losses, delta: Ball) -> tuple[Ball, float]:
    """What leaks, and ln of what is left of δ."""
    leak = leak_of(losses)
    target = delta - leak
    if not target > 0:
        raise NoEnvelope("δ does not exceed what the releases leak")
    return leak, float(target.log())


@CALM
def epsilon_at(losses: Losses, delta: Ball, width: float, most: int = MOST_MOMENTS) -> Answer:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of the composed losses."""
    leak, log_delta = target_of(losses, delta)
    factors = factors_of(losses, log_delta)
    try:
        return _narrowed(factors, (leak, delta, log_delta), width, most)
    except (NoEnvelope, ArithmeticError):
        if not any(isinstance(factor, GuidedFactor) for factor in factors):
            raise
        return _narrowed(factors_of(losses, log_delta, plain=True), (leak, delta, log_delta), width, most)


@CALM
def narrow_epsilon_at(losses: Losses, delta: Ball, width: float, most: int) -> Answer:
    """The same where so many moments give it as narrow as asked, or nearly; refused where they do not."""
    leak, log_delta = target_of(losses, delta)
    factors, limit = factors_of(losses, log_delta), NoEnvelope("no factor")
    for plain in (False, True) if any(isinstance(factor, GuidedFactor) for factor in factors) else (False,):
        factors = factors_of(losses, log_delta, plain=True) if plain else factors
        try:
            ladder = Ladder(factors, log_delta, most)
            near = ladder.guess(log_delta)
            if near <= 0:
                return _at_zero(factors, leak, delta)
            envelope, near = _settled(factors, leak, ladder, near, log_delta, width)
            if near > 0:
                return _certified(envelope, near, delta, width)
        except TooMany:
            raise
        except (NoEnvelope, ArithmeticError) as reason:
            limit = NoEnvelope(str(reason))
    raise limit


def _narrowed(factors: list[Factor], asked: tuple[Ball, Ball, float], width: float, most: int) -> Answer:
    """An interval this narrow, or the narrowest that so many moments give."""
    leak, delta, log_delta = asked
    ladder = Ladder(factors, log_delta, most)
    first = near = ladder.guess(log_delta)
    goal, found, limit = width, None, NoEnvelope("ε does not settle")
    for _ in range(_ROUNDS):
        if not _FINEST * width < goal < 1 or (found is not None and found.width <= width):
            break
        if near <= 0:
            try:
                return _at_zero(factors, leak, delta)
            except NoEnvelope:
                near = 0.3 * float(ladder.epsilons(log_delta).min())  # a guess that is too low is no answer
                if not near > 0 or first <= -near:
                    raise
                first = -near
        try:
            envelope, near = _settled(factors, leak, ladder, near, log_delta, goal)
            if near > 0:
                answer = _certified(envelope, near, delta, max(width, goal))
                found = answer if found is None or answer.width < found.width else found
        except TooMany as reason:
            if found is not None or goal < width:
                break
            limit, goal = reason, goal * _FINER**2  # rather a wide answer than none
        except NoEnvelope as reason:
            if found is None and near == first:
                near = float(ladder.epsilons(log_delta).min())  # where it certainly is not larger
                continue
            limit = reason
        if goal > width and found is not None:
            break
        # an atom close to ε: there the polynomials differ by more than on the average
        goal /= _FINER
    if found is None:
        raise limit
    return found


def _settled(
    factors: list[Factor], leak: Ball, ladder: Ladder, near: float, log_delta: float, width: float
) -> tuple[Envelope | Combed, float]:
    """A line made for the ε that it finds."""
    for _ in range(_TRIES):
        envelope = made(factors, leak, ladder, near, log_delta, width)
        found = _root(envelope, near, log_delta)
        if found <= 0 or abs(found - near) < _SETTLED * envelope.line.period:
            return envelope, found
        near = found
    raise NoEnvelope("the search for ε does not settle")


def made(
    factors: list[Factor],
    leak: Ball,
    ladder: Ladder,
    near: float,
    log_delta: float,
    width: float,
    *,
    of_delta: bool = False,
) -> Envelope | Combed:
    """Sums for this ε: exact ones on a comb where its teeth are few, else polynomials on either side."""
    (first, *others) = factors
    if isinstance(first, PointsFactor) and first.law.comb is not None and not others:
        try:
            tooth = abs(float(first.law.comb.step))
            return Combed(first, leak, ladder.line(near, log_delta, width, of_delta=of_delta, tooth=tooth))
        except TooMany:  # moments, for teeth that are close together
            pass
    return Envelope(factors, leak, ladder.line(near, log_delta, width, of_delta=of_delta))


def _root(envelope: Envelope | Combed, near: float, log_delta: float) -> float:
    """Where the sums meet δ, in floats: Newton's steps, or halves where those leave what is known to hold it."""
    limit = 0.25 * envelope.line.period
    low, high = near - limit, near + limit
    x = near
    for _ in range(80):
        value, slope = envelope.rough(x)
        if value > log_delta:
            low = x
        else:
            high = x
        step = (value - log_delta) / slope if slope else math.inf
        last, x = x, x - step
        if not low < x < high:
            x = (low + high) / 2
        if abs(x - last) <= 1e-11 * abs(x) or high - low <= 1e-11 * abs(x) or x < 0:
            break
    return x


def _at_zero(factors: list[Factor], leak: Ball, delta: Ball) -> Answer:
    """ε would be negative: certify that δ(0) is at most δ."""
    log_delta = float(delta.log())
    ladder = Ladder(factors, log_delta, MOST_MOMENTS, at=0.0)
    found = made(factors, leak, ladder, 0.0, min(ladder.log_delta(0.0), log_delta), 1e-3, of_delta=True)
    _, upper, errors = found.evaluate(0.0)
    if upper <= delta:
        return Answer(0.0, 0.0, errors, "envelope", found.line.nodes, found.tau)
    raise NoEnvelope("ε is too close to 0 to be told from it")


def _certified(envelope: Envelope | Combed, near: float, delta: Ball, width: float) -> Answer:
    """Step outwards from the root until the balls agree that each end is on its side, and back while that pays."""
    errors = envelope.evaluate(near)[2]
    # δ changes by a hundredth over 0.01/τ: sums made for one ε serve others only so far
    fine = 0.1 * width * abs(near)
    first = min(0.2 * fine, 0.01 / envelope.tau)
    high = end_of(near, 1, first, fine, lambda x: envelope.evaluate(x)[1] <= delta)
    low = end_of(near, -1, first, fine, lambda x: envelope.evaluate(x)[0] > delta)
    return Answer(max(low, 0.0), max(high, 0.0), errors, "envelope", envelope.line.nodes, envelope.tau)


def end_of(start: float, side: int, step: float, fine: float, proved: Callable[[float], bool]) -> float:
    """The nearest place on this side at which the end is proved, as closely as asked."""
    failed = 0.0
    while not proved(start + side * step):
        failed, step = step, 4 * step
        if side < 0 and start <= step:
            return 0.0
        if step > 0.1 * (1 + abs(start)):
            raise NoEnvelope("the error budget is too large to certify an end")
    while step - failed > fine:
        middle = (step + failed) / 2
        if proved(start + side * middle):
            step = middle
        else:
            failed = middle
    return start + side * step


@CALM
def at_most(losses: Losses, epsilon: float, delta: Ball) -> bool:
    """Whether a Chernoff bound shows that δ(ε) is at most δ."""
    leak, log_delta = leak_of(losses), max(float(delta.log()), -1e4)
    factors = factors_of(losses, log_delta)
    ladder = Ladder(factors, log_delta, MOST_MOMENTS, at=epsilon)
    tilt = float(ladder.tilts[int(np.argmin(ladder.bounds(epsilon)))])
    cumulant = sum((factor.cumulants([tilt])[0] for factor in factors), chernoff_constant(tilt))
    given_up = sum((factor.given_up for factor in factors), leak)
    return bool(given_up + (cumulant - arb(tilt) * arb(epsilon)).exp() <= delta)
