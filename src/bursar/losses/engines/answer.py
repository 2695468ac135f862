"""What an engine answers about one direction of a composition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flint import arb

from bursar.errors import ContradictionError
from bursar.losses._base import Loss
from bursar.numerics.balls import Ball, hull

if TYPE_CHECKING:
    from bursar.losses.engines.tried import Tried

Losses = Sequence[tuple[Loss, int]]
"""The losses of one direction with their counts."""
USUAL_WIDTH = 1e-6
"""The relative width that is asked where none is given."""
_SAME = 1e-8  # of δ: closer than this, two δ's are asked about together


class NoEngine(Exception):
    """No engine serves this composition."""


class NoEnvelope(Exception):
    """The engine cannot serve this composition within its limits."""


class TooMany(NoEnvelope):
    """More moments or places than the engine takes on."""


@dataclass(frozen=True)
class Answer:
    """A certified interval, the named errors inside it relative to δ, and which engine took how many nodes at which
    tilt.
    """

    lower: float
    upper: float
    errors: tuple[tuple[str, float], ...]
    engine: str
    nodes: int
    tilt: float

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper:  # NaN too: no such interval can be trusted
            raise ArithmeticError(f"the ends {self.lower} and {self.upper} contradict each other")

    @property
    def width(self) -> float:
        """The width of the interval, relative to its upper end; infinite where there is no upper end."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / self.upper if self.upper < math.inf else math.inf


def both(first: Answer, second: Answer) -> Answer:
    """Two proved intervals: the narrower one's record with the ends of both."""
    best = min(first, second, key=lambda answer: answer.width)
    lower, upper = max(first.lower, second.lower), min(first.upper, second.upper)
    if lower > upper:
        raise ContradictionError(f"the engines exclude each other: {first} and {second}")
    return replace(best, lower=lower, upper=upper)


def asked_between(solve: Callable[[Ball], Answer], least: Ball, most: Ball, width: float) -> Answer:
    """The upper end at the smaller of two δ's and the lower end at the larger one: asked once, of a ball that holds
    both, where they are all but the same and that is narrow enough.
    """
    if least > (1 - _SAME) * most:
        found = solve(least.union(most))
        if found.width <= width:
            return found
    above = solve(least)
    return between(above, solve(most).lower, above.upper)


def between(found: Answer, lower: float, upper: float) -> Answer:
    """An answer's record with ends that were proved apart: if they exclude each other, one proof is wrong."""
    if lower > upper:
        raise ContradictionError(f"a lower end of {lower} and an upper end of {upper} exclude each other: {found}")
    return replace(found, lower=lower, upper=upper)


def worst(answers: Sequence[Answer]) -> Answer:
    """The larger of the lower and of the upper ends; the record of the one that decides the upper."""
    if len(answers) == 1:
        return answers[0]
    found = max(answers, key=lambda answer: answer.upper)
    return replace(found, lower=max(answer.lower for answer in answers))


def leak_of(losses: Losses) -> Ball:
    """The chance that some release has an infinite loss: 1 − Π(1 − P(L = ∞))^count."""
    kept, certain = arb(0), False
    for loss, count in losses:
        mass = loss.infinite_mass()
        if not mass < 1:  # it may be 1, and a ball around ln 0 says nothing: the least that it may be still counts
            certain, mass = True, arb(mass.lower())
        if mass >= 1:
            return arb(1)
        if not mass <= 0:
            kept += count * (-mass).log1p()
    leak = -kept.expm1() if not kept >= 0 else arb(0)
    return hull(leak, arb(1)) if certain else leak


@dataclass(frozen=True)
class Precision:
    """How narrow an answer is wanted, how much work it may take, and by which engine where one is forced."""

    width: float | None = None
    """Relative to the answer; None asks for a millionth."""
    effort: str = "normal"
    engine: str | None = None
    tried: Tried | None = field(default=None, compare=False, repr=False)
    """What engines were asked in vain while one question was answered."""


USUAL = Precision()
EFFORTS = {"low": 1 << 17, "normal": 1 << 20, "high": 1 << 23}
"""The most grid points that an effort allows."""
