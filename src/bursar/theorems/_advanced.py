"""What the closed-form strong composition theorems share: sums over the ε's, and turning a tail bound into an answer.

Each of them says: with probability 1 − δ' the loss stays below mean + √(2S·ln(1/δ')) (or a variant), and the leaks
are set aside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from bursar.composition import Composition
from bursar.guarantees import ApproxDP
from bursar.numerics.balls import Ball, ball, minimum
from bursar.numerics.real import Real
from bursar.theorems._base import (
    Abstain,
    Bound,
    ForEpsilon,
    Question,
    bounded,
    collected,
    leaks_of,
    rest_of_delta,
    too_leaky,
    whole_delta,
)


@dataclass(frozen=True)
class Sums:
    """Σ over the releases of the mean that a theorem allows each, and S = Σεᵢ²."""

    mean: Ball
    squares: Ball
    total: Ball


def sums(promises: list[tuple[ApproxDP, int]], mean: Callable[[Ball], Ball]) -> Sums:
    """The sums, in balls."""
    means, squares, total = arb(0), arb(0), arb(0)
    for promise, count in promises:
        epsilon = ball(promise.epsilon)
        means += count * mean(epsilon)
        squares += count * epsilon * epsilon
        total += count * epsilon
    return Sums(means, squares, total)


def gaussian_epsilon(s: Sums, delta: Ball) -> Ball:
    """The ε of the tail bound: mean + √(2S·ln(1/δ'))."""
    return s.mean + (2 * s.squares * -delta.log()).sqrt()


def gaussian_delta(s: Sums, epsilon: Ball) -> Ball:
    """Its inverse: e^{−(ε − mean)²/(2S)} for ε above the mean, else 1."""
    if not epsilon > s.mean or not s.squares > 0:
        return arb(0) if s.squares <= 0 and epsilon >= s.mean else arb(1)
    excess = epsilon - s.mean
    return (-(excess * excess) / (2 * s.squares)).exp()


def one_parameter(promises: list[tuple[ApproxDP, int]]) -> Abstain | None:
    """The homogeneous theorems' hypothesis: all promises are one and the same (ε, δ)."""
    if len({(promise.epsilon, promise.delta) for promise, _ in promises}) > 1:
        return Abstain("the releases promise different (ε, δ); kov15 is the form for those")
    return None


Check = Callable[[list[tuple[ApproxDP, int]]], Abstain | None]


def answer_by(
    composition: Composition,
    question: Question,
    *,
    mean: Callable[[Ball], Ball],
    epsilon: Callable[[Sums, Ball], Ball] = gaussian_epsilon,
    delta: Callable[[Sums, Ball], Ball] = gaussian_delta,
    check: Check = lambda promises: None,
    because: Callable[[Sums], str],
) -> Bound | Abstain:
    """Ask a tail bound: collect the promises, set the leaks aside, evaluate."""
    promises = collected(composition, ApproxDP)
    if isinstance(promises, Abstain):
        return promises
    if (refusal := check(promises)) is not None:
        return refusal
    leaks = leaks_of(promises)
    s = sums(promises, mean)
    if isinstance(question, ForEpsilon):
        return _epsilon(question.delta, leaks, s, epsilon, because(s))
    part = minimum(delta(s, ball(question.epsilon)), arb(1))
    return bounded(because(s), upper=whole_delta(part, leaks), most=1.0)


def _epsilon(
    delta: Real, leaks: list[tuple[Real, int]], s: Sums, epsilon: Callable[[Sums, Ball], Ball], because: str
) -> Bound | Abstain:
    rest = rest_of_delta(delta, leaks)
    if not rest > 0:
        return Abstain(too_leaky(leaks, delta) if leaks else "it needs δ > 0")
    # ln(1/δ') is 0 from δ' = 1 on
    return bounded(because, upper=epsilon(s, minimum(rest, arb(1))))
