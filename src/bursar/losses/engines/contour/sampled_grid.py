"""The nodes of a sampled Gaussian's integral."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.numerics.arrays import Array


@dataclass
class Grid:
    """Nodes for tilts up to ``tau`` and frequencies up to ``reach``, with bounds of the errors of their losses and
    log-masses.
    """

    tau: float
    reach: float
    x: Array
    loss: Array
    log_mass: Array
    mass: Array
    loss_error: Array
    mass_error: Array
    step: float
