"""Which grid serves a tilt and a range of frequencies: grids are remembered, since a search asks often."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.numerics.arrays import Array
from bursar.numerics.lattice import short


class Grids(ABC):
    """What is common to integrals over nodes of a window, in units in which the strip is Im x < πσ²."""

    sigma: float
    tolerance: float
    thetas: Array
    usual: tuple[float, float]
    """The tilt and the frequencies of the first grid, guessed."""
    _grids: list[Grid]

    @abstractmethod
    def window(self, tau: float) -> tuple[float, float]:
        """Wide enough for every tilt up to tau."""

    @abstractmethod
    def growth(self, tau: float, reach: float) -> Array:
        """ln of what the modulus of the integrand grows by on each line Im x = θσ²."""

    @abstractmethod
    def nodes(self, tau: float, reach: float, window: tuple[float, float], step: float) -> Grid:
        """The grid with this step, which must be a short float, over this window."""

    def grid(self, tau: float, reach: float) -> Grid:
        """A grid that serves this tilt and these frequencies; remembered, since a search asks many times."""
        for grid in self._grids:
            if grid.tau >= tau and grid.reach >= reach and grid.tau <= 8 * tau + 4:
                return grid
        most, far = self.usual if not self._grids and 8 * tau + 4 >= self.usual[0] else (0.0, 0.0)
        grid = self.make(max(1.5 * tau, most), max(1.05 * reach, far), self.tolerance, least=tau)
        self._grids.insert(0, grid)
        del self._grids[4:]
        return grid

    def knows(self, tau: float, reach: float) -> bool:
        """Whether a grid that serves is remembered, or is the usual one."""
        if any(grid.tau >= tau and grid.reach >= reach and grid.tau <= 8 * tau + 4 for grid in self._grids):
            return True
        return reach <= self.usual[1]

    def price(self, tau: float, reach: float) -> float:
        """About how many nodes a grid for this tilt and these frequencies takes."""
        low, high = self.window(1.5 * tau)
        gain = 2 * math.pi * self.thetas * self.sigma**2
        step = 0.97 * float((gain / (np.maximum(self.growth(tau, 1.05 * reach), 0.0) + self.tolerance)).max())
        return (high - low) / step

    def make(self, tau: float, reach: float, tolerance: float, least: float | None = None) -> Grid:
        """Nodes so close that the trapezoid sum errs by less than e^{−tolerance} of the moment, at every tilt up to
        tau.
        """
        low, high = self.window(tau)
        # only to choose the step: what the grid leaves out is bounded for each tilt that uses it
        growth = self.growth(tau if least is None else least, reach)
        gain = 2 * math.pi * self.thetas * self.sigma**2
        step = short(0.97 * float((gain / (np.maximum(growth, 0.0) + tolerance)).max()), 5)
        return self.nodes(tau, reach, (low, high), step)
