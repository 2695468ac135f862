"""The factors of a composition as the envelope engine takes them: what is alike together, the rest one by one."""

from __future__ import annotations

import math

from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.contour.factors import Factor, GaussianFactor
from bursar.losses.engines.envelope.crowds import AtomsCrowd, LaplaceCrowd
from bursar.losses.engines.envelope.factor import LaplaceFactor, PointsFactor
from bursar.losses.engines.envelope.guided import GuidedFactor
from bursar.losses.engines.envelope.points import NoEnvelope

_DEPTH = 20.0  # by how much, as a logarithm, what is left out of a law stays below δ
_CROWD = 4  # small tables: fewer are quicker one by one
_FEW = 12  # atoms
_MILD = 1e6  # copies: with more, a closed form in floats would lose too many digits


def factors_of(losses: Losses, log_delta: float, *, plain: bool = False) -> list[Factor]:
    """All Gaussians as one factor, all Laplaces, many small tables as one each, then the others; ``plain``: those with
    moments of their own by their places, too.
    """
    gaussian, others = arb(0), []
    for loss, count in losses:
        factor = _factor(loss, count, log_delta)
        if plain and isinstance(factor, GuidedFactor):
            factor = PointsFactor(factor.law, count, loss.infinite_mass())
        square = factor.gaussian_part()
        if square is not None:
            gaussian += square
        else:
            others.append(factor)
    smooth: list[Factor] = [GaussianFactor(gaussian)] if gaussian > 0 else []
    return smooth + _gathered(others)


def _factor(loss: Loss, count: int, log_delta: float) -> Factor:
    depth = _DEPTH + math.log(count) - log_delta
    factor = loss.envelope_factor(count, depth)
    if factor is not None:
        return factor
    law = loss.lattice_law(depth)
    if law is None:
        raise NoEnvelope(f"the places of {type(loss).__name__.strip('_')} are too many to be listed")
    return PointsFactor(law, count, loss.infinite_mass())


def _gathered(factors: list[Factor]) -> list[Factor]:
    """The same factors, with a crowd in place of Laplaces, and of small tables where there are many."""
    laplaces: list[LaplaceFactor] = []
    small: list[PointsFactor] = []
    rest: list[Factor] = []
    for one in factors:
        if isinstance(one, LaplaceFactor) and one.count <= _MILD:
            laplaces.append(one)
        elif isinstance(one, PointsFactor) and _is_small(one):
            small.append(one)
        else:
            rest.append(one)
    if laplaces:  # a closed form is quicker than places, and as close
        rest.append(LaplaceCrowd([one.epsilon for one in laplaces], [one.count for one in laplaces]))
    if len(small) >= _CROWD:
        rest.append(AtomsCrowd([one.law for one in small], [one.count for one in small]))
        small = []
    return [*rest, *small]


def _is_small(factor: PointsFactor) -> bool:
    """Whether it has a few atoms and nothing else."""
    law = factor.law
    return not law.densities and law.log_lost == -math.inf and len(law.losses) <= _FEW and factor.count <= _MILD
