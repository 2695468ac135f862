"""Profiles of listed losses without going through the whole list: what lies beyond some marks is summed once.

For marks x < y, and all places l ≥ y with masses m, their sum M and δ(y) = Σ m·(1 − e^{y−l}),

    Σ m·(1 − e^{x−l}) = M·(1 − e^{x−y}) + e^{x−y}·δ(y).

Nothing in it is negative, so nothing cancels: each of the sums below is off by a small share of itself. The distance
d = y − x is rounded too, which moves e^{−d} by a share of d·e^{−d} ≤ 1 − e^{−d}, that is, by a share of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from flint import arb

from bursar.numerics.arrays import Array, Known
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_BLOCK = 128  # places from one mark to the next
_TINY = 1e-300  # more than all that underflows


@dataclass(frozen=True, eq=False)
class Tails:
    """The places in rising order, and of each mark what lies at it or beyond."""

    losses: Array
    masses: Array
    beyond: list[float]
    """The sum of the masses from each mark on, and 0 at the end."""
    heights: list[float]
    """δ at each mark, and 0 at the end."""
    share: float
    """Of every sum: how far it may be off."""
    slip: float
    """How far a place may lie from where it is said to be."""

    @classmethod
    def of(cls, places: Known, log_masses: Known) -> Self:
        """The sums of a list, once for all."""
        order = np.argsort(places[0], kind="stable")
        losses, masses = places[0][order], np.exp(log_masses[0][order])
        starts = np.arange(0, len(losses), _BLOCK)
        apart = np.repeat(losses[starts], _BLOCK)[: len(losses)] - losses
        # not by BLAS: its threads wait for each other busily, and its last digit depends on how many there are
        within = np.add.reduceat(masses, starts).tolist()
        inside = np.add.reduceat(masses * -np.expm1(apart), starts).tolist()
        gaps = np.append(-np.diff(losses[starts]), 0.0)
        lifts, decays, beyond, heights = (-np.expm1(gaps)).tolist(), np.exp(gaps).tolist(), [0.0], [0.0]
        for k in reversed(range(len(starts))):
            heights.append(inside[k] + (beyond[-1] * lifts[k] + decays[k] * heights[-1]))
            beyond.append(within[k] + beyond[-1])
        rounding = UNIT * (4 * ULPS + 2 * _BLOCK + 32 + len(starts) * (2 * ULPS + 8))
        share = float(np.expm1(log_masses[1]).max(initial=0.0)) + rounding
        slip = float(places[1].max(initial=0.0))
        return cls(losses, masses, beyond[::-1], heights[::-1], share, slip)

    def profile(self, low: float, high: float) -> Ball:
        """Σ mass·(1 − e^{ε−l})₊ for an ε between the two."""
        middle = low + (high - low) / 2
        # δ falls by no more than ε rises, as a share of the mass that is not certainly below
        unsure = self.slip + (high - low) + 4 * UNIT * abs(low)
        first, above = np.searchsorted(self.losses, (middle - 3 * unsure, middle)).tolist()
        mark = -(-above // _BLOCK)
        near = slice(first, mark * _BLOCK)
        masses, apart = self.masses[near], np.minimum(middle - self.losses[near], 0.0)
        height, seen = float(np.sum(masses * -np.expm1(apart))), float(np.sum(masses)) + self.beyond[mark]
        if mark * _BLOCK < len(self.losses):
            gap = middle - self.losses[mark * _BLOCK]
            height += float(self.beyond[mark] * -np.expm1(gap) + np.exp(gap) * self.heights[mark])
        return arb(height, SAFETY * (self.share * height + (1 + self.share) * unsure * seen) + _TINY)
