"""The lattice law of a Poisson-sampled loss, from that of its base: each place moves, and where a record is removed
each mass is weighed anew.
"""

from __future__ import annotations

import math

import numpy as np

from bursar.losses.engines.lattice.law import Density, Known, Law, log_odds, spread
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import ULPS, UNIT


def sampled(base: Law, rate: Ball, absent: Ball, *, removed: bool) -> Law:
    """Each place moved by ln(1 − q + q·e^l); removed: each mass times q + (1 − q)e^{−l}."""
    q, doubt = float(rate), spread(rate)
    side = 1.0 if removed else -1.0

    def shrink(v: Array, error: Array) -> Known:
        value, bound = log_odds(side * v, error, q, doubt)
        return side * value, bound

    def grow(g: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.expm1(np.minimum(side * g, 30.0)) / q
            near = np.where(inner <= -1, -np.inf, np.log1p(np.maximum(inner, -1.0)))
            return side * np.where(side * g > 30, side * g - math.log(q), near)

    def weigh(v: Array, heights: Array, errors: Array) -> Known:
        if not removed:
            return heights, errors
        other = np.log1p(-q) - v if q < 1 else np.full_like(v, -np.inf)
        weight = np.logaddexp(math.log(q), other)
        # a reading of q moves 1 − q too, by more than itself where q is close to 1
        moved = doubt * np.exp(np.minimum(-v - weight, 300.0)) if q < 1 else 0.0
        slip = (2 * doubt + (2 * ULPS + 4) * UNIT) * (1 + np.abs(weight) + np.abs(v))
        return heights + weight, errors + slip + moved

    losses, loss_errors = shrink(base.losses, base.loss_errors)
    heights, errors = weigh(base.losses, base.log_masses, base.mass_errors + base.loss_errors)
    if not absent <= 0:
        mass = (1 - rate) * absent if removed else absent
        place = side * (-rate).log1p()
        losses, loss_errors = np.append(losses, float(place)), np.append(loss_errors, float(place.rad()) + UNIT)
        heights = np.append(heights, float(mass.log()))
        errors = np.append(errors, float(mass.log().rad()) + 2 * UNIT * (1 + abs(float(mass.log()))))
    density, inner = None, base.density
    if inner is not None:

        def loss(v: Array) -> Known:
            return shrink(*inner.loss(v))

        def log_density(v: Array) -> Known:
            at, unsure = inner.loss(v)
            value, error = inner.log_density(v)
            return weigh(at, value, error + unsure)

        density = Density(inner.low, inner.high, inner.width, log_density, loss, lambda g: inner.place(grow(g)))
    return Law(losses, loss_errors, heights, errors, density, base.log_lost)
