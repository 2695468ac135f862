"""What the engines read: both sides of the law of the loss, each a list of places with bounds of their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from flint import arb

from bursar.losses.allocation.ratio import gaussian_ratio
from bursar.losses.allocation.sums import Goal, summed
from bursar.losses.places import Law
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

HALVES = ((0.5, 512), (0.25, 1024), (0.0, 2048))
"""From which standard deviation of the mean ratio on, how many grid points an octave: the more it varies, the fewer are
as close, and time grows with their square.
"""
DEPTHS = (60.0, 120.0, 240.0, 480.0)
"""Of the mass that may be lost, as a logarithm: deeper laws take longer and are wider."""
_LEAST = 1e-290  # lighter masses are lost: rounding to nothing would be more than a share of them


@dataclass(frozen=True)
class Side:
    """Ratios r with masses under Q; under P each has r times that."""

    ratios: Array
    masses: Array
    mass_error: float
    """Relative, of every mass."""
    ratio_error: float
    """Relative, of every ratio."""
    lost: float
    """Under Q, at most."""
    lost_mean: float
    """Under P, at most."""
    laws: dict[tuple[bool, bool], Law] = field(default_factory=dict)

    def law(self, *, removed: bool, above: bool) -> Law:
        """The loss as the engines read it: ln r under P for a record removed, −ln r under Q for one added. What is
        unsure counts in full: the list costs no less than the law (``above``), or no more.
        """
        key = removed, above
        if key not in self.laws:
            self.laws[key] = self._made(removed, above)
        return self.laws[key]

    def _made(self, removed: bool, above: bool) -> Law:
        sign = 1.0 if above else -1.0
        moved = sign * SAFETY * (self.ratio_error if removed else -self.ratio_error)
        place = np.log(self.ratios) + moved
        height = np.log(self.masses) + sign * SAFETY * self.mass_error + (place if removed else 0.0)
        unsure = 2 * ULPS * UNIT * (1 + np.abs(place))
        lost = max(self.lost, self.lost_mean)  # samples mix both laws
        doubts = unsure + 2 * ULPS * UNIT * (1 + np.abs(height))
        return Law(place if removed else -place, unsure, height, doubts, log_lost=math.log(SAFETY * lost))


@dataclass(frozen=True)
class Sides:
    """The law of the mean of the ratios from below and from above, in convex order."""

    below: Side
    above: Side


def sides(mu: Ball, steps: int, depth: float) -> Sides:
    """Both sides of the mean of ``steps`` ratios of Gaussian noise, with at most about e^{−depth} lost."""
    middle, radius = mu.mid(), mu.rad()
    return _sides(tuple(map(int, middle.man_exp())), tuple(map(int, radius.man_exp())), steps, depth)


def forget() -> None:
    """Drop all laws that were kept, so that the next one is made anew."""
    _sides.cache_clear()


@lru_cache(maxsize=16)
def _sides(middle: tuple[int, int], radius: tuple[int, int], steps: int, depth: float) -> Sides:
    mu = arb(arb(middle[0]) * arb(2) ** middle[1], arb(radius[0]) * arb(2) ** radius[1])
    deviation = ((mu * mu).expm1() / steps).sqrt()
    half = next((points for least, points in HALVES if deviation >= least), HALVES[-1][1])
    goal = Goal(half, depth + math.log(4 * steps))
    found = summed(gaussian_ratio(mu, goal), steps, goal)
    layers = found.layers
    kept = (layers.mass >= _LEAST) & (layers.places() > 0)  # a ratio of 0 has no finite loss
    masses, places = layers.mass[kept], layers.places()[kept]
    light = float(layers.mass[~kept].sum()), float((layers.mass * layers.places())[~kept].sum())
    lost = SAFETY * (found.lost + light[0]) + 1e-285
    lost_mean = SAFETY * (found.lost_mean + light[1] / steps) + 1e-285 * float(places.max())
    mean = places + layers.moment[kept] / masses
    # means are known up to a share of how far what bears a label may lie from it
    unsure = 2 * SAFETY * found.error * (found.apart[0] + found.apart[1] * places)
    known = (mean > 0.5 * places) & (unsure < 0.1 * mean)
    lost_low = lost + SAFETY * float(masses[~known].sum())
    lost_low_mean = lost_mean + SAFETY * float((2 * masses * places)[~known].sum() + (masses * unsure)[~known].sum())
    mass_error = found.error + 1e-15
    ratio_error = float((unsure[known] / mean[known]).max())
    above = Side(places / steps, masses, mass_error, 4 * UNIT, lost, lost_mean)
    below = Side(
        mean[known] / steps, masses[known], mass_error, SAFETY * ratio_error + 8 * UNIT, lost_low, lost_low_mean
    )
    return Sides(below, above)
