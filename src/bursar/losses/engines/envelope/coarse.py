"""Places of a law that are good enough for floats that only search."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bursar.losses.engines.envelope.points import Points, points_of
from bursar.losses.places import Law, Panels
from bursar.numerics.arrays import Array

_COARSE = 1200  # nodes that searching takes
_TURNS = 200.0  # of the integrand, over all of the range, that floats resolve
_WHOLE = 0.05  # how far, as a logarithm, a coarse grid may be off where the law is a whole one


def coarse_points(law: Law) -> Points:
    """Atoms and a plain grid of the density, for floats that only search."""
    if law.panels is not None:
        reach = float(np.ptp(law.panels.loss(law.panels.middles)[0]) + law.panels.moved_loss.max())
        return points_of(replace(law, panels=_graded(law.panels)), _TURNS / max(reach, 1e-300))
    losses, heights = ([column] for column in _thinned(law.losses, law.log_masses))
    for density in law.densities:
        v = np.linspace(density.low, density.high, _COARSE)
        height = density.log_density(v)[0] + math.log(max(float(v[1] - v[0]), 1e-300))
        height[[0, -1]] -= math.log(2)
        losses.append(density.loss(v)[0])
        heights.append(height)
    places, masses = np.concatenate(losses), np.concatenate(heights)
    total, none = float(np.logaddexp.reduce(masses)), np.zeros_like(places)
    # many copies would make much of what a plain grid is off by; a part of a law is no whole
    return Points(places, none, masses - total if abs(total) < _WHOLE else masses, none)


def _thinned(losses: Array, heights: Array) -> tuple[Array, Array]:
    """Many atoms as fewer: neighbours together at their mean, but for the smallest and the largest."""
    if len(losses) <= 2 * _COARSE:
        return losses, heights
    order = np.argsort(losses)
    losses, heights = losses[order], heights[order]
    starts = np.arange(_COARSE, len(losses) - _COARSE, -(-len(losses) // _COARSE))
    edges = np.concatenate([np.arange(_COARSE), starts, np.arange(len(losses) - _COARSE, len(losses))])
    together = np.logaddexp.reduceat(heights, edges)
    sizes = np.diff(np.append(edges, len(losses)))
    shares = np.exp(heights - np.repeat(together, sizes))
    return np.add.reduceat(shares * losses, edges), together


def _graded(panels: Panels) -> Panels:
    """Panels for floats that guide: around the place of the largest loss ever narrower ones, for steep tilts."""
    x = panels.starts[:, None] + panels.widths[:, None] * np.linspace(0.0, 1.0, 33)
    place = np.unravel_index(int(np.argmax(panels.loss(x)[0])), x.shape)
    i, top = int(place[0]), float(x[place])
    start, width = float(panels.starts[i]), float(panels.widths[i])
    steps = width * 2.0 ** -np.arange(40)
    steps = steps[steps > 2.0**-36 * (abs(start) + width)]
    edges = np.unique(np.clip(np.concatenate([top - steps, [top], top + steps]), start, start + width))
    starts, widths = edges[:-1], np.diff(edges)
    others = panels.only(np.arange(len(panels.starts)) != i)
    none = np.zeros_like(starts)
    columns = zip(
        (others.starts, others.widths, others.slips, others.moved, others.moved_loss),
        (starts, widths, none, none, none),
        strict=True,
    )
    first, second, third, fourth, fifth = (np.concatenate(pair) for pair in columns)
    return Panels(first, second, third, fourth, fifth, panels.log_density, panels.loss)
