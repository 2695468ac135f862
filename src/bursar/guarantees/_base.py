"""What a promise is: one statement of differential privacy, in one language, with exact numbers.

Every promise says what it means as (ε, δ): `delta_at` and `epsilon_at` return balls whose upper ends are proved.
Composing, taking the worst of several and passing to groups stay inside one language; `bursar.guarantees.convert`
goes between languages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Self

from bursar.errors import ConversionRefused
from bursar.numerics.balls import Ball, finite, up_fraction
from bursar.numerics.real import Real
from bursar.presented import Presented
from bursar.written import Written

Counted = Sequence[tuple[Any, int]]


class Guarantee(Written, ABC):
    """One promise of privacy."""

    def __str__(self) -> str:
        try:
            return self.text()
        except ConversionRefused:  # a function has no text form, but a name
            return repr(self)

    @abstractmethod
    def delta_at(self, epsilon: Ball) -> Ball:
        """The δ this promise proves at ε: everything up to the ball's upper end is certain."""

    @abstractmethod
    def epsilon_at(self, delta: Ball) -> Ball:
        """The ε ≥ 0 this promise proves at δ; infinite where it proves none."""

    @classmethod
    @abstractmethod
    def compose(cls, promises: Counted) -> Self:
        """The promise of running all of these, each as often as counted, queries chosen adaptively."""

    @classmethod
    @abstractmethod
    def worst(cls, promises: Sequence[Any]) -> Self:
        """A promise that each of these meets."""

    @abstractmethod
    def group(self, size: int) -> Guarantee:
        """The promise for groups of this many records."""


class Tightness(Enum):
    """How much of the truth a claim tells."""

    EXACT = "exact"
    """The worst pair of outputs that the promise allows is attained: the promise tells everything."""
    TIGHT = "tight"
    """No smaller number is true, though the mechanism may cost less under composition."""
    BOUND = "bound"
    """True; perhaps not the smallest."""


@dataclass(frozen=True, repr=False)
class Claim(Presented):
    """A promise that a mechanism keeps, where that is proved, and how tight it is."""

    guarantee: Guarantee
    citation: str
    tightness: Tightness = Tightness.BOUND

    def _facts(self) -> list[tuple[str, object]]:
        return [("", self.guarantee), ("citation", self.citation), ("tightness", self.tightness.value)]

    def __str__(self) -> str:
        return f"{self.guarantee}, {self.tightness.value} [{self.citation}]"


def rounded_up(value: Ball) -> Real:
    """A derived number, rounded up to a short exact one."""
    if not finite(value):
        raise ArithmeticError("the derived number is not finite")
    return Real(max(up_fraction(value), Fraction(0)))


def total(numbers: Sequence[tuple[Real, int]]) -> Real:
    """Σ count·number with all readings, exactly."""
    return Real(
        sum((count * Fraction(number) for number, count in numbers), Fraction(0)),
        sum((count * number.low for number, count in numbers), Fraction(0)),
        sum((count * number.high for number, count in numbers), Fraction(0)),
    )


def largest(numbers: Sequence[Real]) -> Real:
    """The largest number, covering every reading of each."""
    return Real(max(map(Fraction, numbers)), max(n.low for n in numbers), max(n.high for n in numbers))
