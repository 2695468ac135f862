"""Which contour serves where a few large losses among many small ones decide: floors for the small ones, and tilts.

The saddle point of a δ is a poor guess here: where one large loss more pays about as much as it costs, the mean of the
tilted law leaps, and a tilt that is off by a hundredth loses all digits. So the saddle of an ε is tried, and that of δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.choice import by_saddle, newton
from bursar.losses.engines.contour.engine import Contour
from bursar.losses.engines.contour.factors import Factor, NoContour
from bursar.losses.engines.contour.saddle import tilt_for
from bursar.numerics.balls import Ball

_GUESSES = np.geomspace(1e-3, 1e6, 60)
_FLOORS, _POINTS = 8, 5  # attempts to find a floor below ε, and a saddle point at ε
_HALVES = 12  # of the search for a saddle
_DEEP = 100.0  # of ln(1/δ): from here on the saddle of an ε is tried first
_DOUBT = 1e-6  # of δ: large losses that are known so well need no other contour


def by_rare(whole: Factor, leak: Ball, log_delta: float) -> tuple[Contour, float]:
    """A contour for large losses alone, and the ε that it finds: what small ones may do is bounded from a floor on,
    which must lie below ε.
    """
    floor = 0.95 * _chernoff_guess(whole, log_delta)
    for _ in range(_FLOORS):
        found = None
        with suppress(NoContour, ArithmeticError):
            found = _by_large([whole.rare(floor, log_delta)], leak, log_delta, floor)
        if found is None:
            floor *= 0.7
        elif found[1] >= floor:
            return found
        else:
            floor = max(0.95 * found[1], 0.7 * floor)
    raise NoContour("small and large losses cannot be told apart")


def _by_large(factors: list[Factor], leak: Ball, log_delta: float, floor: float) -> tuple[Contour, float] | None:
    """The contour of large losses that knows its ε well, or any that finds one; None where none does."""
    best = None
    ways: list[Callable[[], tuple[Contour, float]]] = [
        lambda: _by_points(factors, leak, log_delta, floor),
        lambda: by_saddle(factors, leak, log_delta),
    ]
    for way in ways if -log_delta > _DEEP else reversed(ways):
        try:
            contour, near = way()
            doubt = sum(size for _, size in contour.evaluate(near)[2].terms()) if near >= contour.floor else 0.0
        except (NoContour, ArithmeticError):
            continue
        if best is None or doubt < best[0]:
            best = (doubt, contour, near)
        if doubt < _DOUBT:
            break
    return None if best is None else best[1:]


def _by_points(factors: list[Factor], leak: Ball, log_delta: float, near: float) -> tuple[Contour, float]:
    """A contour at the saddle point of the very ε that it finds: where few large losses are about as likely as many, a
    tilt that is a little smaller loses too many digits.
    """
    for _ in range(_POINTS):
        tau = _sharper(factors[0], near, tilt_for(factors, near)[0])
        contour = Contour(factors, leak, near, log_delta, tau)
        found = newton(contour, near, log_delta)
        if abs(found - near) * tau <= 0.3:
            return contour, found
        near = found
    raise NoContour("the search for ε does not settle")


def _sharper(factor: Factor, epsilon: float, tau: float) -> float:
    """The saddle at an ε more closely: where one more large loss pays as much as it costs, K′ is steep."""
    low, high = math.log(tau) - 0.1, math.log(tau) + 0.1
    for _ in range(_HALVES):
        middle = (low + high) / 2
        low, high = (middle, high) if factor.rough(math.exp(middle))[1] < epsilon else (low, middle)
    return math.exp(low)


def _chernoff_guess(factor: Factor, log_delta: float) -> float:
    """The ε that Chernoff bounds of the whole law give, in floats: rather too large."""
    guesses = [math.inf]
    for tilt in _GUESSES.tolist():
        try:
            cumulant = factor.rough(tilt)[0]
        except (ArithmeticError, OverflowError):
            break
        if math.isfinite(cumulant):
            guesses.append((cumulant - log_delta + float(chernoff_constant(tilt))) / tilt)
    if not 0 < min(guesses) < math.inf:
        raise NoContour("no Chernoff bound says where ε lies")
    return min(guesses)
