"""The lattice engine: every loss on one grid; serves atoms too."""

from bursar.losses.engines.lattice.grid import NoLattice
from bursar.losses.engines.lattice.solve import delta_at, deltas_at, epsilon_at, long

__all__ = ["NoLattice", "delta_at", "deltas_at", "epsilon_at", "long"]
