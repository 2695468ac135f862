"""The lattice law of a Poisson-sampled loss, from that of its base: each place moves, and where a record is removed
each mass is weighed anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bursar.losses.places import Bounds, Density, Law, Panels, log_odds, parts_for, spread
from bursar.numerics.arrays import Array, Known
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import ULPS, UNIT

_STILL = 0.4  # how far a loss may move on a panel's disc before sampling: e^0.4 − 1 < ½
_MOST_PANELS = 200_000


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

    def mapped(inner: Density | Panels) -> tuple[Callable[[Array], Known], Callable[[Array], Known]]:
        def log_density(v: Array) -> Known:
            at, unsure = inner.loss(v)
            value, error = inner.log_density(v)
            return weigh(at, value, error + unsure)

        return log_density, lambda v: shrink(*inner.loss(v))

    def moved(inner: Density) -> Density:
        ends, bounds = (inner.low, inner.high, inner.width), _bounds(inner, q, removed=removed)
        return Density(*ends, *mapped(inner), lambda g: inner.place(grow(g)), bounds=bounds)

    panels = None
    if base.panels is not None:
        log_density, loss = mapped(base.panels)
        panels = replace(_moved(base.panels, q, doubt, side), log_density=log_density, loss=loss)
    return Law(losses, loss_errors, heights, errors, tuple(map(moved, base.densities)), base.log_lost, panels=panels)


def _bounds(inner: Density, q: float, *, removed: bool) -> Bounds | None:
    """How far the sampled density and its loss move on discs, where that is known of the base's."""
    if inner.moves is None:
        return None
    from bursar.losses.engines.lattice import graded  # for those who sample

    odds = graded.Odds(1.0 if removed else -1.0, math.log1p(-q) - math.log(q) if q < 1 else -math.inf)
    return graded.removed_bounds(*inner.moves, odds) if removed else graded.added_bounds(inner.moves[0], odds)


def _moved(panels: Panels, q: float, doubt: float, side: float) -> Panels:
    """How far the sampled loss and its density move: panels on which e^l moves by less than half of itself, a share of
    which is what 1 − q + q·e^l and q + (1 − q)e^{−l} move by (proofs/densities.md §5).
    """
    if not doubt < 1e-6:
        raise ArithmeticError("the sampling rate is not known precisely enough")
    if not float(panels.moved_loss.sum()) < _STILL * _MOST_PANELS:
        raise ArithmeticError("a sampled density needs too many panels")
    fine = panels.split(parts_for(panels.moved_loss / _STILL))
    at, error = panels.loss(fine.middles)
    grown = np.expm1(fine.moved_loss)
    share = 1 / (1 + (1 - q) / q * np.exp(np.clip(-side * at, -700.0, 700.0)))
    if not np.isfinite(error).all():
        raise ArithmeticError("the formulas of a density cannot be evaluated in floats")
    # the shares are taken in floats, and close to the middle
    slack = np.exp(error + 1e-3)
    loss, weight = (
        -np.log1p(-grown * np.minimum(slack * part, 1.0)) for part in (share, 1 - share + 1e-15 + 2 * doubt)
    )
    return replace(fine, moved=fine.moved + (weight if side > 0 else 0.0), moved_loss=loss)
