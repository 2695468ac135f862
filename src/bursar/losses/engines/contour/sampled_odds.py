"""The odds A = 1 − q + q·e^u of a sampled Gaussian, on the real line and off it, with bounds of the errors of ln A."""

from __future__ import annotations

import math

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_LARGE = 300.0  # of u: beyond, 1 − q is nothing beside q·e^u


def log_odds(u: Array, rate: float, spread: float) -> tuple[Array, Array]:
    """A bound of the absolute error of ln A, and ln A; q and u are known up to a relative ``spread``."""
    capped = np.minimum(u, 600.0)
    grown = np.expm1(capped)
    y = rate * grown
    loss = np.log1p(y) + np.maximum(u - 600.0, 0.0)
    slope = rate * (grown + 1) / (1 + y)
    error = 4 * (spread + UNIT) * np.abs(u) * slope + (ULPS + 4) * (UNIT + spread) * np.abs(y) / (1 + y)
    return SAFETY * (error + (ULPS + 2) * UNIT * np.abs(loss)), loss


def share(u: Array, rate: float) -> Array:
    """p = q·e^u/A, the share of the record in the odds; it rises with u."""
    return 1 / (1 + (1 - rate) / rate * np.exp(np.minimum(-u, 600.0)))


def turned_odds(u: Array, theta: float, rate: float, spread: float) -> tuple[Array, Array, Array]:
    """For A = 1 − q + q·e^{u+iθ}, 0 < θ ≤ π/2: a bound of the error of ln A, and ln|A| and arg A; q, u and θ are known
    up to a few relative spreads.
    """
    capped = np.minimum(u, _LARGE)
    grown, sine, cosine = np.expm1(capped), math.sin(theta), math.cos(theta)
    # A = 1 + a + ib; its real part is also a sum of two positive numbers, which rounds well where A is small
    a = rate * (grown * cosine - 2 * math.sin(theta / 2) ** 2)
    b = rate * (grown + 1) * sine
    whole = (1 - rate) + rate * (grown + 1) * cosine
    gone, size = a * (2 + a) + b * b, np.hypot(whole, b)
    log = np.where(gone > -0.5, 0.5 * np.log1p(np.maximum(gone, -0.5)), np.log(size))
    turn = np.arctan2(b, whole)
    # readings of q and u, and the rounding of a and b
    moved = rate * (np.abs(grown) * (cosine + sine) + 2 * math.sin(theta / 2) ** 2) + b
    error = (spread + UNIT) * (4 * (np.abs(u) + theta) * (grown + 1) * rate + (2 * ULPS + 8) * moved) / size
    error = error + 4 * UNIT * np.where(gone > -0.5, (np.abs(a) * (2 + np.abs(a)) + b * b) / size**2, 2 * ULPS)
    error = error + (ULPS + 2) * UNIT * (np.abs(log) + turn)
    return SAFETY * error, log + np.maximum(u - _LARGE, 0.0), turn
