"""Which contour serves a question: the factors of a composition, a tilt for them, and nodes that are precise there.

At first near the saddle point; where that takes many nodes, at the tilt with the shortest period; for losses of two
scales at a smaller tilt; and where a few large losses are rare, for those alone.
"""

from __future__ import annotations

import math

from flint import arb

from bursar.losses.engines.answer import Losses, leak_of
from bursar.losses.engines.contour.engine import Contour
from bursar.losses.engines.contour.factors import Factor, GaussianFactor, NoContour
from bursar.losses.engines.contour.saddle import choose_tilt, rough_cumulants, tilt_for
from bursar.losses.engines.contour.sampled_crowd import MOST_COPIES, Sampled, SampledCrowd
from bursar.losses.engines.contour.scales import Scales, guess, two_scales
from bursar.losses.engines.tilt import Tilts
from bursar.numerics.balls import Ball

_MANY = 300  # nodes; beyond, another tilt may pay
_FEW_SAMPLED = 3  # different sampled Gaussians; more are one factor


def factors_of(losses: Losses, log_delta: float) -> list[Factor]:
    """All Gaussians as one factor, then the others; sampled Gaussians as one too where there are more than a few."""
    gaussian, others = arb(0), []
    losses, crowd = _crowded(losses, log_delta)
    for loss, count in losses:
        factor = loss.contour_factor(count, log_delta)
        if factor is None:
            raise NoContour(f"no fast certified moments are known for {type(loss).__name__.strip('_')}")
        square = factor.gaussian_part()
        if square is not None:
            gaussian += square
        else:
            others.append(factor)
    factors = [*([GaussianFactor(gaussian)] if gaussian > 0 else []), *crowd, *others]
    if not any(factor.smooth for factor in factors):
        raise NoContour("no release has a density, and atoms alone do not decay")
    return factors


def _crowded(losses: Losses, log_delta: float) -> tuple[Losses, list[Factor]]:
    """The losses that stand for themselves, and the sampled Gaussians that are summed as one, by direction."""
    parts: dict[bool, list[Sampled]] = {True: [], False: []}
    rest = []
    for loss, count in losses:
        noise = loss.sampled_noise()
        if noise is None:
            rest.append((loss, count))
        else:
            parts[noise[2]].append(Sampled(noise[0], noise[1], count))
    if len(losses) - len(rest) <= _FEW_SAMPLED or sum(count for _, count in losses) > MOST_COPIES:
        return losses, []
    return rest, [SampledCrowd(some, log_delta, removed=removed) for removed, some in parts.items() if some]


def splitting(losses: Losses, log_delta: float) -> Factor | None:
    """The only factor, made anew, where few large losses can be told from many small ones."""
    (loss, count), *others = losses
    factor = None if others else loss.contour_factor(count, log_delta)
    return factor if factor is not None and factor.splits else None


def around(losses: Losses, epsilon: float) -> Contour:
    """A contour for δ at this ε."""
    try:
        return _around_whole(losses, epsilon)
    except (NoContour, ArithmeticError):
        log_delta = math.log(1e-9)
        for _ in range(2):
            whole = splitting(losses, log_delta)
            if whole is None or epsilon <= 0:
                raise
            factor = whole.rare((1 - 1e-9) * epsilon, log_delta)
            tau, log_delta = tilt_for([factor], epsilon)
        return _first_contour([factor], leak_of(losses), epsilon, log_delta, tau, solve=False)[0]


def _around_whole(losses: Losses, epsilon: float) -> Contour:
    """The same for all losses together."""
    leak, factors = leak_of(losses), factors_of(losses, math.log(1e-9))
    for _ in range(2):
        tau, log_delta = tilt_for(factors, epsilon)
        factors = factors_of(losses, log_delta)
    contour, _ = _first_contour(factors, leak, epsilon, log_delta, tau, solve=False)
    seen = contour.rough(epsilon)[0]
    if seen < log_delta - 1.5:
        # δ is far smaller than the saddle point says: aliases and the cut must shrink with it
        contour, _ = _first_contour(factors_of(losses, seen), leak, epsilon, seen, contour.tau, solve=False)
    return contour


def by_saddle(factors: list[Factor], leak: Ball, log_delta: float) -> tuple[Contour, float]:
    """A contour near the saddle point, and the ε that it finds."""
    tau, guess = choose_tilt(factors, log_delta)
    contour, near = _first_contour(factors, leak, guess, log_delta, tau)
    for _ in range(3):
        if near <= 0 or abs(near - guess) * contour.tau <= 0.3 or contour.precise(near):
            break
        # The saddle point was a poor guess: choose the nodes anew for the ε that they found.
        contour, guess = Contour(factors, leak, near, log_delta, contour.tau), near
        near = newton(contour, near, log_delta)
    return contour, near


def by_scales(factors: list[Factor], leak: Ball, log_delta: float) -> tuple[Contour, float] | None:
    """The same for losses of two scales, whose saddle point says little; None for others."""
    heavy = two_scales(factors, log_delta)
    if heavy == math.inf:
        return None
    scales, near = Scales(factors, heavy), guess(factors, log_delta)
    try:
        for _ in range(4):
            tau, ladder = scales.choose(near, log_delta)
            contour = Contour(factors, leak, near, log_delta, tau, ladder=ladder)
            near = newton(contour, near, log_delta)
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
            near = newton(contour, near, log_delta) if solve else guess
        if contour is None:
            raise NoContour("the losses decay too slowly")
    return contour, (newton(contour, near, log_delta) if solve else guess)


def _shorter(
    factors: list[Factor], leak: Ball, near: float, log_delta: float, tilts: Tilts, best: Contour | None
) -> Contour | None:
    """A contour at the tilt with the shortest period, where that takes clearly fewer nodes."""
    try:
        found = Contour(factors, leak, near, log_delta, tilts.best(near, log_delta)[0])
    except NoContour:
        return best
    return found if best is None or len(found.frequencies) < 0.8 * len(best.frequencies) else best


def newton(contour: Contour, guess: float, log_delta: float) -> float:
    """The root in floats: until steps vanish, or stop shrinking in the rounding of a sum that loses digits."""
    near, last = guess, math.inf
    for _ in range(30):
        value, slope = contour.rough(near)
        step = (value - log_delta) / slope if slope else math.inf
        if not math.isfinite(step) or abs(near) > 1e300:
            raise NoContour("the search for ε does not settle")
        near -= max(min(step, 0.5 * abs(near) + 1.0), -0.5 * abs(near) - 1.0)
        # once a step is small the next is its square
        if abs(step) <= 1e-9 * abs(near) or near < -1 or last < 2 * abs(step) < 2e-7 * abs(near):
            break
        last = abs(step)
    return near
