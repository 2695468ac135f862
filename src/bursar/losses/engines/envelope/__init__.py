"""The envelope engine: δ from above and below by trigonometric polynomials around the hockey stick, atoms or none. It
loads on first use.
"""

from typing import TYPE_CHECKING

from bursar.lazy import names_from
from bursar.losses.engines.answer import NoEnvelope

if TYPE_CHECKING:
    from bursar.losses.engines.envelope.along import deltas_at
    from bursar.losses.engines.envelope.deltas import delta_at
    from bursar.losses.engines.envelope.solve import at_most, epsilon_at, narrow_epsilon_at

__all__ = ["NoEnvelope", "at_most", "delta_at", "deltas_at", "epsilon_at", "narrow_epsilon_at"]
__getattr__ = names_from(
    __name__,
    {
        "at_most": "solve",
        "delta_at": "deltas",
        "deltas_at": "along",
        "epsilon_at": "solve",
        "narrow_epsilon_at": "solve",
    },
)
