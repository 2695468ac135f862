"""Moments of the likelihood ratio R of a mixture of Gaussians without the record: integrals in balls, finite sums at
whole orders, and floats for searching.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from flint import arb

from bursar.losses.engines.contour.mixture_odds import MixtureOdds
from bursar.losses.laws.mixture_place import Mixture
from bursar.losses.laws.normal_integral import normal_integral, power
from bursar.numerics.balls import Ball, ComplexBall, ball, positive_part

_MOST_TERMS = 400
_NODES = 4001


def power_integral(mixture: Mixture, order: ComplexBall, moment: int = 0, centre: Ball | int = 0) -> ComplexBall:
    """∫ φ·R^order·(ln R − centre)^moment.

    Far out (proofs/mixtures.md §2) −v/(2σ²) − m|x|/σ² ≤ ln R ≤ c|x|/σ², c the largest shift, m and v the means of the
    shifts and of their squares; and ln R ≥ ln p₀.
    """

    def h(x: ComplexBall, analytic: bool) -> ComplexBall:
        log = mixture.odds(x).log(analytic=analytic)
        return (order * log).exp() * power(log - centre, moment)

    square, pairs = mixture.sigma * mixture.sigma, list(zip(mixture.shifts, mixture.weights, strict=True))
    mean, second = (sum((p * c**k for c, p in pairs), arb(0)) for k in (1, 2))
    up, down = positive_part(order.real), positive_part(-order.real)
    low, slope = (-mixture.none.log(), arb(0)) if mixture.none > 0 else (second / (2 * square), mean / square)
    steep, growth = (down * low).exp(), up * mixture.shifts[-1] / square + down * slope
    if moment:
        # |ln R − centre| ≤ c₀ + c|x|/σ², whose m-th power is at most m!·e^{c₀ + c|x|/σ²}
        steep = steep * math.factorial(moment) * (low + abs(ball(centre))).exp()
        growth = growth + mixture.shifts[-1] / square
    return normal_integral(h, mixture.sigma, flat=arb(0), steep=steep, growth=growth)


def power_sum(mixture: Mixture, order: ComplexBall) -> Ball | None:
    """E[R^n] for a small whole n > 0, as a sum over the multisets of n shifts; None for other orders.

    With n_i shifts c_i the product of the terms has the mean Π p_i^{n_i}·e^{((Σ n_i·c_i)² − Σ n_i·c_i²)/(2σ²)}.
    """
    whole = order.real.unique_fmpz() if order.imag == 0 and order.real.is_exact() else None
    if whole is None or not 0 < int(whole) <= _MOST_TERMS:
        return None
    n, kinds = int(whole), len(mixture.shifts)
    if math.comb(n + kinds - 1, n) > _MOST_TERMS:
        return None
    half, total = 1 / (2 * mixture.sigma * mixture.sigma), arb(0)
    for counts in _multisets(n, kinds):
        ways = math.factorial(n)
        weight, shift, square = arb(1), arb(0), arb(0)
        for k, c, p in zip(counts, mixture.shifts, mixture.weights, strict=True):
            ways //= math.factorial(k)
            weight, shift, square = weight * p**k, shift + k * c, square + k * c * c
        total += ways * weight * ((shift * shift - square) * half).exp()
    return total


def _multisets(n: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways to write n as an ordered sum of so many whole numbers ≥ 0."""
    if kinds == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in _multisets(n - first, kinds - 1):
            yield first, *rest


def rough_cumulant(odds: MixtureOdds, order: float) -> float:
    """ln ∫ φ·R^order in floats: a trapezoid sum over a window that holds the bulk."""
    s = odds.sigma
    far = min(max(order, 0.0), 1e6) + 10 * s
    near = -10 * s - min(max(-order, 0.0), 1e6) * (1.0 if odds.none == 0 else 0.0)
    if odds.none > 0 and order < 0:
        near = -s * (10 + math.sqrt(max(2 * order * math.log(odds.none), 0.0)))
    x = np.linspace(near, far, _NODES)
    heights = order * odds.log(x)[1] - 0.5 * np.square(x / s)
    top = float(heights.max())
    step = (far - near) / (_NODES - 1)
    return top + math.log(float(np.exp(heights - top).sum()) * step / (s * math.sqrt(2 * math.pi)))
