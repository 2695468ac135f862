"""From one Rényi order to (ε, δ): the simple conversion and the optimal one.

**Simple** (Canonne, Kamath and Steinke 2020, Prop. 12; Balle et al. 2020, Thm 21): D_α(P‖Q) ≤ γ implies

    δ(ε) ≤ e^{(α−1)(γ−ε)}·(1/α)(1 − 1/α)^{α−1}.

**Optimal** (Asoodeh et al. 2020): merging {P > e^ε Q} and its complement loses nothing for δ(ε) and only lowers the
divergence, so δ(ε) is at most the largest δ for which some p > δ has

    p^α q^{1−α} + (1−p)^α (1−q)^{1−α} ≤ e^{(α−1)γ},  q = (p − δ)e^{−ε}.

The left side is jointly convex in (p, q) and q is affine in p, so it is convex in p: a tangent
line at any p₀ is below it everywhere, and its smaller end value on [δ, 1] certifies that no p is feasible. Floats
choose ε and p₀; balls certify them.
"""

from __future__ import annotations

import math

from flint import arb

from bursar.numerics.balls import Ball, positive_part


def simple_epsilon(alpha: Ball, gamma: Ball, delta: Ball) -> Ball:
    """ε = γ + ln((α−1)/α) − (ln δ + ln α)/(α−1), at least 0."""
    return positive_part(gamma + (1 - 1 / alpha).log() - (delta.log() + alpha.log()) / (alpha - 1))


def simple_delta(alpha: Ball, gamma: Ball, epsilon: Ball) -> Ball:
    """δ = e^{(α−1)(γ−ε)}·(1 − 1/α)^α/(α−1), at most 1."""
    log_constant = alpha * (1 - 1 / alpha).log() - (alpha - 1).log()
    return ((alpha - 1) * (gamma - epsilon) + log_constant).exp().min(arb(1))


def rough_simple_epsilon(alpha: float, gamma: float, log_delta: float) -> float:
    """The simple conversion in floats, for searching only."""
    if alpha - 1 < 1e-12:
        return math.inf
    return gamma + math.log1p(-1 / alpha) - (log_delta + math.log(alpha)) / (alpha - 1)


def rough_simple_log_delta(alpha: float, gamma: float, epsilon: float) -> float:
    """ln δ by the simple conversion in floats, for searching only."""
    if alpha - 1 < 1e-12:
        return math.inf
    return (alpha - 1) * (gamma - epsilon) + alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)


def optimal_epsilon(alpha: Ball, gamma: Ball, delta: Ball) -> Ball:
    """The smallest ε this order proves at δ; never above `simple_epsilon`."""
    simple = simple_epsilon(alpha, gamma, delta)
    search = _TwoPoint(float(alpha), float(gamma))
    d, x = float(delta), float(simple)
    if not (search.usable and 0 < d < 1 and 0 < x < math.inf):
        return simple
    for _ in range(40):
        search.descend(x, d)
        rate = search.slack_by_epsilon()
        if not rate > 0 or not math.isfinite(search.slack):
            return simple
        x = max(x - search.slack / rate, 0.0)
        if abs(search.slack / rate) <= 1e-14 * x or x == 0.0:
            break
    for margin in (4e-16, 1e-14, 1e-11, 1e-8):
        candidate = arb(x) * (1 + arb(margin))
        if not candidate < simple:
            break
        if certified(alpha, gamma, candidate, delta, search.p):
            return candidate
    return simple


def optimal_delta(alpha: Ball, gamma: Ball, epsilon: Ball) -> Ball:
    """The smallest δ this order proves at ε; never above `simple_delta`."""
    simple = simple_delta(alpha, gamma, epsilon)
    search = _TwoPoint(float(alpha), float(gamma))
    e, d = float(epsilon), float(simple)
    if not (search.usable and 1e-290 < d < 1 and 0 <= e < math.inf):
        return simple
    for _ in range(40):
        search.descend(e, d)
        rate = search.slack_by_log_delta()
        if not rate > 0 or not math.isfinite(search.slack):
            return simple
        d = min(d * math.exp(min(max(-search.slack / rate, -30.0), 30.0)), 0.999999)
        if abs(search.slack / rate) <= 1e-14:
            break
    for margin in (4e-16, 1e-14, 1e-11, 1e-8):
        candidate = arb(d) * (1 + arb(margin))
        if not candidate < simple:
            break
        if certified(alpha, gamma, epsilon, candidate, search.p):
            return candidate
    return simple


def certified(alpha: Ball, gamma: Ball, epsilon: Ball, delta: Ball, near: float) -> bool:
    """Whether balls prove that D_α ≤ γ forces δ(ε) ≤ δ, by the tangent at a point close to ``near``."""
    floor = ((alpha - 1) * gamma).exp()
    shrink = (-epsilon).exp()
    p = arb(near)
    for _ in range(3):
        q = (p - delta) * shrink
        if not (q > 0 and q < 1 and p > 0 and p < 1):
            return False
        r, s = p / q, (1 - p) / (1 - q)
        first, second = r ** (alpha - 1), s ** (alpha - 1)
        value = p * first + (1 - p) * second
        slope = alpha * (first - second) + (1 - alpha) * shrink * (first * r - second * s)
        # The tangent at p, at its lower end on [δ, 1], is below the whole convex curve.
        if (value + slope * (delta - p)).min(value + slope * (1 - p)) >= floor:
            return True
        bend = first * (1 - r * shrink) ** 2 / p + second * (1 - s * shrink) ** 2 / (1 - p)
        p = (p - slope / (alpha * (alpha - 1) * bend)).mid()
    return False


class _TwoPoint:
    """The minimisation over p in floats: only ever a suggestion, so rounding does no harm."""

    def __init__(self, alpha: float, gamma: float) -> None:
        self.alpha, self.gamma = alpha, gamma
        self.usable = 1 < alpha < 1e8 and math.isfinite((alpha - 1) * gamma)
        self.p = self.q = self.r = self.s = self.t = self.slack = math.nan
        self.epsilon = self.delta = math.nan

    def descend(self, epsilon: float, delta: float) -> None:
        """Find the minimising p by Newton on the odds of (p − δ)/(1 − δ), with bisection as its guard."""
        self.epsilon, self.delta = epsilon, delta
        low, high = -300.0, 36.0
        u = math.log((self.alpha - 1) * delta) if not math.isfinite(self.p) else self._odds(self.p)
        u = min(max(u, low + 1), high - 1)
        for _ in range(60):
            slope, bend = self._look(u)
            if slope > 0:
                high = u
            else:
                low = u
            step = -slope / bend if bend > 0 else math.inf
            new = u + step
            if not low < new < high:
                new = (low + high) / 2
            if abs(new - u) <= 1e-13 * max(1.0, abs(u)):
                break
            u = new
        self._look(u)

    def _odds(self, p: float) -> float:
        share = (p - self.delta) / (1 - self.delta)
        return math.log(share / (1 - share)) if 0 < share < 1 else 0.0

    def _look(self, u: float) -> tuple[float, float]:
        """Set p, q and the slack; return the slope and the curvature in u, up to a common positive factor."""
        alpha, delta, shrink = self.alpha, self.delta, math.exp(-self.epsilon)
        share = 1 / (1 + math.exp(-u))
        part = (1 - delta) * share
        p, q = delta + part, part * shrink
        rest_p, rest_q = (1 - delta) / (1 + math.exp(u)), 1 - q
        if q <= 0 or rest_q <= 0 or rest_p <= 0:
            return (-1.0, -1.0) if u < 0 else (1.0, -1.0)
        r, s = p / q, rest_p / rest_q
        t = (s / r) ** (alpha - 1)
        slope = alpha * (1 - t) - (alpha - 1) * shrink * (r - s * t)
        bend = (1 - r * shrink) ** 2 / p + t * (1 - s * shrink) ** 2 / rest_p
        self.p, self.q, self.r, self.s, self.t = p, q, r, s, t
        self.slack = (alpha - 1) * (math.log(r) - self.gamma) + math.log(p + rest_p * t)
        by_u = part * (1 - share)
        return slope * by_u, alpha * (alpha - 1) * bend * by_u * by_u + slope * by_u * (1 - 2 * share)

    def slack_by_epsilon(self) -> float:
        """∂slack/∂ε at the minimiser."""
        return (self.alpha - 1) * self.q * (self.r - self.s * self.t) / (self.p + (1 - self.p) * self.t)

    def slack_by_log_delta(self) -> float:
        """∂slack/∂ln δ at the minimiser."""
        rise = (
            (self.alpha - 1) * math.exp(-self.epsilon) * (self.r - self.s * self.t) / (self.p + (1 - self.p) * self.t)
        )
        return rise * self.delta
