"""One direction of a composition, ready to be put on grids of any step and tilt."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bursar.losses._base import Loss
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.lattice.engine import Lattice
from bursar.losses.engines.lattice.grid import Gridded, Places, gridded, gridded_profile, places
from bursar.losses.places import Law
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.search import minimiser

_NEGLIGIBLE = 42.0  # e to minus this is what far low losses may weigh, tilted
_COARSE = 400  # cells for a first look


class Source:
    """One loss and its count: where its mass lies, roughly, and the way to put it on a grid."""

    def __init__(self, loss: Loss, count: int, depth: float) -> None:
        self.loss, self.count, self.depth = loss, count, depth + math.log(count)
        self.law = loss.lattice_law(self.depth)
        self.look = self._first_look()

    def _first_look(self) -> Places:
        """The places on a coarse grid, untilted."""
        if self.law is None:
            low, high = down(self.loss.support()[0]), up(self.loss.support()[1])
            step = (high - low) / _COARSE
            grid = gridded_profile(self.loss, 1, step, 0.0, self.depth)
            at = step * (grid.first + np.arange(len(grid.weights), dtype=np.float64))
            kept = grid.weights > 0
            heights, none = np.log(grid.weights[kept]) + grid.log_norm, np.zeros(int(kept.sum()))
            return Places(at[kept], none, heights, none, none.astype(np.int64), none, grid.log_lost)
        return places(self.law, _extent(self.law) / _COARSE)

    def grid(self, step: float, tau: float) -> Gridded:
        """The loss on the grid of this step, tilted."""
        if self.law is None:
            return gridded_profile(self.loss, self.count, step, tau, self.depth)
        floor = (self.look.cumulant(tau)[0] - _NEGLIGIBLE - math.log(self.count)) / tau
        return gridded(places(self.law, step, floor), self.count, step, tau)


def _extent(law: Law) -> float:
    """How far the losses reach."""
    ends = [float(np.abs(law.losses).max())] if len(law.losses) else []
    for density in law.densities:
        ends.append(float(np.abs(density.loss(np.array([density.low, density.high]))[0]).max()))
    return max(*ends, 1e-12) if ends else 1.0


class Work:
    """One direction of a composition, ready to be put on grids."""

    def __init__(self, losses: Losses, leak: Ball, log_delta: float, most: int) -> None:
        self.leak, self.log_delta, self.most = leak, log_delta, most
        self.sources = [Source(loss, count, 28.0 - log_delta) for loss, count in losses]
        self.moving = sum(source.count for source in self.sources)

    def cumulant(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of the composition, in floats."""
        rows = [(source.count, source.look.cumulant(tau)) for source in self.sources]
        height, mean, variance = (math.fsum(count * row[i] for count, row in rows) for i in range(3))
        return height, mean, variance

    def chernoff_tilt(self, epsilon: float) -> float:
        """The tilt with the least Chernoff bound of δ(ε)."""
        return best_tilt(lambda t: self.cumulant(t)[0] + log_constant(t) - t * epsilon, self.cumulant(1e-3)[2])

    def lattice(self, step: float, tau: float, epsilon: float, width: float) -> Lattice:
        """The composition on a grid, composed around an ε."""
        lattice = Lattice([source.grid(step, tau) for source in self.sources], step, tau, self.leak)
        lattice.compose(epsilon, self.log_delta, width, self.most)
        return lattice

    def fitting(self, step: float, length: float) -> float:
        """A step about this large, not too fine for the period, that divides the atom which carries the most mass, so
        that it need not be moved.
        """
        step = max(step, 1.05 * length / self.most)
        atoms = [
            (source.count * math.exp(float(height)), abs(float(place)))
            for source in self.sources
            if source.law is not None
            for place, height in zip(source.law.losses[:64], source.law.log_masses[:64], strict=True)
            if place != 0
        ]
        if not atoms:
            return step
        place = max(atoms)[1]
        return place / math.ceil(place / step)


def best_tilt(price: Callable[[float], float], variance: float) -> float:
    """The tilt at which a price is least, in floats."""
    # where all losses together are tiny their tilts are large
    most = max(1e5, 1e2 / math.sqrt(variance)) if variance > 0 else 1e5
    points = math.ceil(2.2 * math.log(most / 1e-3))
    return math.exp(minimiser(lambda u: price(math.exp(u)), math.log(1e-3), math.log(most), points=points, steps=20))


def log_constant(tau: float) -> float:
    """The logarithm that `chernoff_constant` gives, in floats."""
    return tau * math.log(tau) - (1 + tau) * math.log1p(tau)
