"""A mixture of Gaussians as the lattice engine reads it: the density in v = ±x/s², in which every term of R is an
exponential of rate at most 1 (proofs/lattice.md §2).
"""

from __future__ import annotations

import math

import numpy as np

from bursar.losses.engines.contour.mixture_odds import MixtureOdds
from bursar.losses.engines.lattice.graded import mixture_bounds
from bursar.losses.places import SLACK, WIDEST, Density, Law
from bursar.numerics.arrays import Array, Known
from bursar.numerics.trusted import SAFETY, UNIT


def mixture_law(odds: MixtureOdds, depth: float, *, removed: bool) -> Law:
    """Units of the largest shift; the loss is ln R where a record is removed, else −ln R."""
    s, side, doubt = odds.sigma, (1.0 if removed else -1.0), 2 * odds.spread
    square, reach = s * s, math.sqrt(2 * depth)
    low, high = -reach * s, reach * s
    if removed:
        # Σ p_i·Φ(−z_i) is at most half of e^{−depth} for these z_i, and rarer shifts weigh less than the other half
        room = np.maximum(depth + 1 + np.log(len(odds.weights) * odds.weights), 0.0)
        high = max(high, float((odds.shifts + s * np.sqrt(2 * room)).max()))

    def loss(v: Array) -> Known:
        error, value = odds.log(side * square * v)
        return side * value, error

    def log_density(v: Array) -> Known:
        z = s * v
        value = -0.5 * np.square(z) + math.log(s / math.sqrt(2 * math.pi))
        error = (3 * doubt + 8 * UNIT) * (np.square(z) + 1 + abs(math.log(s)))
        if removed:
            unsure, log = odds.log(square * v)
            value, error = value + log, error + unsure
        return value, SAFETY * error

    def place(g: Array) -> Array:
        first, last = (low, high) if removed else (-high, -low)
        at: Array = side * odds.place(side * g, first, last) / square
        return at

    far = max(-low, high) / s
    width = min(1 / (2.1 * s * (far + 1 + 1 / s)), WIDEST)
    bounds = mixture_bounds(odds, removed=removed)
    density = Density(low / square, high / square, width, log_density, loss, place, bounds=bounds)
    return Law(densities=(density,), log_lost=SLACK - depth)
