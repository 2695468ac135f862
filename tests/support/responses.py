"""Leaky randomized responses, all outcomes one by one, and the optimum of very many, at the caller's digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import mpmath
from mpmath import mpf

REFERENCE = mpf(10) ** -50  # what 60 digits may be wrong by, relatively
Outcome = tuple[mpf, mpf]


class Pair:
    """Two distributions on finitely many outcomes: δ(ε) and ε(δ) by summing over all of them."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self.outcomes = sorted(outcomes, key=lambda row: row[0] / row[1] if row[1] else mpmath.inf, reverse=True)
        self.leak = mpmath.fsum(p for p, q in self.outcomes if not q)

    def delta(self, epsilon: mpf) -> mpf:
        """Σ (P − e^ε Q)₊."""
        odds, zero = mpmath.exp(epsilon), 1 + REFERENCE
        return mpmath.fsum(p - odds * q for p, q in self.outcomes if p > odds * q * zero)

    def epsilon(self, delta: mpf) -> mpf:
        """The least ε ≥ 0 with δ(ε) ≤ δ: every event {loss ≥ l} asks for ln((P − δ)/Q), and the worst one decides."""
        if self.leak > delta:
            return mpmath.inf
        p_sum, q_sum, best = mpf(0), mpf(0), mpf(1)
        for p, q in self.outcomes:
            p_sum, q_sum = p_sum + p, q_sum + q
            if q_sum:
                best = max(best, (p_sum - delta) / q_sum)
        return mpmath.log(best)


def response(epsilon: Fraction, leak: Fraction = Fraction(0)) -> list[Outcome]:
    """Leaky randomized response: truth, lie, and two outcomes that say everything."""
    odds, kept = mpmath.exp(exact(epsilon)), 1 - exact(leak)
    truth, lie = kept * odds / (1 + odds), kept / (1 + odds)
    rows = [(truth, lie), (lie, truth)]
    return [*rows, (exact(leak), mpf(0)), (mpf(0), exact(leak))] if leak else rows


def product(tables: Iterable[Sequence[Outcome]]) -> list[Outcome]:
    """Every combination of outcomes."""
    rows = [(mpf(1), mpf(1))]
    for table in tables:
        rows = [(p * r, q * s) for p, q in rows for r, s in table if p * r or q * s]
    return rows


def exact(number: Fraction | float | str) -> mpf:
    """A rational, perhaps as text, or a float as the binary number that it is."""
    ratio = Fraction(number)
    return mpf(ratio.numerator) / ratio.denominator


def encloses(lower: float, truth: mpf, upper: float) -> bool:
    """Whether lower ≤ truth ≤ upper, up to what the reference itself may be wrong by."""
    return bool(exact_or_inf(lower) <= truth * (1 + REFERENCE) and truth * (1 - REFERENCE) <= exact_or_inf(upper))


def exact_or_inf(x: float) -> mpf:
    """A float, perhaps infinite."""
    return mpmath.inf if math.isinf(x) else exact(x)


def optimum(k: int, epsilon: Fraction) -> Callable[[mpf], mpf]:
    """δ(x) = Σ P(ℓ lies)·(1 − e^{x−(k−2ℓ)ε})₊, summed term by term downwards from the last that counts."""
    e = exact(epsilon)
    log_truth, log_lie = -mpmath.log1p(mpmath.exp(-e)), -mpmath.log1p(mpmath.exp(e))

    def delta(x: mpf) -> mpf:
        last = min(int(mpmath.floor((k - x / e) / 2)), k)
        if last < 0:
            return mpf(0)
        choose = mpmath.loggamma(k + 1) - mpmath.loggamma(last + 1) - mpmath.loggamma(k - last + 1)
        term = mpmath.exp(choose + (k - last) * log_truth + last * log_lie)
        fall, ratio, factor, total = mpmath.exp(x - (k - 2 * last) * e), mpmath.exp(e), mpmath.exp(-2 * e), mpf(0)
        for lies in range(last, -1, -1):
            step = term * (1 - fall)
            total += step
            if 0 < step < total * mpf(10) ** -40 and lies < k / (1 + ratio):
                break
            term *= ratio * lies / (k - lies + 1)
            fall *= factor
        return total

    return delta
