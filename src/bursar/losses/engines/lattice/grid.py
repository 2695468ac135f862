"""Laws put on the grid hℤ, upwards: the mass of each place goes to the two grid points around it so that its mass
under P and under Q is kept ("connect the dots").

The result dominates the loss, and it *is* the loss plus an independent Z with values in an interval of length h and
E[e^{−Z}] = 1, which is what bounds the price of the grid (proofs/lattice.md §3). Densities become finitely many places
by Gauss–Legendre quadrature on panels that no grid point cuts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from bursar.losses._base import Loss
from bursar.losses.places import Density, Law
from bursar.numerics.arrays import Array, Integers, dot
from bursar.numerics.balls import ball, down, up, working
from bursar.numerics.convex import bends
from bursar.numerics.quadrature import legendre
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

QUADRATURE = 1e-15  # relative error of a panel (proofs/lattice.md §2)
_ORDERS = ((1.0, 10), (10.0, 5), (250.0, 3))  # nodes for panels this many times narrower than the law allows
_MOST_PANELS = 1_500_000
_MOST_CORNERS = 6_000
_MOST_CELLS = 1 << 22


class NoLattice(Exception):
    """The engine cannot serve this composition within its limits."""


class TooFine(NoLattice):
    """A coarser grid may do."""


class TooCoarse(NoLattice):
    """A finer grid may do."""


@dataclass(frozen=True)
class Places:
    """Finitely many places with log-masses, each with the bound of its error, and the grid cell each lies in."""

    losses: Array
    loss_errors: Array
    log_masses: Array
    mass_errors: Array
    cells: Integers
    nodes: Array
    """Which places are nodes of a quadrature (1.0), not atoms (0.0)."""
    log_lost: float
    floor: float = -math.inf
    """Losses of the density below this are left out."""

    def cumulant(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ at a tilt, in floats."""
        heights = self.log_masses + tau * self.losses
        top = float(heights.max())
        weights = np.exp(heights - top)
        total = float(weights.sum())
        mean = dot(weights, self.losses) / total
        return top + math.log(total), mean, dot(weights, np.square(self.losses - mean)) / total


@dataclass(frozen=True)
class Gridded:
    """One loss on the grid, tilted by e^{τl} and divided by e^{log_norm}: the mass at (first + i)·h is weights[i]."""

    count: int
    first: int
    weights: Array
    log_norm: float
    error: float
    """Bounds the error of the weights in the 1-norm."""
    relative: tuple[float, float] | None
    """Bounds it relative to each place's own mass, and what may move between the ends of its cell; None: unknown."""
    slack: float
    """How far places may be from where they are thought to be."""
    log_lost: float
    floor: float
    """Losses below this may be missing; they have at most the whole mass."""
    moved: bool
    """Whether some place is not a grid point, so that the grid costs something."""


def places(law: Law, step: float, floor: float = -math.inf) -> Places:
    """The atoms and the nodes of the density's panels, above about a floor."""
    if law.panels is not None:
        raise NoLattice("the density does not rise with the loss")
    kept = law.losses + law.loss_errors >= floor
    atoms = [column[kept] for column in (law.losses, law.loss_errors, law.log_masses, law.mass_errors)]
    if len(atoms[0]) and not float(np.abs(atoms[0]).max()) / step < 2.0**40:
        raise TooFine("the atoms lie too far apart for the step")
    parts: list[tuple[Array, ...]] = [(*atoms, np.floor(atoms[0] / step))]
    left_out = floor if not bool(np.all(kept)) else -math.inf
    for density in law.densities:
        found, edge = _nodes(density, step, floor)
        parts.append(found)
        left_out = max(left_out, edge)
    losses, loss_errors, heights, errors, cells = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(losses):
        raise NoLattice("nothing is left above the floor")
    nodes = (np.arange(len(losses)) >= len(atoms[0])).astype(float)
    return Places(losses, loss_errors, heights, errors, cells.astype(np.int64), nodes, law.log_lost, left_out)


def _nodes(density: Density, step: float, floor: float) -> tuple[tuple[Array, ...], float]:
    """Gauss–Legendre nodes on panels between neighbouring edges, which are the mesh and the places of the grid points;
    and below which loss something may have been left out.
    """
    low, high = density.low, density.high
    place = float(density.place(np.array([floor]))[0]) if math.isfinite(floor) else -math.inf
    if place > low:
        low = min(place, high - 1e-3 * min(density.width, high - low))
    ends, unsure = density.loss(np.array([low, high]))
    # places are rough: what counts is the loss at the place itself
    floor = float(ends[0] + unsure[0]) + 4 * UNIT * abs(float(ends[0])) if low > density.low else -math.inf
    span = (ends[1] - ends[0]) / step + (high - low) / density.width
    if not span < _MOST_PANELS:
        raise TooFine(f"a density needs {span:.2g} panels")
    points = np.arange(math.floor(ends[0] / step), math.ceil(ends[1] / step) + 1) * step
    marks = density.place(points)
    marks = marks[(marks > low) & (marks < high)]
    mesh = np.linspace(low, high, math.ceil((high - low) / density.width) + 1)
    edges = np.unique(np.concatenate([mesh, marks]))
    half = np.diff(edges) / 2
    middle = edges[:-1] + half
    cells = np.floor(density.loss(middle)[0] / step)
    # by how much a panel may reach out of its cell, since places are rough
    at, doubt = density.loss(edges)
    out = np.maximum(cells * step - at[:-1], at[1:] - (cells + 1) * step)
    out = np.maximum(out, 0.0) + np.maximum(doubt[:-1], doubt[1:])
    narrow = density.width / np.maximum(2 * half, 1e-30)
    parts = []
    for i, (least, order) in enumerate(_ORDERS):
        most = _ORDERS[i + 1][0] if i + 1 < len(_ORDERS) else math.inf
        # the mesh's own panels are as wide as the law allows, up to rounding
        chosen = (narrow >= (least if i else 0.0)) & (narrow < most)
        roots, weights = legendre(order)
        v = (middle[chosen, None] + half[chosen, None] * roots).ravel()
        heights, errors = density.log_density(v)
        heights = heights + np.log(half[chosen, None] * weights).ravel()
        errors = errors + (2 * ULPS + 4) * UNIT * (1 + np.abs(heights))
        losses, loss_errors = density.loss(v)
        loss_errors = loss_errors + np.repeat(out[chosen], order)
        parts.append((losses, loss_errors, heights, errors, np.repeat(cells[chosen], order)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True)), floor


def gridded(source: Places, count: int, step: float, tau: float) -> Gridded:
    """The places on the grid, tilted."""
    points = source.cells.astype(np.float64) * step
    inside, doubt, slack = _inside(source, points, step)
    up_share = np.expm1(-inside) / math.expm1(-step)
    down_share = np.exp(-inside) * np.expm1(inside - step) / math.expm1(-step)
    first = int(source.cells.min())
    index = source.cells - first
    if tau * step > 600:
        raise TooCoarse("the tilt is too steep for the step")
    heights = source.log_masses + tau * points
    top = float(heights.max())
    mass = np.exp(heights - top)
    lifted = mass * math.exp(tau * step)
    n = int(index.max()) + 2
    if n > _MOST_CELLS:
        raise TooFine(f"one loss covers {n} grid points")
    sums = np.bincount(index, mass * down_share, n) + np.bincount(index + 1, lifted * up_share, n)
    total = float(sums.sum())
    weights = sums / total
    sizes = np.abs(source.log_masses) + np.abs(tau * points) + abs(tau * step) + abs(top) + abs(math.log(total))
    # mass errors are relative; quadrature and clipping may move mass between the ends of a cell
    known = np.expm1(np.minimum(source.mass_errors + UNIT * (4 * ULPS + 8 + (ULPS + 4) * sizes), 1.0))
    if not float(known.max()) < 1:
        raise NoLattice("the parameters are not known precisely enough")
    shifted = source.nodes * (4 * QUADRATURE - 4 * doubt / math.expm1(-step))
    crowd = int(np.bincount(index).max())  # masses of one cell are added in turn
    error = dot(mass * down_share + lifted * up_share, known) + dot(mass + lifted, shifted)
    error = error / total + (2 * crowd + math.log2(n) + 8) * UNIT + n * 1e-307
    if math.isfinite(source.floor):
        error += math.exp(min(tau * source.floor - top - math.log(total), 700.0))
    log_norm, relative = top + math.log(total), (SAFETY * float(known.max()), SAFETY * float(shifted.max()))
    moved = bool(np.any((inside > 0) & (inside < step)))
    return Gridded(
        count, first, weights, log_norm, SAFETY * error, relative, slack, source.log_lost, source.floor, moved
    )


def _inside(source: Places, points: Array, step: float) -> tuple[Array, Array, float]:
    """How far each place lies above its grid point, what is unsure about that, and by how much it was moved for it."""
    offset = source.losses - points
    doubt = source.loss_errors + 4 * UNIT * (np.abs(source.losses) + np.abs(points) + step)
    inside = np.clip(offset, 0.0, step)  # a node that rounding puts just outside its cell belongs to it
    near = np.where(inside <= 8 * doubt, 0.0, np.where(inside >= step - 8 * doubt, step, inside))
    inside = np.where(source.nodes > 0, inside, near)  # an atom next to a grid point belongs on it
    return inside, doubt, float((doubt + np.abs(offset - inside)).max())


def gridded_profile(loss: Loss, count: int, step: float, tau: float, depth: float) -> Gridded:
    """A loss of which only the profile is known, on the grid: the profile joined up between the grid points."""
    low, high = down(loss.support()[0]), up(loss.support()[1])
    if not (math.isfinite(low) and math.isfinite(high) and (high - low) / step < _MOST_CORNERS):
        raise TooFine(f"{type(loss).__name__} has too wide a range for its profile at every grid point")
    first, last = math.floor(low / step) - 1, math.ceil(high / step) + 1
    with working(256):
        points = [ball(j) * ball(step) for j in range(first, last + 1)]
        corners = [(arb(0), arb(1))] + [(point.exp(), loss.profile(point)) for point in points]
        masses = [t * q for (t, _), q in zip(corners[1:], bends(corners), strict=True)]
        whole = sum(masses, corners[-1][1])
        if whole < 1 or whole > 1:
            raise NoLattice(f"the profile of {type(loss).__name__} is that of no pair")
        tilted = [mass * (tau * point).exp() for mass, point in zip(masses, points, strict=True)]
        total = sum(tilted, arb(0))
        weights = [mass / total.mid() for mass in tilted]
        rest = max(up(corners[-1][1] - loss.infinite_mass()), 0.0)
        error = sum((weight.rad() for weight in weights), arb(0))
        values = np.array([max(float(weight), 0.0) for weight in weights])
        log_norm = total.mid().log()
        slip = up(error) + 4 * UNIT + up(log_norm.rad()) + UNIT * abs(float(log_norm))
    if not slip < 1e-3 or rest > math.exp(-depth):
        raise NoLattice(f"the profile of {type(loss).__name__} is not known precisely enough")
    return Gridded(
        count, first, values, float(log_norm), SAFETY * slip, None, 0.0, math.log(rest + 1e-300), -math.inf, True
    )
