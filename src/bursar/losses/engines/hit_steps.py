"""δ of a few copies of a loss on equal steps, exactly: all sums of its steps, as the powers of a polynomial.

With P_j the chance that n copies lie j steps below n times the largest loss, and l_j what that costs,

    δ_n(x) = Σ_{l_j > x} P_j·(1 − e^{x−l_j}) = A_m − e^{x−l_m}·B_m,

m the last place above x, A_m = Σ_{j≤m} P_j and B_m = P_m + e^{−step}·B_{m−1} (proofs/hits.md §5).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb, arb_poly

from bursar.numerics.balls import WORKING_BITS, Ball, hull, positive_part, working

_MOST = 500  # places of all copies together
_CLOSE = 1e-6  # of a step: more than floats are off by
_DEPTH = 800.0  # in logarithms: chances smaller than this are nothing beside any δ that is asked about
STEP_BITS = WORKING_BITS + math.ceil(1.5 * _DEPTH)
"""Chances of all sizes stand side by side, and are known relative to the largest."""


class Steps(NamedTuple):
    """The chances of losses on equal steps, from the largest one down, and of all that is not listed."""

    top: Ball
    step: Ball
    chances: list[Ball]
    lost: Ball


class Copies(NamedTuple):
    """So many copies: their largest loss, the step, A and B, and the chance that something is not listed."""

    top: Ball
    step: Ball
    above: list[Ball]
    weighed: list[Ball]
    lost: Ball

    def profile(self, x: Ball) -> Ball:
        """δ(x), which falls: between its values at the ends of the ball."""
        low, high = self._at(arb(x.upper())), self._at(arb(x.lower()))
        return hull(positive_part(low.lower()), (high + self.lost).upper().min(arb(1)))

    def _at(self, x: Ball) -> Ball:
        apart = (self.top - x) / self.step
        if apart <= 0:  # at the largest loss itself nothing is left
            return arb(0)
        # whether a place lies just above x or just below it floats may not tell: one of the two is right
        near = float(apart)
        lasts = {min(math.floor(near + side * _CLOSE), len(self.above) - 1) for side in (-1, 1)}
        return hull(*(self._down_to(last, x) for last in lasts))

    def _down_to(self, last: int, x: Ball) -> Ball:
        if last < 0:
            return arb(0)
        return self.above[last] - (x - self.top + last * self.step).exp() * self.weighed[last]


def copies_of(steps: Steps, count: int) -> Copies | None:
    """All copies together; None where they have too many places."""
    if (len(steps.chances) - 1) * count > _MOST:
        return None
    with working(STEP_BITS):
        chances = (arb_poly(steps.chances) ** count).coeffs()
    shrink, total, weighed = (-steps.step).exp(), arb(0), arb(0)
    above, sums = [], []
    for chance in chances:
        part = positive_part(chance)
        total, weighed = total + part, part + shrink * weighed
        above.append(total)
        sums.append(weighed)
    return Copies(count * steps.top, steps.step, above, sums, (count * steps.lost).upper())
