"""A closed interval of floats that provably contains a number."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bursar.numerics.balls import Ball, down, up


@dataclass(frozen=True)
class Interval:
    """lower ≤ the number ≤ upper; either end may be infinite. It has no ``float()``: which end is safe depends on the
    question.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            raise ValueError(f"not an interval: [{self.lower}, {self.upper}]")

    @classmethod
    def of(cls, ball: Ball) -> Interval:
        """The ball, rounded outward."""
        return cls(down(ball), up(ball))

    @property
    def width(self) -> float:
        """How far apart the ends are."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def __str__(self) -> str:
        return f"[{self.lower!r}, {self.upper!r}]"
