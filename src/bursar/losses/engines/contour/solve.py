"""Questions put to the contour engine, one direction at a time: δ at an ε, or ε at a δ, with both ends proved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.contour.engine import Contour, Errors
from bursar.losses.engines.contour.factors import Factor, GaussianFactor, NoContour, factor_of
from bursar.losses.engines.contour.rare_factor import RareFactor, chernoff_guess, rare_integral
from bursar.losses.engines.contour.saddle import choose_tilt, rough_cumulants, tilt_for
from bursar.losses.engines.contour.sampled_factor import added_at_most
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.scales import Scales, guess, two_scales
from bursar.losses.engines.tilt import Tilts
from bursar.numerics.balls import Ball, down, up

_MANY = 300  # nodes; beyond, another tilt may pay


def delta_at(losses: Losses, epsilon: Ball) -> Answer:
    """δ(ε) of the composed losses."""
    contour = _around(losses, float(epsilon))
    # δ falls with ε, so the ends of ε's ball give the ends of δ's
    upper, errors = contour.evaluate(down(epsilon))[1:]
    return _answer(contour, contour.evaluate(up(epsilon))[0], upper, errors)


def deltas_at(losses: Losses, epsilons: Iterable[float]) -> Iterator[Answer]:
    """δ at many ε's in turn: a contour serves as long as it is precise."""
    contour = None
    for epsilon in epsilons:
        if contour is None or not contour.precise(epsilon):
            contour = _around(losses, epsilon)
        yield _answer(contour, *contour.evaluate(epsilon))


def _answer(contour: Contour, lower: Ball, upper: Ball, errors: Errors) -> Answer:
    nodes, least, most = len(contour.frequencies), down(lower), up(upper)
    if not 0 <= least <= most:  # impossible: no end of such an interval can be trusted
        raise NoContour("the ends contradict each other")
    return Answer(least, min(most, 1.0), errors.terms(), "contour", nodes, contour.tau)


def _around(losses: Losses, epsilon: float) -> Contour:
    """A contour for δ at this ε."""
    try:
        return _around_whole(losses, epsilon)
    except (NoContour, ArithmeticError):
        log_delta = math.log(1e-9)
        for _ in range(2):
            rare = rare_integral(losses, log_delta)
            if rare is None or epsilon <= 0:
                raise
            factor = RareFactor(*rare, (1 - 1e-9) * epsilon, log_delta)
            tau, log_delta = tilt_for([factor], epsilon)
        return _first_contour([factor], leak_of(losses), epsilon, log_delta, tau, solve=False)[0]


def _around_whole(losses: Losses, epsilon: float) -> Contour:
    """The same for all losses together."""
    leak, factors = leak_of(losses), _factors(losses, math.log(1e-9))
    for _ in range(2):
        tau, log_delta = tilt_for(factors, epsilon)
        factors = _factors(losses, log_delta)
    contour, _ = _first_contour(factors, leak, epsilon, log_delta, tau, solve=False)
    seen = contour.rough(epsilon)[0]
    if seen < log_delta - 1.5:
        # δ is far smaller than the saddle point says: aliases and the cut must shrink with it
        contour, _ = _first_contour(_factors(losses, seen), leak, epsilon, seen, contour.tau, solve=False)
    return contour


def epsilon_at(losses: Losses, delta: Ball) -> Answer:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of the composed losses."""
    leak = leak_of(losses)
    target = delta - leak
    if not target > 0:
        raise NoContour("δ does not exceed what the releases leak")
    log_delta = float(target.log())
    factors = _factors(losses, log_delta)
    try:
        contour, near = _by_scales(factors, leak, log_delta) or _by_saddle(factors, leak, log_delta)
        if near <= 0:
            return _at_zero(losses, delta)
        return _certified(contour, near, delta, log_delta)
    except (NoContour, ArithmeticError):
        rare = rare_integral(losses, log_delta)
        if rare is None:
            raise
        contour, near = _by_rare(*rare, leak, log_delta)
        return _certified(contour, near, delta, log_delta)


def _by_rare(integral: SampledIntegral, count: int, leak: Ball, log_delta: float) -> tuple[Contour, float]:
    """The same where large losses are rare: what small losses alone may do is bounded from a floor on, which must lie
    below ε.
    """
    floor = 0.95 * chernoff_guess(integral, count, log_delta)
    for _ in range(8):
        try:
            factor = RareFactor(integral, count, floor, log_delta)
            contour, near = _by_saddle([factor], leak, log_delta)
        except (NoContour, ArithmeticError):
            floor *= 0.7
            continue
        if near >= floor:
            return contour, near
        floor = max(0.95 * near, 0.7 * floor)
    raise NoContour("small and large losses cannot be told apart")


def _by_saddle(factors: list[Factor], leak: Ball, log_delta: float) -> tuple[Contour, float]:
    """A contour near the saddle point, and the ε that it finds."""
    tau, guess = choose_tilt(factors, log_delta)
    contour, near = _first_contour(factors, leak, guess, log_delta, tau)
    if near > 0 and abs(near - guess) * contour.tau > 0.3 and not contour.precise(near):
        # The saddle point was a poor guess: choose the nodes anew for the ε that they found.
        contour = Contour(factors, leak, near, log_delta, contour.tau)
        near = _newton(contour, near, log_delta)
    return contour, near


def _by_scales(factors: list[Factor], leak: Ball, log_delta: float) -> tuple[Contour, float] | None:
    """The same for losses of two scales, whose saddle point says little; None for others."""
    heavy = two_scales(factors, log_delta)
    if heavy == math.inf:
        return None
    scales, near = Scales(factors, heavy), guess(factors, log_delta)
    try:
        for _ in range(4):
            tau, ladder = scales.choose(near, log_delta)
            contour = Contour(factors, leak, near, log_delta, tau, ladder=ladder)
            near = _newton(contour, near, log_delta)
            if near <= 0 or contour.precise(near):
                return contour, near
    except NoContour:
        pass
    return None


def _first_contour(
    factors: list[Factor], leak: Ball, guess: float, log_delta: float, tau: float, *, solve: bool = True
) -> tuple[Contour, float]:
    """A contour at the tilt given; where that takes many nodes or none suffice, at the tilt with the shortest period.
    ε is solved for, or stays as it is given.
    """
    contour, near = None, guess
    try:
        contour = Contour(factors, leak, guess, log_delta, tau)
    except NoContour:
        if tau <= 0:
            raise
    if contour is None or len(contour.frequencies) > _MANY:
        tilts = Tilts(lambda t: rough_cumulants(factors, t)[0], tau)
        for _ in range(2):
            found = _shorter(factors, leak, near, log_delta, tilts, contour)
            if found is None or found is contour:
                break
            contour = found
            near = _newton(contour, near, log_delta) if solve else guess
        if contour is None:
            raise NoContour("the losses decay too slowly")
    return contour, (_newton(contour, near, log_delta) if solve else guess)


def _shorter(
    factors: list[Factor], leak: Ball, near: float, log_delta: float, tilts: Tilts, best: Contour | None
) -> Contour | None:
    """A contour at the tilt with the shortest period, where that takes clearly fewer nodes."""
    try:
        found = Contour(factors, leak, near, log_delta, tilts.best(near, log_delta)[0])
    except NoContour:
        return best
    return found if best is None or len(found.frequencies) < 0.8 * len(best.frequencies) else best


def at_most(losses: Losses, epsilon: float, delta: Ball, tilt: float) -> bool:
    """Whether δ(ε) of the composed losses is certainly at most δ: by the largest loss, by a Chernoff bound in closed
    form, or by evaluation.
    """
    leak, x = leak_of(losses), arb(epsilon)
    if sum((count * loss.support()[1] for loss, count in losses), arb(0)) <= x:
        return bool(leak <= delta)
    if leak + added_at_most(losses, epsilon) <= delta:
        return True
    factors = _factors(losses, float(delta.log()) - 1)
    # the other direction may have been summed far below its saddle; a Gaussian of this variance has it here
    own = 0.8 * (epsilon / sum(factor.rough_variance() for factor in factors) - 0.5)
    contour = Contour(factors, leak, epsilon, float(delta.log()), max(tilt, own), only_upper=True)
    return bool(contour.evaluate(epsilon)[1] <= delta)


def _newton(contour: Contour, guess: float, log_delta: float) -> float:
    """The root in floats: until steps vanish, or stop shrinking in the rounding of a sum that loses digits."""
    near, last = guess, math.inf
    for _ in range(30):
        value, slope = contour.rough(near)
        step = (value - log_delta) / slope if slope else math.inf
        if not math.isfinite(step) or abs(near) > 1e300:
            raise NoContour("the search for ε does not settle")
        near -= max(min(step, 0.5 * abs(near) + 1.0), -0.5 * abs(near) - 1.0)
        if abs(step) <= 1e-14 * abs(near) or near < -1 or last < 2 * abs(step) < 2e-7 * abs(near):
            break
        last = abs(step)
    return near


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


def _walk(start: float, side: int, step: float, proved: object) -> float:
    for _ in range(40):
        x = start + side * step
        if side < 0 and x <= 0:
            return 0.0
        if proved(x):  # type: ignore[operator]
            return x
        step *= 2
        if step > 0.1 * (1 + abs(start)):
            break
    raise NoContour("the error budget is too large to certify an end")


def _factors(losses: Losses, log_delta: float) -> list[Factor]:
    """All Gaussians as one factor, then the others."""
    gaussian, others = arb(0), []
    for loss, count in losses:
        factor = factor_of(loss, count, log_delta)
        if factor is None:
            raise NoContour(f"no fast certified moments are known for {type(loss).__name__.strip('_')}")
        if isinstance(factor, GaussianFactor):
            gaussian += factor.mu_square
        else:
            others.append(factor)
    factors = [GaussianFactor(gaussian), *others] if gaussian > 0 else others
    if not any(factor.smooth for factor in factors):
        raise NoContour("no release has a density, and atoms alone do not decay")
    return factors
