"""A loss as finitely many weighted places: its atoms, and the nodes of a quadrature of its density.

A quadrature serves tilts and frequencies up to what it was made for: the integrand f(v)·e^{(τ+is)·l(v)} turns s·l
times, so panels are as narrow as that asks (proofs/envelope.md §4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.answer import NoEnvelope, TooMany
from bursar.losses.engines.lattice.graded import measured, panels_of
from bursar.losses.places import Bounds, Density, Law, Panels, parts_for
from bursar.numerics.arrays import Array, Integers
from bursar.numerics.products import summed
from bursar.numerics.quadrature import legendre
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

__all__ = ["INNER", "ORDER", "QUADRATURE", "STEEP", "NoEnvelope", "Points", "TooMany", "points_of"]
ORDER = 20  # nodes of a panel
QUADRATURE = 1e-21  # relative error of a panel
_GROWTH = 20.0  # by how much, as a logarithm, the integrand may grow on a panel's ellipse
_STRETCH = 3.62  # how far the loss moves on that ellipse, in units of how far it moves on the panel
INNER = 0.246  # how far a function moves on a panel, in units of how far it moves on its disc
STEEP = 0.53  # its slope there, in those units per width of the panel
_CALM = 27.0  # how far the logarithm of the integrand may move on a disc
_MOST_NODES = 4_000_000
_FINEST = 1e-9  # of the largest loss: how wide a panel must be at least
_FEW_NODES = 200_000
_MOST_COARSE = 5000  # panels that are cut once more to see which of them weigh something
_ROUNDS = 12
_MOST_ALIKE = 20_000  # panels that are all alike, where wide ones failed
_PARTS = 8  # of a panel that is too wide, at a time, where parts are measured anew
_LIGHT = 50.0  # panels that are e^{−50} times lighter than the heaviest are left out


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
    found = [Points(law.losses, law.loss_errors, law.log_masses, law.mass_errors)] if len(law.losses) else []
    found += [_nodes_of(density, tempo, tau) for density in law.densities]
    if law.panels is not None:
        found.append(_panel_nodes(law.panels, tempo, tau))
    if len(found) == 1:
        return found[0]
    return Points(
        np.concatenate([part.losses for part in found]),
        np.concatenate([part.loss_errors for part in found]),
        np.concatenate([part.log_masses for part in found]),
        np.concatenate([part.mass_errors for part in found]),
        max(part.left_out for part in found),  # of each part at most this share, so of all of them
    )


def _nodes_of(density: Density, tempo: float, tau: float | None) -> Points:
    """The nodes of a density, on panels as wide as it lets them be where that is known."""
    if density.bounds is not None:
        try:
            return _measured_nodes(panels_of(density), tempo, tau, density.bounds)
        except (NoEnvelope, ArithmeticError):
            if not density.high - density.low < _MOST_ALIKE * density.width:
                raise
    return _nodes(density, tempo, tau)  # panels that are all alike may do


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
    # a node that rounding moves by dv changes the density by at most dv/width, and its loss by at most 1.8·dv, or by
    # 1.8·dv/w times what the loss moves by on the panel: little, where sampling is rare
    slope = np.repeat(np.repeat(1.8 * np.minimum(1.0, moved / np.diff(mesh))[kept], parts), ORDER)
    slip = 4 * UNIT * (np.abs(v) + abs(density.low) + abs(density.high))
    errors = errors + slip / min(density.width, 1.0) + (2 * ULPS + 8) * UNIT * (1 + np.abs(heights))
    return Points(losses, loss_errors + slope * slip, heights, errors, left_out)


def _measured_nodes(panels: Panels, tempo: float, tau: float | None, bounds: Bounds) -> Points:
    """The same on panels whose parts can be measured anew: few are cut far."""
    tops = []
    for _ in range(_ROUNDS):
        if tau is not None:
            panels, light = _lighter(panels, tau)
            tops.append(light)
        need = (panels.moved + tempo * panels.moved_loss) / _CALM
        if float(need.max()) <= 1:
            once = np.ones(len(need), dtype=np.int64)
            return _heavy(_on_panels(panels, once), tau, np.concatenate(tops) if tops else np.zeros(0))
        if not float(np.minimum(need, _PARTS).sum()) * ORDER < 5 * _FEW_NODES:
            break
        panels = measured(panels.split(np.minimum(parts_for(np.minimum(need, _PARTS)), _PARTS)), bounds)
    raise TooMany("a density moves too much for its panels")


def _panel_nodes(panels: Panels, tempo: float, tau: float | None) -> Points:
    """Gauss–Legendre nodes on panels that know how far density and loss move (proofs/densities.md §4)."""
    tops = []
    for _ in range(_ROUNDS):
        if tau is not None:
            panels, light = _lighter(panels, tau)
            tops.append(light)
        need = (panels.moved + tempo * panels.moved_loss) / _CALM
        if not float(need.max()) < 1e15:
            raise TooMany("a density moves too much for its panels")
        parts = parts_for(need)
        # at a steep tilt only a little of what is cut finely weighs anything
        if tau is None or float(parts.sum()) * ORDER < _FEW_NODES or len(parts) > _MOST_COARSE:
            break
        panels = panels.split(np.minimum(parts, 64))
    if not float(parts.sum()) * ORDER < (_FEW_NODES if tau is None else 5 * _FEW_NODES):
        raise TooMany(f"a density needs {parts.sum():.2g} panels")
    return _heavy(_on_panels(panels, parts), tau, np.concatenate(tops) if tops else np.zeros(0))


def _lighter(panels: Panels, tau: float) -> tuple[Panels, Array]:
    """The panels that may weigh something at the tilt, and the most that each of the others does, in logarithms."""
    (heights, errors), (at, doubt) = panels.log_density(panels.middles), panels.loss(panels.middles)
    likely = heights + tau * at + np.log(panels.widths)
    most = likely + errors + tau * doubt + SAFETY * INNER * (panels.moved + tau * panels.moved_loss)
    most += 8 * UNIT * (np.abs(heights) + np.abs(tau * at)) + 2.1 * _slips(panels)
    kept = ~(most <= likely.max() - _LIGHT - math.log(len(most)))
    return panels.only(kept), most[~kept]


def _slips(panels: Panels) -> Array:
    """How far a node may lie from where it should, and half of how much a width may be off, in widths of the panel:
    density and loss move in proportion.
    """
    slip: Array = (4 * UNIT * (np.abs(panels.starts) + 2 * panels.widths) + panels.slips) / panels.widths
    if not float(slip.max()) < 1e-3:
        raise NoEnvelope("the panels of a density are too narrow for floats")
    return slip


def _on_panels(panels: Panels, parts: Integers) -> Points:
    """The nodes, each panel in so many parts."""
    fine = panels.split(parts)
    roots, weights = legendre(ORDER)
    half = 0.5 * fine.widths[:, None]
    v = (fine.starts[:, None] + half * (1 + roots)).ravel()
    heights, errors = panels.log_density(v)
    losses, loss_errors = panels.loss(v)
    heights = heights + np.log(half * weights).ravel()
    each = np.repeat(np.arange(len(parts)), parts * ORDER)
    slip = _slips(panels)
    errors = errors + (slip * (2.1 + STEEP * panels.moved))[each] + (2 * ULPS + 8) * UNIT * (1 + np.abs(heights))
    loss_errors = loss_errors + (slip * STEEP * panels.moved_loss)[each]
    if not (np.isfinite(errors).all() and np.isfinite(loss_errors).all()):
        raise NoEnvelope("the formulas of a density cannot be evaluated in floats")
    return Points(losses, loss_errors, heights, errors)


def _heavy(points: Points, tau: float | None, tops: Array) -> Points:
    """The nodes that weigh something at the tilt, and what share those without weight and whole panels may have."""
    if tau is None:
        return points
    heights = points.log_masses + tau * points.losses
    peak = float(heights.max())
    weights = np.exp(heights - peak)
    kept = heights > peak - _LIGHT - math.log(len(heights))
    unsure = np.exp(np.minimum(points.mass_errors + tau * points.loss_errors + 1e-3, 700.0))
    light = float(np.exp(np.minimum(tops - peak, 700.0)).sum()) + summed(weights[~kept], unsure[~kept])
    return Points(
        points.losses[kept],
        points.loss_errors[kept],
        points.log_masses[kept],
        points.mass_errors[kept],
        SAFETY * light / float(weights[kept].sum()),
    )
