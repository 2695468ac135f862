"""Records of which each is drawn by itself, as Gaussian noise sees them."""

from __future__ import annotations

from typing import NamedTuple

from bursar.numerics.real import Real

MOST_RECORDS = 64
"""Of a group that is priced by how many of its records are drawn; a larger one is by what holds for any release."""


class Drawn(NamedTuple):
    """``size`` records that each move the output by at most 1/σ of the noise, and take part with this probability."""

    sigma: Real
    rate: Real
    size: int

    @property
    def some(self) -> bool:
        """Whether a random number of records takes part, more than one of them perhaps."""
        return 1 < self.size <= MOST_RECORDS and self.rate < 1
