"""Which engines are asked, in which order, and until when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from bursar.losses.engines.answer import USUAL_WIDTH, Answer, Losses, NoEngine, Precision, both
from bursar.losses.engines.cheaper import STUMBLES
from bursar.numerics.balls import Ball

CLOSE = 1e-4  # an answer this narrow is not worth another engine's minutes, unless effort is asked for
OPEN = 1e-3  # an answer wider than this is worth asking about each release by itself
_SMOOTH = ("plain contour", "leaps", "rare losses")  # ways of the contour engine, for losses that are smooth
_SLOW = ("close hits", "bands")  # what takes long, and is asked where others leave much open


class Turn(Enum):
    """Which of the engines it is the turn of, where releases are of several kinds."""

    ALL = ()
    FIRST = ("close hits", "bands", "bracket", "lattice", "drawn")
    """All but these, which take long."""
    LAST = (
        *("single event", "closed form", "hits", "contour", "plain contour", "nothing", "leaps"),
        *("few moments", "largest loss", "rare losses", "envelope"),
    )
    """All but these, which had their turn."""


def order_of(losses: Losses, precision: Precision, ways: Iterable[str]) -> list[str]:
    """Which engines to ask, in turn: the one that is forced, or those that suit the losses."""
    if precision.engine is not None:
        return [precision.engine]
    smooth, ways = is_smooth(losses), list(ways)
    left = {"contour"} if "plain contour" in ways or not smooth else set()
    return [name for name in ways if name not in left and (smooth or name not in _SMOOTH)]


def is_smooth(losses: Losses) -> bool:
    """Whether some noise is Gaussian, so that moments decay and the contour engine is the quickest."""
    return any(loss.gaussian_noise() for loss, _ in losses)


@dataclass(frozen=True)
class Ask:
    """The engines in turn, until what they prove together is narrow enough."""

    precision: Precision
    engines: dict[str, Callable[[Losses, float], Answer | None]]
    delta: Ball | None = None
    """The δ at which ε is asked."""

    def __call__(self, losses: Losses, turn: Turn = Turn.ALL, found: Answer | None = None) -> Answer:
        """What those whose turn it is prove, with what is known already."""
        width = USUAL_WIDTH if self.precision.width is None else self.precision.width
        reasons = []
        for name in order_of(losses, self.precision, self.engines):
            if name == "lattice" and self._enough(found):
                break
            if name in turn.value or (name in _SLOW and self._unasked(found)):
                continue
            try:
                other = self._asked(name, losses, width)
            except STUMBLES as limit:
                reasons.append(f"the {name} engine: {limit}")
                continue
            if other is not None:
                found = other if found is None else both(found, other)
                if found.width <= width:
                    break
        if found is None:
            raise NoEngine("; ".join(reasons) or "no engine serves these")
        return found

    def _enough(self, found: Answer | None) -> bool:
        """Whether what is known is not worth a lattice."""
        close = found is not None and found.width <= CLOSE
        return (close or self._narrow) and self.precision.effort != "high"

    @property
    def _narrow(self) -> bool:
        return self.precision.tried is not None and self.precision.tried.narrow

    def _unasked(self, found: Answer | None) -> bool:
        """Whether engines that take long are left alone: what is known is narrow enough, or no effort is wanted."""
        return self._narrow or self.precision.effort == "low" or (found is not None and found.width <= OPEN)

    def _asked(self, name: str, losses: Losses, width: float) -> Answer | None:
        """What one engine answers, or what is left of its answer where it was asked in vain before."""
        tried, delta = self.precision.tried, self.delta
        if tried is None or delta is None:
            return self.engines[name](losses, width)
        before, left = tried.before(name, losses, delta)
        if before:
            return left
        found = None
        try:
            found = self.engines[name](losses, width)
        finally:
            tried.note(name, losses, delta, found, width)
        return found
