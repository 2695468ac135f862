"""Tails of the discrete Gaussian, P(Y ≥ m) ∝ Σ_{y ≥ m} e^{−y²/(2s)}, in balls."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb, ctx

from bursar.errors import LossUnknown
from bursar.numerics.balls import Ball, hull
from bursar.numerics.normal import cdf

MOST_TERMS = 20_000
FARTHEST = 10_000  # outputs whose tails are listed together: with more, sums are long
_SMOOTH = 1_000_000  # of σ²: the same
_STRETCH = 512  # outputs far away whose tails are listed together
_SLOW = 3  # of σ² over an output: from there on terms fall quickly


def far_tail(s: Ball, norm: Ball, m: int) -> Ball:
    """P(Y ≥ m) from m on, term by term: far away they fall quickly."""
    lead, ratio = (-(arb(m) ** 2) / (2 * s)).exp(), (-arb(2 * m + 1) / (2 * s)).exp()
    total, term, shrink = arb(1), arb(1), (-1 / s).exp()
    for _ in range(MOST_TERMS):
        term *= ratio
        ratio *= shrink
        total += term
        if ratio < 1 and term <= total * arb(2) ** -140 * (1 - ratio):
            return lead * (total + hull(arb(0), term * ratio / (1 - ratio))) / norm
    raise _too_many(s)


def chernoff_tail(s: Ball, m: Ball) -> Ball:
    """A bound of P(Y ≥ m) for m ≥ 0: E[e^{tY}] ≤ e^{t²σ²/2}, since ϑ is largest at 0."""
    return arb((-m * m / (2 * s)).exp().upper()).min(arb(1))


class FarTails:
    """Tails far away, by stretches: profiles at many places ask for many that lie side by side."""

    def __init__(self, s: Ball, norm: Callable[[], Ball]) -> None:
        self.s, self.norm = s, norm
        self._known: dict[tuple[int, int], list[Ball]] = {}

    def at(self, m: int) -> Ball:
        """P(Y ≥ m), as precise as is asked now."""
        key = m // _STRETCH, ctx.prec
        if key not in self._known:
            self._known[key] = far_tails(self.s, self.norm(), key[0] * _STRETCH, _STRETCH)
        return self._known[key][m % _STRETCH]


def far_tails(s: Ball, norm: Ball, first: int, size: int) -> list[Ball]:
    """P(Y ≥ m) for so many m from the first on: what lies behind all of them is summed once."""
    term, ratio = (-(arb(first) ** 2) / (2 * s)).exp() / norm, (-arb(2 * first + 1) / (2 * s)).exp()
    shrink, terms = (-1 / s).exp(), []
    for _ in range(size):
        terms.append(term)
        term *= ratio
        ratio *= shrink
    total, tails = far_tail(s, norm, first + size), []
    for term in reversed(terms):
        total += term
        tails.append(total)
    return tails[::-1]


def summed_tails(s: Ball, norm: Ball, most: int) -> list[Ball]:
    """All tails up to m, added up from so far away that the geometric remainder is negligible even beside the last
    one.
    """
    most = max(most, math.ceil(8 * float(s) ** 0.5))
    last = math.ceil(math.sqrt(float(most) ** 2 + 200 * float(s))) + 2  # e^{−100} < 2^{−140} times the term at m
    if last > MOST_TERMS:
        raise _too_many(s)
    term, ratio, shrink = arb(1), (-1 / (2 * s)).exp(), (-1 / s).exp()
    terms = []
    for _ in range(last + 1):
        terms.append(term)
        term *= ratio
        ratio *= shrink
    # what is left is at most a geometric series with the current ratio
    total = hull(arb(0), term / (1 - ratio))
    tails = []
    for term in reversed(terms):
        total += term
        tails.append(total / norm)
    return tails[::-1][: most + 1]


def near_tail(s: Ball, norm: Ball, m: int) -> Ball | None:
    """P(Y ≥ m) between integrals, where sums take many terms and integrals say nearly as much; None elsewhere."""
    return smooth_tail(s, norm, m) if s > _SMOOTH or FARTHEST < abs(m) < float(s) / _SLOW else None


def smooth_tail(s: Ball, norm: Ball, m: int) -> Ball:
    """P(Y ≥ m) between integrals of f(y) = e^{−y²/(2s)}: f falls, so Σ_{y ≥ m} f(y) lies between ∫_m^∞ f and that with
    f(m); beyond √s it is also convex, and a trapezoid lies above it, a tangent below.
    """
    if m <= 0:
        return 1 - smooth_tail(s, norm, 1 - m)

    def beyond(y: Ball) -> Ball:
        return (2 * arb.pi() * s).sqrt() * cdf(-y / s.sqrt())

    low, first = beyond(arb(m)), (-(arb(m) ** 2) / (2 * s)).exp()
    high = low + first
    if arb(m) - 0.5 > s.sqrt():
        low, high = low + first / 2, beyond(arb(m) - 0.5)
    return hull(low / norm, high / norm)


def _too_many(s: Ball) -> LossUnknown:
    return LossUnknown(f"a discrete Gaussian with σ² = {float(s):g} needs too many terms for its exact profile")
