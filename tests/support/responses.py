"""Finite pairs outcome by outcome and the optimum of very many, at the caller's digits; and what theorems say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import mpmath
from mpmath import mpf

import bursar as b
from bursar.theorems import THEOREMS, Bound

REFERENCE = mpf(10) ** -50  # what 60 digits may be wrong by, relatively
Outcome = tuple[mpf | Fraction, mpf | Fraction]


class Pair:
    """Two distributions on finitely many outcomes: what holds of them by summing over all, in their own numbers."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self.outcomes = sorted(outcomes, key=lambda row: row[0] / row[1] if row[1] else math.inf, reverse=True)
        self.leak = sum(p for p, q in self.outcomes if not q)

    def back(self) -> Pair:
        """The other direction."""
        return Pair((q, p) for p, q in self.outcomes)

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

    def misses(self, rate: Fraction) -> Fraction:
        """The best test's false negatives (Neyman and Pearson): the likeliest outcomes first, the last one by lot."""
        missed, left = Fraction(1), rate
        for p, q in self.outcomes:
            taken = Fraction(1) if q <= left else left / q
            missed, left = missed - taken * p, left - taken * q
        return missed

    def risk(self, prior: Fraction) -> Fraction:
        """The Bayes risk: the likelier answer at every outcome."""
        return sum((min(prior * p, (1 - prior) * q) for p, q in self.outcomes), Fraction(0))


def response(epsilon: Fraction | str, leak: Fraction | str = "0") -> list[Outcome]:
    """Leaky randomized response: truth, lie, and two outcomes that say everything."""
    odds, kept = mpmath.exp(exact(epsilon)), 1 - exact(leak)
    truth, lie = kept * odds / (1 + odds), kept / (1 + odds)
    rows = [(truth, lie), (lie, truth)]
    return [*rows, (exact(leak), mpf(0)), (mpf(0), exact(leak))] if exact(leak) else rows


def columns(rng: random.Random) -> list[list[Fraction]]:
    """Two random laws on two to four outcomes, with small numbers and perhaps with zeros."""
    size, least, made = rng.randint(2, 4), rng.choice((-4, 1, 1)), []
    while len(made) < 2:
        weights = [max(rng.randint(least, 12), 0) for _ in range(size)]
        if any(weights):
            made.append([Fraction(weight, sum(weights)) for weight in weights])
    return made


def product(tables: Iterable[Sequence[Outcome]]) -> list[Outcome]:
    """Every combination of outcomes; those that say everything are one in each direction."""
    rows: list[Outcome] = [(1, 1)]
    for table in tables:
        every = [(p * r, q * s) for p, q in rows for r, s in table]
        rows = [row for row in every if all(row)]
        rows += [(sum(p for p, q in every if not q), 0), (0, sum(q for p, q in every if not p))]
    return [row for row in rows if any(row)]


def exact(number: Fraction | float | str) -> mpf:
    """A rational, perhaps as text, or a float as the binary number that it is."""
    ratio = Fraction(number)
    return mpf(ratio.numerator) / ratio.denominator


def answers(what: b.Composition | b.Mechanism, **question: object) -> dict[str, Bound]:
    """Every theorem's interval, or those of the named ones, and their meet."""
    report = b.account(what, **{"theorems": [theorem.id for theorem in THEOREMS], **question})
    return {row.id: row.bound for row in report.rows if row.bound is not None} | {"account": report.bound}


def encloses(lower: float, truth: mpf | Fraction, upper: float) -> bool:
    """Whether lower ≤ truth ≤ upper, up to what the reference itself may be wrong by."""
    below, above = (mpmath.inf if math.isinf(x) else exact(x) for x in (lower, upper))
    return bool(below <= truth * (1 + REFERENCE) and truth * (1 - REFERENCE) <= above)


def optimum(k: int, epsilon: Fraction | str) -> Callable[[mpf], mpf]:
    """δ(x) = Σ P(ℓ lies)·(1 − e^{x−(k−2ℓ)ε})₊, summed term by term downwards from the last that counts."""
    e, ratio, factor = exact(epsilon), mpmath.exp(exact(epsilon)), mpmath.exp(-2 * exact(epsilon))

    def delta(x: mpf) -> mpf:
        last = min(int(mpmath.floor((k - x / e) / 2)), k)
        term = mpmath.binomial(k, last) * (ratio / (1 + ratio)) ** (k - last) / (1 + ratio) ** last
        fall, total = mpmath.exp(x - (k - 2 * last) * e), mpf(0)
        for lies in range(last, -1, -1):
            step = term * (1 - fall)
            total += step
            if 0 < step < total * mpf(10) ** -40 and lies < k / (1 + ratio):
                break
            term, fall = term * ratio * lies / (k - lies + 1), fall * factor
        return total

    return delta
