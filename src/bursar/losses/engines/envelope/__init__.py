"""The envelope engine: δ from above and below by trigonometric polynomials around the hockey stick, atoms or none."""

from bursar.losses.engines.envelope.along import deltas_at
from bursar.losses.engines.envelope.deltas import delta_at
from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.envelope.solve import at_most, epsilon_at

__all__ = ["NoEnvelope", "at_most", "delta_at", "deltas_at", "epsilon_at"]
