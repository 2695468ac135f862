"""The envelope engine: δ from above and from below by trigonometric polynomials around the hockey stick, for losses with
atoms as for smooth ones.
"""

from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.envelope.solve import at_most, delta_at, deltas_at, epsilon_at

__all__ = ["NoEnvelope", "at_most", "delta_at", "deltas_at", "epsilon_at"]
