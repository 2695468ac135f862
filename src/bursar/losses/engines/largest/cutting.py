"""Laws cut in two at a loss: what is at most so large, and what is larger. Any cut is sound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import arb

from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.points import NoEnvelope, points_of
from bursar.losses.places import Density, Law
from bursar.numerics.arrays import Truths
from bursar.numerics.balls import Ball


def cut(law: Law, at: float) -> tuple[Law, Law]:
    """The part of a law with losses up to about this one, and the rest; what no place shows stays with the former."""
    if law.panels is not None:
        raise NoEnvelope("a density whose loss rises and falls is not cut")
    small = law.losses <= at
    below: list[Density] = []
    above: list[Density] = []
    for density in law.densities:
        low, high = _halves(density, at)
        below += [low] if low is not None else []
        above += [high] if high is not None else []
    rest = replace(_only(law, ~small), densities=tuple(above))
    return replace(_only(law, small), densities=tuple(below), log_lost=law.log_lost), rest


def _halves(density: Density, at: float) -> tuple[Density | None, Density | None]:
    """Both parts of a density, cut in its own variable; None for one that is empty."""
    v = float(density.place(np.array([at]))[0])
    if not v > density.low:
        return None, density
    if not v < density.high:
        return density, None
    return replace(density, high=v), replace(density, low=v)


def _only(law: Law, kept: Truths) -> Law:
    """Some of the atoms, and nothing else."""
    return Law(law.losses[kept], law.loss_errors[kept], law.log_masses[kept], law.mass_errors[kept])


def empty(law: Law) -> bool:
    """Whether it has no place at all."""
    return not len(law.losses) and not law.densities


def mass(law: Law) -> Ball:
    """All of it, as a ball; 0 for a law without places."""
    if empty(law):
        return arb(0)
    return PointsFactor(law, 1, arb(0))._steep_cumulant(points_of(law, 0.0), 0.0).exp()
