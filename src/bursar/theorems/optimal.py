"""The optimum for k copies of one (ε, δ).

Statement: the adaptive composition of k mechanisms that are (ε, δ)-DP is (ε_g, 1 − (1−δ)^k(1−δ_g))-DP for
    δ_g = Σ_ℓ C(k,ℓ)(e^{(k−ℓ)ε} − e^{ε_g+ℓε})₊/(1+e^ε)^k, and for the worst such mechanisms (leaky
    randomized responses) nothing smaller holds.
Hypotheses: all mechanisms promise one and the same (ε, δ); k is at most ten million; from below also: each attains
    its promise's worst pair.
Source: Kairouz, Oh and Viswanath 2015, Thm 3.3, in the form valid at every ε_g.
Code/paper: X counts the lies among k randomized responses. δ_g(x) = max over m of A_m − e^x·B_m with A_m = P(X ≤ m),
    B_m = Q(X ≤ m): the loss falls with X, so {X ≤ m} are the best events. Between two neighbouring losses m is
    constant, hence ε_g = max over m of ln((A_m − δ_g)/B_m).
Rounding: floats only choose m. A_m and B_m are sums of positive terms in balls, cut where a geometric series bounds
    the rest; any m bounds ε_g from below, and the upper end is evaluated at the m that it belongs to (all candidates,
    where the ball cannot tell).
Checked: enumeration of all outcomes for k ≤ 12; golden values to k = 10⁴; settings that overflow elsewhere.
"""

from __future__ import annotations

import math

from flint import arb

from bursar.composition import Composition
from bursar.guarantees import ApproxDP, PureDP
from bursar.numerics.balls import Ball, ball, hull, maximum, positive_part, up
from bursar.numerics.interval import Interval
from bursar.numerics.lattice import integers_around
from bursar.numerics.real import Real
from bursar.numerics.search import crossing
from bursar.theorems._advanced import one_parameter
from bursar.theorems._base import (
    Abstain,
    Adaptivity,
    Bound,
    ForEpsilon,
    Question,
    Theorem,
    bounded,
    collected,
    leaks_of,
    many_or_integrals,
    rest_of_delta,
    told_exactly,
    too_leaky,
    whole_delta,
)

MOST_COPIES = 10**7
_CLOSE = 1e-12  # of ε_g: an end this close to k·ε is not worth another sum
_SURE = 1e-3  # how far the readings of ε may be apart
_TRUE = 60.0  # by how much, as a logarithm, lies are to be too rare to count


class Responses:
    """k randomized responses of one ε."""

    def __init__(self, epsilon: Ball, k: int) -> None:
        self.epsilon, self.k = epsilon, k
        self._tails: dict[int, tuple[Ball, Ball]] = {}

    def delta_at(self, x: Ball) -> Ball:
        """δ_g at ε_g = x ≥ 0."""
        if x >= self.k * self.epsilon:
            return arb(0)
        threshold = (self.k - x / self.epsilon) / 2
        ways = [positive_part(a - x.exp() * b) for a, b in map(self.tails, integers_around(threshold, 0, self.k))]
        return maximum(arb(0), *ways)

    def epsilon_at(self, delta: Ball) -> Interval:
        """ε_g at δ_g = δ > 0, both ends proved."""
        m = self._search(float(delta.log()))
        best = self._meeting(m, delta)
        # δ_g(0) is a long sum, and not asked for where ε_g is above 0
        if not best.lower > 0 and self.delta_at(arb(0)) <= delta:
            return Interval(0.0, 0.0)
        upper, most = best.upper, up(self.k * self.epsilon)
        if most - best.lower <= _CLOSE * most:
            return Interval(best.lower, most)
        for _ in range(4):
            if self.delta_at(arb(upper)) <= delta:
                return Interval(best.lower, upper)
            upper += max(math.ulp(upper), upper - best.lower)
        # The float search missed the event: search in balls from where it ended.
        return crossing(lambda x: self.delta_at(arb(x)), delta, guess=max(best.lower, 1e-6))

    def _meeting(self, m: int, delta: Ball) -> Interval:
        """Where A_m − e^x·B_m = δ: never above the true ε_g."""
        a, b = self.tails(m)
        room = a - delta
        return Interval.of(positive_part((room / b).log())) if room > 0 else Interval(0.0, 0.0)

    def tails(self, m: int) -> tuple[Ball, Ball]:
        """(A_m, B_m) = (P(X ≤ m), Q(X ≤ m))."""
        if m not in self._tails:
            below = self._mass(m, self.epsilon) * self._series(m, self.epsilon.exp(), down=True)
            if m * (1 + math.exp(min(float(self.epsilon), 700.0))) > self.k:
                # above P's mean the complement is the shorter sum
                below = 1 - self._mass(m + 1, self.epsilon) * self._series(m + 1, (-self.epsilon).exp(), down=False)
            other = self._mass(m, -self.epsilon) * self._series(m, (-self.epsilon).exp(), down=True)
            self._tails[m] = below, other
        return self._tails[m]

    def _mass(self, m: int, epsilon: Ball) -> Ball:
        """C(k, m)·(1+e^ε)^{−m}·(1+e^{−ε})^{−(k−m)}: the probability of m lies."""
        if m > self.k:
            return arb(0)
        k = arb(self.k)
        choose = (k + 1).lgamma() - arb(m + 1).lgamma() - arb(self.k - m + 1).lgamma()
        return (choose - m * epsilon.exp().log1p() - (k - m) * (-epsilon).exp().log1p()).exp()

    def _series(self, m: int, odds: Ball, *, down: bool) -> Ball:
        """1 + r₁ + r₁r₂ + …, the terms of a binomial relative to the first, downwards or upwards from m."""
        total, term, stop = arb(1), arb(1), arb(2) ** -120
        i = m
        while (i > 0) if down else (i < self.k):
            ratio = odds * i / (self.k - i + 1) if down else odds * (self.k - i) / (i + 1)
            term = term * ratio
            i += -1 if down else 1
            total += term
            # the ratios only fall from here, so a geometric series bounds what is left
            if ratio < 1 and term * ratio <= total * stop * (1 - ratio):
                return total + hull(arb(0), term * ratio / (1 - ratio))
        return total

    def _search(self, log_delta: float) -> int:
        """In floats: the m whose event decides at δ."""
        if float(self.epsilon) > _TRUE + math.log(self.k):
            return 0  # nobody lies
        mean = self.k / (1 + math.exp(min(float(self.epsilon), 700.0)))
        low, high = 0, self.k // 2 + 1
        likely = int(mean + 20 * math.sqrt(self.k))
        if likely < high and self._rough_log_delta(likely) > log_delta:
            high = likely
        while low < high:
            middle = (low + high + 1) // 2
            if self._rough_log_delta(middle) <= log_delta:
                low = middle
            else:
                high = middle - 1
        return low

    def _rough_log_delta(self, m: int) -> float:
        """ln δ_g at x = (k − 2m)ε in floats: p_m·Σ_j R_j(1 − e^{−2jε}), R_j the terms below m relative to it."""
        if m == 0:
            return -math.inf
        e, k = float(self.epsilon), self.k
        mean = k / (1 + math.exp(min(e, 700.0)))
        reach = min(m, 400 + int(16 * math.sqrt(k) + max(m - mean, 0.0)))
        head = math.lgamma(k + 1) - math.lgamma(m + 1) - math.lgamma(k - m + 1)
        head -= m * (e + math.log1p(math.exp(-e))) + (k - m) * math.log1p(math.exp(-e))
        return head + (_log_series(m, k, e) if reach <= _FEW else _long_log_series(m, k, e, reach))


_FEW = 600


def _log_series(m: int, k: int, e: float) -> float:
    """ln Σ_j R_j(1 − e^{−2je}), R_j = Π_{i≤j} (m−i+1)/(k−m+i)·e^e."""
    term, total = 0.0, 0.0  # the term's logarithm relative to `shift`, and the sum there
    shift = 0.0
    for j in range(1, m + 1):
        term += math.log((m - j + 1) / (k - m + j)) + e
        if term > shift:
            total *= math.exp(shift - term)
            shift = term
        step = math.exp(term - shift) * -math.expm1(-2 * j * e)
        total += step
        if step < 1e-18 * total and term < shift:
            break
    return shift + math.log(total) if total > 0 else -math.inf


def _long_log_series(m: int, k: int, e: float, reach: int) -> float:
    """The same for long sums."""
    import numpy as np

    j = np.arange(1, reach + 1, dtype=float)
    logs = np.cumsum(np.log((m - j + 1) / (k - m + j)) + e) + np.log(-np.expm1(-2 * j * e))
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The binomial sum and its inverse."""
    promises = collected(composition, ApproxDP)
    if isinstance(promises, Abstain):
        return promises
    if one_parameter(promises) is not None:
        return Abstain("the releases promise different (ε, δ); mv16 is the optimum for those")
    k = composition.count
    if k > MOST_COPIES:
        return Abstain(f"the exact sum is kept to {MOST_COPIES} copies, and these are {k}")
    # equal numbers may have been read in different ways: the ball covers all of them, and δ grows with each
    leaks, epsilon = leaks_of(promises), hull(*(ball(promise.epsilon) for promise, _ in promises))
    if not k * epsilon.rad() < _SURE:
        return Abstain("ε is so large that its readings differ in e^{kε}; basic composition says as much")
    exact = told_exactly(composition, PureDP, ApproxDP)
    which = "exact for these" if exact else "for the worst such mechanisms"
    because = f"the optimum of composing ε = {float(epsilon):.6g} {k} times, {which}"
    responses = Responses(epsilon, k)
    if isinstance(question, ForEpsilon):
        return _epsilon(responses, question, leaks, exact, because)
    part = responses.delta_at(ball(question.epsilon)) if epsilon > 0 else arb(0)
    delta = whole_delta(part, leaks)
    return bounded(because, upper=delta, lower=delta if exact else None, most=1.0)


def _epsilon(
    responses: Responses, question: ForEpsilon, leaks: list[tuple[Real, int]], exact: bool, because: str
) -> Bound | Abstain:
    rest = rest_of_delta(question.delta, leaks)
    if rest < 0:
        reason = too_leaky(leaks, question.delta)
        return Bound(math.inf, math.inf, reason) if exact else Abstain(reason)
    if not rest >= 0:
        return Abstain("δ is, up to rounding, exactly what the releases leak")
    if not responses.epsilon > 0:
        return bounded(because, upper=arb(0))
    if rest > 0:
        found = responses.epsilon_at(rest) if not rest >= 1 else Interval(0.0, 0.0)
        return Bound(found.lower if exact else 0.0, found.upper, because)
    top = responses.k * responses.epsilon
    return bounded(because, upper=top, lower=top if exact and rest == 0 else None)


THEOREM = Theorem(
    id="optimal",
    title="optimum for equal (ε, δ) (KOV15)",
    citations=("KOV15",),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
    dear=many_or_integrals,
)
