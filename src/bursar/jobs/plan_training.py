"""Private training as plans see it: families of one sampled Gaussian whose σ grows with the unknown. Where the target is
met is found in floats first; what is promised is proved where it was found.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.jobs.plan_family import Family
from bursar.losses.engines.training.rows import Rows
from bursar.losses.engines.training.solve import least
from bursar.numerics.balls import Ball, ball, down

APART = 2e-7
"""How far from the place that was found the answer and its neighbour lie, relatively."""


class Training(NamedTuple):
    """So many copies of one sampled Gaussian, under addition and removal of a record."""

    sigma: Ball
    rate: Ball
    count: int


def training_of(what: Composition) -> Training | None:
    """The composition as training, where it is that."""
    if len(what.terms) != 1 or what.count < 2:
        return None
    ((mechanism, count),) = what.terms
    try:
        losses = mechanism.losses()
    except LossUnknown:
        return None
    noise, other = losses.remove.sampled_noise(), losses.add.sampled_noise()
    if noise is None or other is None or not losses.attained or not (noise[2] and not other[2]):
        return None
    return Training(noise[0], noise[1], count)


def guess(family: Family) -> float | None:
    """Where the target is met, in floats: None for other families, and where floats find nothing."""
    if family.goal <= 0 or family.delta.low <= 0 or not family.valid(1.0):
        return None
    one = training_of(family.composition(1.0))
    if one is None:
        return None
    log_delta = math.log(max(down(ball(family.delta)), 1e-300))
    columns = (1.0, float(one.rate), float(one.count), family.goal, log_delta)
    found = float(least(Rows(*(np.array([column]) for column in columns), 1e-15))[0]) / float(one.sigma)
    return found if 0 < found < math.inf else None
