"""What mechanisms certainly reveal."""

from __future__ import annotations

from typing import NamedTuple

from bursar.numerics.balls import Ball


class Leaks(NamedTuple):
    """How likely a mechanism certainly reveals everything, at least, by direction of its neighbour relation; about the
    worst one that keeps it where it is a declared promise.
    """

    removed: Ball
    """An event has this probability with the record, and none without it (or with another in its place)."""
    added: Ball
    """The same the other way round."""
    shown: Ball
    """The event shows the record itself: it has no probability in any database without the record."""

    @property
    def same(self) -> bool:
        """Whether both directions leak alike."""
        return self.removed is self.added
