"""The likelihood ratio of Gaussian noise, e^{μX − μ²/2} with X normal, on layers: every mass by quadrature."""

from __future__ import annotations

import math

import numpy as np

from bursar.errors import LossUnknown
from bursar.losses.allocation.layers import Layers
from bursar.losses.allocation.sums import ROWS, Goal, Summed, chosen
from bursar.losses.places import spread
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.quadrature import legendre
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_NODES = 10
_EXACT = 2.0**52  # steps from 0 on, within which every edge is a float
_SPAN = 0.25  # of a panel, times the slope of the density's logarithm


def gaussian_ratio(mu: Ball, goal: Goal) -> Summed:
    """One likelihood ratio, spread onto layers."""
    m = float(mu)
    reach = math.sqrt(2 * goal.depth) + 1.0
    if not m * (2 * reach + m) < ROWS * math.log(2):
        raise LossUnknown("with so little noise the likelihood ratios span too many orders of magnitude")
    x = np.linspace(-reach, reach + m, 4096)
    rough = (np.exp(m * x - m * m / 2), np.exp(-x * x / 2) * (x[1] - x[0]) / math.sqrt(2 * math.pi))
    origin, step, rows = chosen(rough, 1, goal)
    origin = max(origin, step)
    empty = np.zeros((rows, 2 * goal.half))
    layers = Layers(origin, step, empty, empty.copy())
    places = layers.places()
    edges = np.concatenate([places[0], places[1:, goal.half :].ravel(), [places[-1, -1] + layers.steps()[-1]]])
    lower, upper, bent, error = _shares(edges, m, spread(mu))
    if not edges[-1] / step < _EXACT:
        error += 32 * goal.half * UNIT  # far edges are rounded, by so much of a cell
    mass, moment = np.zeros(len(edges)), np.zeros(len(edges))
    mass[:-1] += lower
    mass[1:] += upper
    moment[:-1] += bent
    moment[1:] -= bent
    # the last point has no row of its own: it is beyond
    low, high = _outside(edges[0], edges[-1], m)
    lost = low[0] + high[0] + float(mass[-1])
    lost_mean = low[1] + high[1] + float(mass[-1]) * float(edges[-1])
    layers.mass[0], layers.moment[0] = mass[: 2 * goal.half], moment[: 2 * goal.half]
    layers.mass[1:, goal.half :] = mass[2 * goal.half : -1].reshape(-1, goal.half)
    layers.moment[1:, goal.half :] = moment[2 * goal.half : -1].reshape(-1, goal.half)
    return Summed(layers, 1, error, SAFETY * lost, SAFETY * lost_mean, (step, 1 / goal.half))


def _outside(low: float, high: float, mu: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Chances and means of a ratio below the first and above the last place."""

    def cdf(z: float) -> float:
        return 0.5 * math.erfc(-z / math.sqrt(2))

    a, b = ((math.log(place) / mu + mu / 2) for place in (low, high))
    a, b = a + 1e-9 * (1 + abs(a)), b - 1e-9 * (1 + abs(b))
    return (cdf(a), cdf(a - mu)), (cdf(-b), cdf(mu - b))


def _shares(edges: Array, mu: float, doubt: float) -> tuple[Array, Array, Array, float]:
    """For each cell the mass that goes to its lower and to its upper end, and ∫(y − lower)(upper − y)/width; and a
    bound of all their relative errors.
    """
    logs = np.log(edges)
    x = logs / mu + mu / 2
    width = np.log1p(np.diff(edges) / edges[:-1]) / mu
    slope = np.maximum(np.abs(x[:-1]), np.abs(x[1:])) + width + mu + 1
    parts = np.ceil(width * slope / _SPAN).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(parts)[:-1]])
    cell = np.repeat(np.arange(len(parts)), parts)
    inside = np.arange(len(cell)) - first[cell]
    roots, weights = legendre(_NODES)
    length = (width / parts)[cell]
    along = (inside + 0.5)[:, None] * length[:, None] + 0.5 * length[:, None] * roots  # above the cell's lower end
    at = x[cell][:, None] + along
    density = np.exp(-0.5 * at * at) / math.sqrt(2 * math.pi) * (0.5 * length[:, None] * weights)
    whole = np.expm1(mu * width)[cell][:, None]
    up = np.expm1(mu * along) / whole
    down = np.exp(mu * along) * np.expm1(mu * (width[cell][:, None] - along)) / whole
    gap = np.diff(edges)[cell][:, None]
    sums = [np.add.reduceat((density * part).sum(axis=1), first) for part in (down, up, up * down * gap)]
    size = float(np.abs(logs).max()) / mu + mu
    slip = (doubt + 4 * UNIT) * (size + float(np.abs(at).max()) + 1) * (float(np.abs(at).max()) + mu + 1)
    error = SAFETY * (4 * slip + UNIT * (8 * ULPS + _NODES + float(parts.max()) + 64) + 1e-14)
    return sums[0], sums[1], sums[2], error
