"""A loss as finitely many weighted places: its atoms, and the nodes of a quadrature of its density.

A quadrature serves tilts and frequencies up to what it was made for: the integrand f(v)·e^{(τ+is)·l(v)} turns s·l
times, so panels are as narrow as that asks (proofs/envelope.md §4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.lattice.grid import legendre
from bursar.losses.engines.lattice.law import Density, Law
from bursar.numerics.arrays import Array
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

ORDER = 20  # nodes of a panel
QUADRATURE = 1e-21  # relative error of a panel
_GROWTH = 20.0  # by how much, as a logarithm, the integrand may grow on a panel's ellipse
_STRETCH = 3.62  # how far the loss moves on that ellipse, in units of how far it moves on the panel
_MOST_NODES = 4_000_000
_FINEST = 1e-9  # of the largest loss: how wide a panel must be at least
_COARSE = 1200  # nodes that searching takes
_LIGHT = 50.0  # panels that are e^{−50} times lighter than the heaviest are left out


class NoEnvelope(Exception):
    """The engine cannot serve this composition within its limits."""


class TooMany(NoEnvelope):
    """More moments or places than the engine takes on."""


@dataclass(frozen=True)
class Points:
    """Places with log-masses, bounds of their errors, and how much of the tilted mass was left out, relatively."""

    losses: Array
    loss_errors: Array
    log_masses: Array
    mass_errors: Array
    left_out: float = 0.0


def points_of(law: Law, tempo: float, tau: float | None = None) -> Points:
    """The places for |τ + is| up to ``tempo``; with a tilt given, only those that weigh something there."""
    atoms = Points(law.losses, law.loss_errors, law.log_masses, law.mass_errors)
    if law.density is None:
        return atoms
    nodes = _nodes(law.density, tempo, tau)
    if not len(atoms.losses):
        return nodes
    return Points(
        np.concatenate([atoms.losses, nodes.losses]),
        np.concatenate([atoms.loss_errors, nodes.loss_errors]),
        np.concatenate([atoms.log_masses, nodes.log_masses]),
        np.concatenate([atoms.mass_errors, nodes.mass_errors]),
        nodes.left_out,
    )


def coarse_points(law: Law) -> Points:
    """Atoms and a plain grid of the density, for floats that only search."""
    density = law.density
    if density is None:
        return points_of(law, 0.0)
    v = np.linspace(density.low, density.high, _COARSE)
    heights = density.log_density(v)[0] + math.log(max(float(v[1] - v[0]), 1e-300))
    heights[[0, -1]] -= math.log(2)
    losses, none = np.concatenate([law.losses, density.loss(v)[0]]), np.zeros(len(law.losses) + _COARSE)
    return Points(losses, none, np.concatenate([law.log_masses, heights]), none)


def _nodes(density: Density, tempo: float, tau: float | None) -> Points:
    """Gauss–Legendre nodes on panels on which the loss moves by little enough."""
    panels = math.ceil((density.high - density.low) / (density.calm or density.width))
    if not panels < _MOST_NODES:
        raise TooMany(f"a density needs {panels:.2g} panels")
    if not density.high - density.low > panels * _FINEST * max(abs(density.low), abs(density.high)):
        raise NoEnvelope("the losses are too large to be told apart")
    mesh = np.linspace(density.low, density.high, panels + 1)
    at, doubt = density.loss(mesh)
    moved = np.maximum(np.diff(at) + doubt[1:] + doubt[:-1], 0.0)
    kept, left_out = np.ones(panels, dtype=bool), 0.0
    if tau is not None:
        middle = mesh[:-1] + np.diff(mesh) / 2
        # on a panel the logarithm of the density moves by at most 1.4 from the middle
        heights, errors = density.log_density(middle)
        tops = heights + errors + 1.4 + tau * (at[1:] + doubt[1:]) + np.log(np.diff(mesh))
        peak = float(tops.max())
        kept = tops > peak - _LIGHT - math.log(panels)
        # the heaviest has at least a part of its bound: where e^{τl} is within a factor e of its largest
        left_out = 80 * SAFETY * float(np.exp(tops[~kept] - peak).sum()) * max(1.0, tau * float(moved.max()))
    parts = np.ceil(np.maximum(_STRETCH * tempo * moved / _GROWTH, 1.0))[kept].astype(np.int64)
    if not int(parts.sum()) * ORDER < _MOST_NODES:
        raise TooMany(f"a density needs {int(parts.sum())} panels")
    start, width = np.repeat(mesh[:-1][kept], parts), np.repeat(np.diff(mesh)[kept] / parts, parts)
    first = np.repeat(np.cumsum(parts) - parts, parts)
    middle = start + (np.arange(len(start)) - first + 0.5) * width
    roots, weights = legendre(ORDER)
    v = (middle[:, None] + 0.5 * width[:, None] * roots).ravel()
    heights, errors = density.log_density(v)
    heights = heights + np.log(0.5 * width[:, None] * weights).ravel()
    losses, loss_errors = density.loss(v)
    # a node that rounding moves by dv changes the density by at most dv/width, and its loss by at most 1.8·dv
    slip = 4 * UNIT * (np.abs(v) + abs(density.low) + abs(density.high))
    errors = errors + slip / min(density.width, 1.0) + (2 * ULPS + 8) * UNIT * (1 + np.abs(heights))
    return Points(losses, loss_errors + 1.8 * slip, heights, errors, left_out)
