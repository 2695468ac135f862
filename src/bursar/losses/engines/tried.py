"""What engines were asked in vain while one question was answered: parts of it come up again and again, at δ's that are
as good as the same, and an engine that stumbles over some losses, or stays wide, does so each time.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from bursar.losses.engines.answer import Answer, Losses
from bursar.numerics.balls import Ball

_WIDE = 1e-3  # an answer wider than this is not worth the same minutes again
_PATIENCE = {"bands": 2, "lattice": 2, "largest loss": 16, "rare losses": 8}
"""Engines that take long where they stay wide, and how often they are asked in vain for one question."""
Key = tuple[object, ...]


class _Before(NamedTuple):
    losses: Losses
    """Kept, so that no other loss gets the number of one that is gone."""
    delta: Ball
    answer: Answer | None


class Tried:
    """Which engines were asked about which losses at about which δ, where nothing came of it."""

    narrow = False
    """Whether the whole question has an answer already that is not worth minutes."""

    def __init__(self) -> None:
        self._known: dict[Key, _Before] = {}
        self._vain = dict.fromkeys(_PATIENCE, 0)

    def before(self, name: str, losses: Losses, delta: Ball) -> tuple[bool, Answer | None]:
        """Whether it was asked in vain before, and what that still proves: ε falls as δ rises, so a lower end holds for
        every smaller δ and an upper end for every larger one.
        """
        known = self._known.get(_key(name, losses, delta))
        if known is None or known.answer is None:
            return known is not None or self._vain.get(name, 0) >= _PATIENCE.get(name, 1), None
        same = known.delta.contains(delta)
        lower = known.answer.lower if same or delta <= known.delta.lower() else 0.0
        upper = known.answer.upper if same or delta >= known.delta.upper() else math.inf
        proved = lower > 0 or upper < math.inf
        return True, replace(known.answer, lower=lower, upper=upper) if proved else None

    def note(self, name: str, losses: Losses, delta: Ball, answer: Answer | None, width: float) -> None:
        """Remember what came of asking for this width, where that was nothing or not much."""
        if answer is None or (name in _PATIENCE and answer.width > max(_WIDE, width)):
            self._known[_key(name, losses, delta)] = _Before(losses, delta, answer)
            if name in _PATIENCE:
                self._vain[name] += 1


def _key(name: str, losses: Losses, delta: Ball) -> Key:
    near = round(float(delta.log()), 1) if delta > 0 else -math.inf
    return name, near, *((id(loss), count) for loss, count in losses)
