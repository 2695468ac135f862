"""Rényi curves of sampled mechanisms, known at whole orders and bounded between them.

**Poisson** (add/remove). For whole n ≥ 2

    (n−1)D_n ≤ ln Σ_l C(n,l)(1−q)^{n−l}q^l·f_l·e^{(l−1)γ(l)},

with f_l = 1 where the pair can be swapped onto itself (Mironov, Talwar and Zhang 2019, Thm 5: then the remove
direction, which the binomial theorem gives exactly, is the worse one), and f_l = 3 for l ≥ 3 for any mechanism (Zhu and
Wang 2019, Thm 5).

**Without replacement** (replace-one). For whole n ≥ 2

    (n−1)D_n ≤ ln[1 + q²C(n,2)·min{4(e^{γ(2)}−1), e^{γ(2)}·min{2, (e^{γ(∞)}−1)²}}
                    + Σ_{j≥3} q^jC(n,j)e^{(j−1)γ(j)}·min{2, (e^{γ(∞)}−1)^j}]

(Wang, Balle and Kasiviswanathan 2019, Thm 9).

Between whole orders (α−1)D_α is convex in α (it is a cumulant function), so chords bound it from above; at α = 1 it
is 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from flint import arb

from bursar.guarantees.renyi import RenyiCurve
from bursar.numerics.balls import Ball, ball, infinity, minimum
from bursar.numerics.real import Real

LARGEST_ORDER = 1024


def sampled_curve(
    label: str, base: Callable[[Ball], Ball], rate: Real, *, factor: int, rough: Callable[[float], float] | None = None
) -> RenyiCurve:
    """The curve of a Poisson-sampled mechanism whose own curve is ``base``, and roughly ``rough``."""
    return _WholeOrders(label, _PoissonSum(base, rate, factor, rough)).curve()


def fixed_size_curve(label: str, base: Callable[[Ball], Ball], rate: Ball, largest_loss: Ball) -> RenyiCurve:
    """The curve of a mechanism on a sample without replacement; ``largest_loss`` may be infinite."""
    return _WholeOrders(label, _FixedSizeSum(base, rate, largest_loss)).curve()


class _Sum(ABC):
    """The moment bound at whole orders, in balls and roughly in floats; terms of the base are computed once."""

    def __init__(self, base: Callable[[Ball], Ball], rate: Ball) -> None:
        self.base, self.rate = base, rate
        # By order, not in a row: two threads that both add the next one would move all that follow.
        self._weights: dict[int, Ball] = {0: arb(0), 1: arb(0)}

    def weight(self, l: int) -> Ball:  # noqa: E741  (the papers' letter)
        """(l−1)γ(l)."""
        found = self._weights.get(l)
        if found is None:
            found = self._weights[l] = (l - 1) * self.base(arb(l))
        return found

    @abstractmethod
    def moment(self, n: int) -> Ball:
        """(n−1)D_n."""

    def rough(self, n: int) -> float:
        """The same in floats, for choosing an order."""
        return _known(self.moment(n))


class _PoissonSum(_Sum):
    def __init__(
        self, base: Callable[[Ball], Ball], rate: Real, factor: int, rough: Callable[[float], float] | None
    ) -> None:
        super().__init__(base, ball(rate))
        self.factor, self.rough_base, self.given = factor, rough, rate
        self._rough_weights: list[float] = [0.0, 0.0]

    @cached_property
    def _missed(self) -> Ball:
        """From the exact complement: a rate next to 1 leaves no digits of it in a ball. Many a curve is never read."""
        rate = self.given
        return ball(Real(1 - Fraction(rate), 1 - rate.high, 1 - rate.low))

    @cached_property
    def log_odds(self) -> Ball:
        """ln(q/(1 − q))."""
        return (self.rate / self._missed).log()

    @cached_property
    def log_missed(self) -> Ball:
        """ln(1 − q)."""
        return self._missed.log()

    def moment(self, n: int) -> Ball:
        total, binomial = arb(0), arb(1)
        for l in range(n + 1):  # noqa: E741
            weight = self.weight(l)
            if not weight.is_finite():
                return infinity()
            total += binomial * (l * self.log_odds + weight).exp() * (self.factor if l >= 3 else 1)
            binomial = binomial * (n - l) / (l + 1)
        return total.log() + n * self.log_missed

    def rough(self, n: int) -> float:
        """The largest term and what the others add to it; infinite where a weight is."""
        rough = self._rough_weights
        if len(rough) <= n:
            rough = self._rough_weights = [*rough, *map(self._rough_weight, range(len(rough), n + 1))]
        odds, missed, weights = _known(self.log_odds), _known(self.log_missed), np.array(rough[: n + 1])
        if not (math.isfinite(odds) and math.isfinite(missed) and bool(np.all(np.isfinite(weights)))):
            return math.inf
        factorials = _log_factorials(n)
        l = np.arange(n + 1)  # noqa: E741
        terms = factorials[n] - factorials[: n + 1] - factorials[n::-1] + l * odds + weights
        top = float(terms.max())
        return top + math.log(float(np.exp(terms - top).sum())) + n * missed

    def _rough_weight(self, order: int) -> float:
        if self.rough_base is None:
            return _known(self.weight(order))
        return (order - 1) * self.rough_base(float(order))


def _known(x: Ball) -> float:
    """A ball's middle in floats; infinite where nothing is known."""
    near = float(x)
    return math.inf if math.isnan(near) else near


@cache
def _all_log_factorials() -> Any:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, LARGEST_ORDER + 2)))])


def _log_factorials(n: int) -> Any:
    return _all_log_factorials()[: n + 1]


class _FixedSizeSum(_Sum):
    def __init__(self, base: Callable[[Ball], Ball], rate: Ball, largest_loss: Ball) -> None:
        super().__init__(base, rate)
        self.excess = largest_loss.expm1() if largest_loss.is_finite() else infinity()

    def moment(self, n: int) -> Ball:
        q = self.rate
        second = self.weight(2)
        if not second.is_finite():
            return infinity()
        total = q * q * (arb(n) * (n - 1) / 2) * minimum(4 * second.expm1(), second.exp() * self._cap(2))
        binomial = arb(n) * (n - 1) / 2
        for j in range(3, n + 1):
            binomial = binomial * (n - j + 1) / j
            weight = self.weight(j)
            if not weight.is_finite():
                return infinity()
            total += (j * q.log() + weight).exp() * binomial * self._cap(j)
        return total.log1p()

    def _cap(self, j: int) -> Ball:
        """min{2, (e^{γ(∞)}−1)^j}."""
        return minimum(arb(2), (j * self.excess.log()).exp()) if self.excess.is_finite() and self.excess > 0 else arb(2)


class _WholeOrders:
    """A curve from its whole orders, by chords."""

    def __init__(self, label: str, moments: _Sum) -> None:
        self.label, self.moments = label, moments
        self._known: dict[int, Ball] = {1: arb(0)}
        self._near: dict[int, float] = {}

    def moment(self, n: int) -> Ball:
        """(n−1)D_n, computed once."""
        if n not in self._known:
            self._known[n] = self.moments.moment(n)
        return self._known[n]

    def at(self, alpha: Ball) -> Ball:
        """γ(α), on the chord between its neighbours."""
        near = float(alpha)
        if not near < LARGEST_ORDER:
            return infinity()
        low = max(1, math.floor(near))
        if alpha < low or alpha > low + 1:
            return infinity()
        left = self.moment(low)
        if alpha <= low:
            return left / (low - 1) if low > 1 else infinity()
        right = self.moment(low + 1)
        return (left + (right - left) * (alpha - low)) / (alpha - 1)

    def rough(self, alpha: float) -> float:
        """The curve at a nearby whole order, in floats: enough to choose an order."""
        if not alpha < LARGEST_ORDER:
            return math.inf
        n = max(2, round(alpha))
        if n not in self._near:
            self._near[n] = self.moments.rough(n) / (n - 1)
        return self._near[n]

    def curve(self) -> RenyiCurve:
        """As a promise; whole orders are where the chords touch."""
        return RenyiCurve(
            self.label,
            self.at,
            rough=self.rough,
            largest_order=LARGEST_ORDER - 1.0,
            candidates=tuple(map(float, range(2, 9))),
        )
