"""The staircase mechanism for counts: noise whose density falls in steps, by e^ε once in every unit.

On [i, i + step) the density is a·e^{−iε}, on [i + step, i + 1) it is a·e^{−(i+1)ε}, and it is symmetric around 0. Moved
by one it differs by e^ε, by e^{−ε} or not at all, so the privacy loss has three values. Of all ε-DP noise this has the
least variance, for the right step (Geng and Viswanath 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

import bursar as b
from bursar.guarantees import Claim, Tightness
from bursar.losses import Directions, TableLoss, symmetric
from bursar.losses.laws.table_rows import Row
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import noise, real


@dataclass(frozen=True, init=False, repr=False)
class Staircase(b.Mechanism):
    """Staircase noise on a count; ``step``, at most ½, is the share of each unit before the density falls."""

    epsilon: Real
    step: Real
    relation: str = "add_remove"
    name = "staircase"

    def __init__(self, epsilon: Number, *, step: Number = "1/3", relation: str = "add_remove") -> None:
        self._set(
            epsilon=noise(epsilon=epsilon), step=real(step=step, above=0, at_most=Fraction(1, 2)), relation=relation
        )

    def claims(self) -> tuple[Claim, ...]:
        """Exactly as much as its loss says: ε-DP."""
        return (Claim(b.PureDP(self.epsilon), "Geng and Viswanath 2014", Tightness.TIGHT),)

    def losses(self) -> Directions:
        """+ε left of 0 and on the first step, −ε where the mirror image says so, 0 between."""
        epsilon, step = ball(self.epsilon), ball(self.step)
        fall = (-epsilon).exp()
        height = (1 - fall) / (2 * (step + fall * (1 - step)))
        plus, level = arb(1) / 2 + height * step, height * fall * (1 - 2 * step)
        rows = [Row(plus, fall * plus, epsilon), Row(fall * plus, plus, -epsilon)]
        if not (self.step.low == self.step.high and 2 * self.step.low == 1):
            rows.append(Row(level, level, arb(0)))
        return symmetric(TableLoss(tuple(rows)))
