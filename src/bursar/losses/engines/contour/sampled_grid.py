"""The nodes of a sampled Gaussian's integral."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.trusted import ULPS, UNIT


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

    @cached_property
    def mass_doubt(self) -> float:
        """The largest relative error of a node's mass, the rounding of its logarithm and of an exponential included."""
        return float((self.mass_error + 4 * UNIT * np.abs(self.log_mass)).max()) + (ULPS + 4) * UNIT

    @cached_property
    def loss_doubt(self) -> float:
        """What the error of a node's tilted mass grows by at most with the tilt."""
        return float((self.loss_error + 4 * UNIT * np.abs(self.loss)).max())
