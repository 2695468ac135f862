"""Densities given as formulas: their profiles are too slow for every point of a grid, so two tables stand for them,
one on either side.

A table whose outcomes are merged cells is the pair after processing, so it costs no more; one whose cells are split to
the ends of their losses' ranges is the pair before processing, so it costs no less. Both hold in a composition, and
sampled.
"""

from __future__ import annotations

from dataclasses import replace

from bursar.losses._base import Directions, Loss
from bursar.losses.engines.answer import Answer, Losses
from bursar.losses.laws.density import DensityLoss
from bursar.losses.laws.sampled import SampledAdd, SampledRemove


def by_formula(losses: Losses) -> bool:
    """Whether some loss is that of densities given as formulas."""
    return any(isinstance(_innermost(loss), DensityLoss) for loss, _ in losses)


def around(losses: Losses) -> tuple[Losses, Losses]:
    """The same losses with tables that cost no more, and with tables that cost no less."""
    return tuple([(_tabled(loss, side), count) for loss, count in losses] for side in (0, 1))  # type: ignore[return-value]


def met(below: Answer, above: Answer) -> Answer:
    """The lower end of the one and the upper end of the other."""
    lower = min(below.lower, above.upper)
    cells = 1 - lower / above.upper if above.upper > 0 else 0.0
    return replace(above, lower=lower, errors=(*above.errors, ("cells", cells)))


def _innermost(loss: Loss) -> Loss:
    return _innermost(loss.base.remove) if isinstance(loss, (SampledAdd, SampledRemove)) else loss


def _tabled(loss: Loss, side: int) -> Loss:
    if isinstance(loss, DensityLoss):
        return loss.tables[side]
    if isinstance(loss, SampledRemove):
        return SampledRemove(_both(loss.base, side), loss.rate)
    if isinstance(loss, SampledAdd):
        return SampledAdd(_both(loss.base, side), loss.rate)
    return loss


def _both(base: Directions, side: int) -> Directions:
    return Directions(_tabled(base.remove, side), _tabled(base.add, side), base.attained)
