"""The saddle point of a composition, in floats: where to sum, and which ε or δ to expect there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bursar.losses.engines.contour.factors import Factor, NoContour

_NEAR = 0.3  # of ln δ: close enough for a tilt


def rough_cumulants(factors: Sequence[Factor], tau: float) -> tuple[float, float, float]:
    """K, K′ and K″ of the composition in floats."""
    sums = [factor.rough(tau) for factor in factors]
    return math.fsum(row[0] for row in sums), math.fsum(row[1] for row in sums), math.fsum(row[2] for row in sums)


def choose_tilt(factors: Sequence[Factor], log_delta: float) -> tuple[float, float]:
    """The tilt τ and the ε at which the saddle-point approximation of δ meets its target."""

    def gap(log_tau: float) -> float:
        tau = math.exp(log_tau)
        k, mean, variance = seen[log_tau] = rough_cumulants(factors, tau)
        if not (math.isfinite(k) and math.isfinite(mean) and variance > 0):
            return -math.inf
        return _saddle(k, tau, mean, variance) - log_delta

    # the tilt that a Gaussian with about this variance would have, mended twice: K − τK′ falls by τK″
    seen: dict[float, tuple[float, float, float]] = {}
    variance = sum(factor.rough_variance() for factor in factors)
    start = 0.5 * math.log(max(-2 * log_delta, 1.0) / variance) if 0 < variance < math.inf else math.log(2.0)
    for _ in range(2):
        apart = gap(start)
        if not _NEAR <= abs(apart) < math.inf:
            break
        start += max(min(apart / (math.exp(2 * start) * seen[start][2] + 1), 0.4), -0.4)
    found = _root(gap, "no tilt reaches this δ", start=start, near=_NEAR)
    tau = math.exp(found)
    # a little below the saddle far, rare losses weigh much less; what that costs in rounding grows with the depth
    below = 1 - min(0.18, math.sqrt(1.5 / max(-log_delta, 1.0)))
    return below * tau, (seen[found] if found in seen else rough_cumulants(factors, tau))[1]


def tilt_for(factors: Sequence[Factor], epsilon: float) -> tuple[float, float]:
    """The saddle τ at an ε, kept above 0, and the saddle-point approximation of ln δ there."""
    smallest = math.log(1e-3)
    if rough_cumulants(factors, math.exp(smallest))[1] >= epsilon:
        tau = math.exp(smallest)
    else:
        tau = math.exp(
            _root(
                lambda u: epsilon - rough_cumulants(factors, math.exp(u))[1],
                "ε is beyond the largest loss",
                start=math.log(2.0),
            )
        )
    variance = rough_cumulants(factors, tau)[2]
    if not variance > 0:
        raise NoContour("the losses do not vary")
    tau = max(tau, 0.25 / math.sqrt(variance))
    k, _, variance = rough_cumulants(factors, tau)
    if not variance > 0:
        raise NoContour("the losses do not vary")
    return tau, min(_saddle(k, tau, epsilon, variance), -0.1)


def _saddle(k: float, tau: float, epsilon: float, variance: float) -> float:
    """The saddle-point approximation of ln δ(ε)."""
    return k - tau * epsilon - math.log(tau * (tau + 1)) - 0.5 * math.log(2 * math.pi * variance)


def _root(falling: Callable[[float], float], failure: str, *, start: float, near: float = 0.0) -> float:
    """Where a falling function of ln τ crosses 0, closely enough for a tilt."""
    low = high = start
    at_low = at_high = falling(start)
    if abs(at_low) < near:
        return start
    step = 0.4
    while at_high > 0:
        low, at_low, high = high, at_high, high + step
        at_high, step = falling(high), 1.7 * step
        if high > 25:
            raise NoContour(failure)
    while low == high or at_low < 0:
        high, at_high, low = low, at_low, low - step
        at_low, step = falling(low), 1.7 * step
        if low < -25:
            raise NoContour(failure)
    for _ in range(8):
        share = at_low / (at_low - at_high) if math.isfinite(at_low - at_high) and at_low > at_high else 0.5
        x = low + (high - low) * min(max(share, 0.1), 0.9)
        value = falling(x)
        if abs(value) < near or high - low < 0.05:
            return x
        if value > 0:
            low, at_low = x, value
        else:
            high, at_high = x, value
    return (low + high) / 2
