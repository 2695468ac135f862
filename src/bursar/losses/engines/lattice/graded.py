"""Panels for the density of a sampled loss, as wide as it lets them be: narrow only where a hit and a miss are about as
likely, and far out in the tails (proofs/envelope.md §4).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bursar.losses.engines.contour.mixture_odds import MixtureOdds
from bursar.losses.places import DISC, Bounds, Density, Moves, Panels
from bursar.numerics.arrays import CALM, Array
from bursar.numerics.trusted import UNIT

_CALM = 6.0  # how far the logarithm of a density may move on the disc of a panel
_WIDEST = 100.0  # the radius of a disc, at most: e^r is still a float
_SPARE = 1.001  # for rounding
_TINY = 1e-300  # for what underflows
_FIRST, _PARTS, _ROUNDS = 64, 4, 40  # panels to begin with; parts of one that is too wide, and how often it is cut
_MOST = 20_000  # panels


class Odds(NamedTuple):
    """1 + e^x with x = scale·v − even."""

    scale: float
    even: float

    def moves(self, at: Array, radius: Array) -> tuple[Array, Array, Array]:
        """By how much ln(1 + e^x) and ln(1 + e^{−x}) move on discs, infinite where that is not known; and x's own
        radius.
        """
        x, r = self.scale * at - self.even, abs(self.scale) * radius
        grown = np.where(r < _WIDEST, np.expm1(np.minimum(r, _WIDEST)), np.inf)
        share = _SPARE * grown / (1 + np.exp(-np.abs(x)))
        far = np.exp(-np.abs(x))
        near, beyond = (np.where(side * x < 0, far, 1.0) * share for side in (1, -1))
        return _shrunk(near), _shrunk(beyond), r


def _shrunk(part: Array) -> Array:
    """−ln(1 − y), infinite where y may be 1."""
    found: Array = np.where(part < 0.9, -np.log1p(-np.minimum(part, 0.9)), np.inf)
    return found


def removed_bounds(under_p: Moves, under_q: Moves, odds: Odds) -> Bounds:
    """Of f·(q + (1−q)e^{−v}), f the base's density, and of ln(1 − q + q·e^v)."""

    def bounds(at: Array, radius: Array) -> tuple[Array, Array]:
        near, far, r = odds.moves(at, radius)
        return np.minimum(under_q(at, radius) + near, under_p(at, radius) + far), np.minimum(near, r + far)

    return bounds


def added_bounds(under_p: Moves, odds: Odds) -> Bounds:
    """Of f, and of −ln(1 − q + q·e^{−v})."""

    def bounds(at: Array, radius: Array) -> tuple[Array, Array]:
        near, far, r = odds.moves(at, radius)
        return under_p(at, radius), np.minimum(near, r + far)

    return bounds


def replaced_bounds(sigma: float, even: float) -> Bounds:
    """Of N(0, 1/σ²) times A(v), and of ln A(v) − ln A(−v), where A(v) = 1 − q + q·e^{v/2 − 1/(8σ²)}."""
    square, first, second = sigma * sigma, Odds(0.5, even), Odds(-0.5, even)

    def bounds(at: Array, radius: Array) -> tuple[Array, Array]:
        near, far, r = first.moves(at, radius)
        again, beyond, _ = second.moves(at, radius)
        # where a hit is likelier e^{v/2} moves the middle of the normal density
        plain, hit = (
            _SPARE * square * radius * (2 * np.abs(at - middle) + radius) / 2 for middle in (0.0, 1 / (2 * square))
        )
        loss = np.minimum(near, r + far) + np.minimum(again, r + beyond)
        return np.minimum(plain + near, hit + far), loss

    return bounds


def mixture_bounds(odds: MixtureOdds, *, removed: bool) -> Bounds:
    """Of N(0, 1/s²), times R where a record is removed, and of ln R, in v = ±x/s²: R is its heaviest term, e^{a_j·u}
    times what it was, times 1 + Σ share_i·(e^{(a_i−a_j)u} − 1).
    """
    square, side = odds.sigma * odds.sigma, 1.0 if removed else -1.0
    spare = _SPARE + 8 * odds.spread  # for readings of σ and of the shifts, too

    @CALM  # the heaviest term does not turn at all, and what is light is nothing
    def bounds(at: Array, radius: Array) -> tuple[Array, Array]:
        shares = odds.log_shares(side * square * at)
        own = odds.shifts[shares.argmax(axis=0)]
        turned = np.abs(odds.shifts[:, None] - own) * radius
        grown = np.where(turned < _WIDEST, np.log(np.expm1(np.minimum(turned, _WIDEST))), turned)
        others = _shrunk(spare * np.exp(np.minimum(shares + grown, _WIDEST)).sum(axis=0)) + _TINY
        middle = own / square if removed else 0.0
        away = np.abs(at - middle) + 8 * (odds.spread + UNIT) * (np.abs(at) + middle)
        normal = spare * square * radius * (2 * away + radius) / 2
        return normal + others if removed else normal, spare * own * radius + others

    return bounds


@lru_cache(maxsize=64)
def panels_of(density: Density) -> Panels:
    """Panels from one end of a density with bounds to the other, cut wherever it moves too much on them."""
    bounds = density.bounds
    assert bounds is not None
    edges = np.linspace(density.low, density.high, _FIRST + 1)
    slips, far = 4 * UNIT * (np.abs(edges[1:]) + np.abs(edges[:-1])), np.full(_FIRST, np.inf)
    panels = measured(Panels(edges[:-1], np.diff(edges), slips, far, far, density.log_density, density.loss), bounds)
    for _ in range(_ROUNDS):
        wide = ~(panels.moved <= _CALM) | ~np.isfinite(panels.moved_loss)
        if not wide.any():
            return panels
        panels = measured(panels.split(np.where(wide, _PARTS, 1)), bounds)
        if len(panels.starts) > _MOST:
            break
    raise ArithmeticError("a density moves too much for its panels")


def measured(panels: Panels, bounds: Bounds) -> Panels:
    """The same panels, with what the bounds say about each of them."""
    moved, loss = bounds(panels.middles, _SPARE * DISC * panels.widths)
    return replace(panels, moved=moved, moved_loss=loss)
