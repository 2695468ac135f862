"""The contour engine: smooth losses, at a cost that does not grow with the counts."""

from bursar.losses.engines.contour.factors import NoContour
from bursar.losses.engines.contour.solve import (
    at_most,
    by_all,
    by_leaps,
    by_rare,
    delta_at,
    deltas_at,
    epsilon_at,
    on_main_road,
    suits,
)

__all__ = [
    "NoContour",
    "at_most",
    "by_all",
    "by_leaps",
    "by_rare",
    "delta_at",
    "deltas_at",
    "epsilon_at",
    "on_main_road",
    "suits",
]
