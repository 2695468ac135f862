"""Which contour serves where the mean of the tilted law leaps: one large loss more pays about as much as it costs.

There the saddle point of a δ says little, since tilts that are a thousandth apart stand for very different δ. So ε is
guessed by the best of all Chernoff bounds, the tilt is the saddle point of that ε, and the ε that the contour finds
there is the next guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.choice import newton
from bursar.losses.engines.contour.engine import Contour
from bursar.losses.engines.contour.factors import Factor, NoContour
from bursar.losses.engines.contour.saddle import rough_cumulants
from bursar.numerics.balls import Ball

_AROUND = 3.0  # in ln τ: how far from the tilt at which far losses weigh most it is looked
_HALVES = 36  # of a search for a tilt
_POINTS = 6  # guesses of ε
_CLOSE = 0.3  # of ln δ: a guess so close to what is found needs no other contour


def by_leaps(factors: list[Factor], leak: Ball, log_delta: float, heavy: float) -> tuple[Contour, float]:
    """A contour at the saddle point of the very ε that it finds; ``heavy`` is where far losses outweigh near ones."""
    near = _guess(factors, log_delta, heavy)
    for _ in range(_POINTS):
        tau = _saddle(factors, near, heavy)
        contour = Contour(factors, leak, near, log_delta, tau)
        found = newton(contour, near, log_delta)
        if not found > 0:
            raise NoContour("ε is too close to 0 to be told from it")
        if abs(found - near) * tau <= _CLOSE:
            return contour, found
        near = found
    raise NoContour("the search for ε does not settle")


def _saddle(factors: list[Factor], epsilon: float, heavy: float) -> float:
    """Where K − τε is least."""
    return _least(lambda tau: rough_cumulants(factors, tau)[1] - epsilon, heavy)


def _guess(factors: list[Factor], log_delta: float, heavy: float) -> float:
    """The ε at which the best Chernoff bound is δ: (K − ln δ)/τ falls as long as τK′ − K is below ln(1/δ)."""

    def slope(tau: float) -> float:
        cumulant, mean, _ = rough_cumulants(factors, tau)
        return tau * mean - cumulant + log_delta

    tau = _least(slope, heavy)
    near = (rough_cumulants(factors, tau)[0] - log_delta + float(chernoff_constant(tau))) / tau
    if not 0 < near < math.inf:
        raise NoContour("no Chernoff bound says where ε lies")
    return near


def _least(slope: Callable[[float], float], around: float) -> float:
    """Where a rising slope passes 0, that is where something is least; what is not finite counts as beyond."""
    low, high = math.log(around) - _AROUND, math.log(around) + _AROUND
    for _ in range(_HALVES):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(math.exp(middle)) < 0 else (low, middle)
    return math.exp(low)
