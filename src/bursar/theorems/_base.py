"""What a theorem is: a proved rule that answers a question about a composition with a certified bound, or abstains with
its reason.

A theorem is one file. Its docstring has, in this order: Statement, Hypotheses (each checked in code and named in its
Abstain), Source, Code/paper (symbols), Rounding (why it errs outward), Checked (what the tests compare it with).
Abstaining is an answer: it is returned, never raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeVar

from bursar.composition import Composition
from bursar.errors import ConversionRefused
from bursar.guarantees import TCDP, ZCDP, Guarantee, Tightness
from bursar.guarantees.approx import ApproxDP, composed_leak_ball
from bursar.losses.engines.answer import USUAL, Precision
from bursar.numerics.balls import Ball, ball, down, up
from bursar.numerics.interval import ordered
from bursar.numerics.real import Real
from bursar.numerics.shown import outward, shown
from bursar.presented import Presented

Kind = TypeVar("Kind", bound=Guarantee)
_INTEGRALS = ("poisson", "gaussian_mixture")  # kinds of mechanisms
_FEW = 16


class Adaptivity(Enum):
    """What may be chosen while the releases go on."""

    FIXED = "fixed parameters"
    """Queries may depend on earlier answers; the mechanisms' parameters are fixed in advance."""
    ADAPTIVE = "adaptive parameters"
    """Parameters too may depend on earlier answers: the rule is a filter."""


@dataclass(frozen=True)
class ForEpsilon:
    """Which ε holds at this δ?"""

    delta: Real
    precision: Precision = USUAL

    @cached_property
    def moot(self) -> bool:
        """Whether δ is 1, at which everything is private; every theorem asks."""
        return self.delta.low >= 1


@dataclass(frozen=True)
class ForDelta:
    """Which δ holds at this ε?"""

    epsilon: Real
    precision: Precision = USUAL


Question = ForEpsilon | ForDelta


@dataclass(frozen=True, repr=False)
class Bound(Presented):
    """A certified interval: the truth is at least ``lower`` and at most ``upper``. It has no ``float()``: which end is
    safe depends on the question.
    """

    lower: float
    upper: float
    because: str
    budget: tuple[tuple[str, float], ...] = ()
    """The named error terms behind the interval, relative to δ, where it was computed by an engine."""

    def __post_init__(self) -> None:
        ordered(self.lower, self.upper)
        ordered(0, self.lower)

    def _facts(self) -> list[tuple[str, object]]:
        return [("lower", self.lower), ("upper", self.upper), ("because", self.because)]

    def __str__(self) -> str:
        low, high = shown(self.lower, up=False, digits=10), shown(self.upper, up=True, digits=10)
        return f"[{low}, {high}], because {self.because}"

    def __format__(self, form: str) -> str:
        """Both ends in a float's format, rounded outward: ``f"{report.epsilon:.3f}"``."""
        return outward(self.lower, self.upper, form) or format(str(self), form)

    def encloses(self, width: float) -> bool:
        """Whether the ends are this close together, relative to the upper one."""
        return self.lower == self.upper or self.upper - self.lower <= width * self.upper < math.inf


@dataclass(frozen=True, repr=False)
class Abstain(Presented):
    """A theorem's refusal to answer, with its reason."""

    reason: str

    def __str__(self) -> str:
        return f"abstains: {self.reason}"


def many(composition: Composition) -> bool:
    """Whether there are so many different mechanisms that converting the promise of each takes long."""
    return len(composition.terms) > _FEW


def many_or_integrals(composition: Composition) -> bool:
    """The same, or whether some divergence takes integrals over the noise, one for each order that is looked at."""
    return many(composition) or any(term.mechanism.name in _INTEGRALS for term in composition.terms)


def never(composition: Composition) -> bool:
    """For theorems that are asked first, since they can enclose the answer: they are never left unasked."""
    del composition
    return False


@dataclass(frozen=True)
class Theorem:
    """A rule with its name, its sources (keys of references.bib) and what it allows to be adaptive."""

    id: str
    title: str
    citations: tuple[str, ...]
    adaptivity: Adaptivity
    answer: Callable[[Composition, Question], Bound | Abstain]
    dear: Callable[[Composition], bool] = many
    """Whether it takes long enough to be left unasked where the answer is already enclosed closely."""

    def ask(self, composition: Composition, question: Question) -> Bound | Abstain:
        """The theorem's answer. Nothing released costs nothing, by every theorem."""
        if not composition.terms:
            return Bound(0.0, 0.0, "nothing is released")
        if isinstance(question, ForEpsilon) and question.moot:
            return Bound(0.0, 0.0, "everything is (0, 1)-differentially private")
        return self.answer(composition, question)


def bounded(because: str, *, upper: Ball, lower: Ball | None = None, most: float = math.inf) -> Bound:
    """A bound from balls, rounded outward and clipped to [0, most]."""
    top = min(max(up(upper), 0.0), most)
    bottom = 0.0 if lower is None else min(max(down(lower), 0.0), top)
    return Bound(bottom, top, because)


def converted(total: ZCDP | TCDP, question: Question, because: str) -> Bound | Abstain:
    """What a concentrated promise of the whole composition says about the question."""
    if isinstance(question, ForEpsilon):
        epsilon = total.epsilon_at(ball(question.delta))
        if not epsilon.is_finite():
            return Abstain(f"{because}, which proves no finite ε at δ = {question.delta.text()}")
        return bounded(because, upper=epsilon)
    return bounded(because, upper=total.delta_at(ball(question.epsilon)), most=1.0)


def collected(composition: Composition, kind: type[Kind]) -> list[tuple[Kind, int]] | Abstain:
    """Each term's best promise of a kind, with its count; or why some term has none."""
    promises = []
    for mechanism, count in composition.terms:
        try:
            promises.append((mechanism.promise(kind), count))
        except ConversionRefused as refusal:
            return Abstain(str(refusal))
    return promises


def told_exactly(composition: Composition, *kinds: type[Guarantee]) -> bool:
    """Whether each mechanism attains the worst pair of such a promise, so that bounds from below hold too."""
    return all(
        any(claim.tightness is Tightness.EXACT and isinstance(claim.guarantee, kinds) for claim in mechanism.stated())
        for mechanism, _ in composition.terms
    )


def leaks_of(promises: list[tuple[ApproxDP, int]]) -> list[tuple[Real, int]]:
    """The δ's that are not 0, with their counts."""
    return [(promise.delta, count) for promise, count in promises if promise.delta.high > 0]


def rest_of_delta(delta: Real, leaks: list[tuple[Real, int]]) -> Ball:
    """δ' with 1 − (1 − δ')·Π(1 − δᵢ) = δ: what the leaks leave of δ. Negative where they exceed it."""
    if not leaks:
        return ball(delta)
    if len(leaks) == 1 and leaks[0][1] == 1:
        leak = leaks[0][0]
        # The same number read the same way: compare reading by reading, so that (ε, δ) asked at its own δ is answered.
        if (leak, leak.low, leak.high) == (delta, delta.low, delta.high):
            return ball(0)
        return (ball(delta) - ball(leak)) / (1 - ball(leak)) if leak.high < 1 else ball(delta) - ball(leak)
    leak_total = composed_leak_ball(leaks)
    return (ball(delta) - leak_total) / (1 - leak_total) if leak_total < 1 else ball(delta) - leak_total


def whole_delta(part: Ball, leaks: list[tuple[Real, int]]) -> Ball:
    """1 − (1 − δ')·Π(1 − δᵢ)."""
    if not leaks:
        return part
    leak = ball(leaks[0][0]) if len(leaks) == 1 and leaks[0][1] == 1 else composed_leak_ball(leaks)
    return leak + (1 - leak) * part


def too_leaky(leaks: list[tuple[Real, int]], delta: Real) -> str:
    """The reason given where the leaks alone exceed δ."""
    total = up(composed_leak_ball(leaks)) if leaks else 0.0
    return f"the releases leak with probability {total:.6g}, which δ = {delta.text()} does not cover"
