"""The bands engine: laws on grids that grow coarser with the loss, for sums in which a few large losses decide among
many small ones. It loads on first use.
"""

from typing import TYPE_CHECKING

from bursar.lazy import names_from

if TYPE_CHECKING:
    from bursar.losses.engines.bands.solve import epsilon_at

__all__ = ["epsilon_at"]
__getattr__ = names_from(__name__, {"epsilon_at": "solve"})
