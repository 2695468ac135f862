"""A closed interval of floats that provably contains a number."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.errors import InputError, described
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.shown import outward
from bursar.presented import Presented


def ordered(lower: object, upper: object) -> None:
    """Refuse ends that are not numbers, or the wrong way round."""
    if not (isinstance(lower, (int, float)) and isinstance(upper, (int, float)) and lower <= upper):
        raise InputError(f"not an interval: [{described(lower)}, {described(upper)}]", argument="lower")


@dataclass(frozen=True, repr=False)
class Interval(Presented):
    """lower ≤ the number ≤ upper; either end may be infinite. It has no ``float()``: which end is safe depends on the
    question.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        ordered(self.lower, self.upper)

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

    def __format__(self, form: str) -> str:
        """Both ends in a float's format, the lower one rounded down and the upper one up: ``f"{interval:.3f}"``."""
        return outward(self.lower, self.upper, form) or format(str(self), form)
