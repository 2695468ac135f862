"""Laws whose profiles are too slow for every point of a grid: two others stand for each, one on either side.

Both sides hold in any composition (see `Loss.bracket`), so the lower end of the one and the upper end of the other are
those of an answer.
"""

from __future__ import annotations

from dataclasses import replace

from bursar.losses._base import Loss
from bursar.losses.engines import envelope
from bursar.losses.engines.answer import Answer, Losses
from bursar.numerics.balls import Ball


def around(losses: Losses) -> tuple[Losses, Losses] | None:
    """The same losses with laws that cost no more, and with laws that cost no less; None where none needs it."""
    ways: list[tuple[Loss, Loss] | None] = [loss.bracket() for loss, _ in losses]
    if all(way is None for way in ways):
        return None
    below, above = [], []
    for (loss, count), way in zip(losses, ways, strict=True):
        low, high = way or (loss, loss)
        below.append((low, count))
        above.append((high, count))
    return below, above


def met(below: Answer, above: Answer) -> Answer:
    """The lower end of the one and the upper end of the other."""
    lower = min(below.lower, above.upper)
    cells = 1 - lower / above.upper if above.upper > 0 else 0.0
    return replace(above, lower=lower, errors=(*above.errors, ("cells", cells)))


def between(losses: Losses, delta: Ball, width: float, most: int) -> Answer | None:
    """ε between those of laws that cost no more and of laws that cost no less, by the envelope engine; None where there
    are no such laws.
    """
    pair = around(losses)
    if pair is None:
        return None
    below, above = (envelope.epsilon_at(some, delta, width / 2, most) for some in pair)
    return met(below, above)
