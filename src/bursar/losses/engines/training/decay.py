"""How fast the characteristic functions of many tilted sampled Gaussians decay: bounds that hold for every larger
frequency, by layers and by moments (proofs/contour.md §3), a row for each law.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bursar.losses.engines.contour.factors import least_gap
from bursar.losses.engines.training.laws import Tilted
from bursar.losses.engines.training.rows import log_odds
from bursar.numerics.arrays import Array

_CELLS = np.linspace(0.0, 1.0, 33)
_LIGHT = 1e-7  # of the largest weight: cells end where the law is lighter


def decay(law: Tilted) -> Callable[[Array], Array]:
    """Frequencies s of each row ↦ upper bounds of ln|φ(s′)| of all copies for every s′ ≥ s."""
    rows, missing = law.nodes.rows, 2 * (law.missing + law.nodes.lost)
    shares, halves = _layers(*_cells(law))
    square = np.square(law.apart)
    variance, fourth = (law.weights * square).sum(axis=1), (law.weights * square * square).sum(axis=1)
    edge = np.where(np.isfinite(law.nodes.log_mass), np.abs(law.apart), 0.0).max(axis=1)
    least = 0.99 * variance - missing * (2 * variance + 36 + 4 * edge**2)
    most = 1.01 * (fourth + 3 * variance**2) + 4 * missing * (8 * fourth + 2600 + 16 * edge**4)
    with np.errstate(invalid="ignore"):
        turn = np.where(least > 0, np.sqrt(6 * np.maximum(least, 0.0) / most), 0.0)
    beyond = _by_layers(shares, halves, rows.copies, turn[:, None])

    def bound(frequencies: Array) -> Array:
        layers = _by_layers(shares, halves, rows.copies, frequencies)
        close = np.square(np.minimum(frequencies, turn[:, None]))
        gone = close * (least[:, None] - close * most[:, None] / 12) * (1 - 1e-9)
        with np.errstate(invalid="ignore"):
            near = np.maximum(0.5 * rows.copies[:, None] * np.log1p(-np.clip(gone, 0.0, 0.999)), beyond)
        return np.asarray(np.where((least > 0)[:, None], np.minimum(near, layers), layers))

    return bound


def _cells(law: Tilted) -> tuple[Array, Array]:
    """Cells of the tilted losses in rising order of z: a lower bound of the density on each, and its width."""
    rows, shape, tau = law.nodes.rows, law.nodes.shape, law.tau
    light = np.minimum(_LIGHT, 0.01 / rows.copies)
    heavy = law.weights > (light * law.weights.max(axis=1))[:, None]
    low = np.where(heavy, law.nodes.z, np.inf).min(axis=1)
    high = np.where(heavy, law.nodes.z, -np.inf).max(axis=1)
    edges = low[:, None] + (high - low)[:, None] * _CELLS
    doubt, odds = log_odds(rows, edges)
    sigma = rows.sigma[:, None]
    power = ((1 + tau) if shape.removed else -tau)[:, None]
    slope = (edges - 0.5 / sigma) / sigma + np.log(rows.rate[:, None] / sigma) - odds  # ln|dL/dz|
    height = power * odds - 0.5 * edges * edges - slope - 0.5 * math.log(2 * math.pi)
    height = height - (law.cumulant + law.doubt)[:, None]
    if shape.removed:
        # −0.8·e^{−w²/2} ≤ ln Φ(w) for w ≥ 1, else crudely
        w = (shape.cut[:, None] - edges) / shape.soft[:, None]
        height = height + np.where(w >= 1, -0.8 * np.exp(-0.5 * np.square(np.maximum(w, 1.0))), -1e9)
    cell = (edges[:, 1:] - edges[:, :-1]).max(axis=1, keepdims=True)
    sag = np.maximum(power + 1, 0.0) * cell * cell / (32 * sigma * sigma)
    height = height - 1e-8 * (1 + np.abs(height) + 0.5 * edges * edges) - (np.abs(power) + 3) * doubt
    least = np.minimum(height[:, 1:], height[:, :-1]) - sag
    width = np.abs(np.diff(odds, axis=1)) * (1 - 1e-9) - doubt[:, 1:] - doubt[:, :-1]
    return np.exp(np.minimum(least, 700.0)), np.maximum(width, 0.0)


def _layers(density: Array, width: Array) -> tuple[Array, Array]:
    """Shares and half widths of uniform laws whose sum lies below the density, around its peak."""
    place, peak = np.arange(density.shape[1])[None, :], np.argmax(density, axis=1)[:, None]
    left = np.where(place <= peak, density, np.inf)
    right = np.where(place >= peak, density, np.inf)
    rising = np.minimum.accumulate(left[:, ::-1], axis=1)[:, ::-1]
    under = np.where(place <= peak, rising, np.minimum.accumulate(right, axis=1))
    order = np.argsort(-under, axis=1, kind="stable")
    heights, widths = np.take_along_axis(under, order, 1), np.cumsum(np.take_along_axis(width, order, 1), axis=1)
    shares = (heights - np.concatenate([heights[:, 1:], np.zeros((len(heights), 1))], axis=1)) * widths
    shares = np.where(np.isfinite(shares) & (shares > 0), shares, 0.0)
    total = np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    return shares * (1 - 1e-9) / total, widths / 2


def _by_layers(shares: Array, halves: Array, copies: Array, frequencies: Array) -> Array:
    """1 − |φ| ≥ Σ share·(1 − |sinc|), at all larger frequencies too."""
    gaps = least_gap(frequencies[:, :, None] * halves[:, None, :])
    lost = np.einsum("ijk,ik->ij", gaps, shares)
    return np.asarray(copies[:, None] * np.log1p(-np.minimum(lost * (1 - 1e-9), 1 - 1e-15)))
