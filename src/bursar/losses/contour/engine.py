"""The contour engine.

For any τ > 0 and t = τ + is, with K the cumulant function of the finite part of the composed loss and δ_∞ its mass at
infinity,

    δ(ε) = δ_∞ + (1/2π) ∫ exp(K(t) − εt)/(t(t+1)) ds.

The trapezoid sum with step Δ = 2π/B equals δ(ε) − δ_∞ plus *aliases* e^{τnB}δ(ε+nB), n ≠ 0, all of them positive: the
infinite sum is itself an upper bound, and Chernoff bounds of the aliases give the lower end. What is cut off at |s| >
S is bounded by how fast the factors decay. Each moment is a ball. The derivations are in proofs/contour.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from flint import arb

from bursar.losses.contour.factors import Array, Care, Factor
from bursar.numerics.balls import Ball, up
from bursar.numerics.lattice import short
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

MOST_NODES = 8_000
_GOOD = 1e-7  # of δ: what aliases and cut may take without choosing the nodes anew
_LIMITS = {Care.LEAST: 80, Care.USUAL: 260}  # nodes; where more are needed, a more careful look at the decay pays
_PRECISE = math.log(2e8)  # aliases and the cut are pushed this far below δ
_ROUGH = math.log(1e3)  # where only an upper end is asked, and a thousandth more does no harm


_CANDIDATES = np.geomspace(1.0, MOST_NODES, 72)


class NoContour(Exception):
    """The engine cannot serve this composition within its limits."""


@dataclass(frozen=True)
class Errors:
    """The error budget of one evaluation, relative to δ."""

    aliasing: float
    truncation: float
    cut: float
    """What the smooth cut gives up."""
    quadrature: float
    """Of the moments, their rounding included."""
    rounding: float
    """Of the sum."""

    def terms(self) -> tuple[tuple[str, float], ...]:
        """By name."""
        return tuple((field.name, getattr(self, field.name)) for field in fields(self))


class _Sums:
    """The terms of the sum at every node, apart from e^{K(τ)−τε}: size and angle, and what is unsure about them."""

    def __init__(self, factors: Sequence[Factor], tau: float, frequencies: Array) -> None:
        parts = [factor.moments(tau, frequencies) for factor in factors]
        self.drift = sum((part.drift for part in parts), arb(0))
        self.turn = np.sum([part.turn for part in parts], axis=0)
        self.turn_size = np.sum([np.abs(part.turn) + np.abs(part.log_size) for part in parts], axis=0)
        self.doubt = np.sum([part.error for part in parts], axis=0)
        t = tau + 1j * frequencies
        self.share = np.exp(np.sum([part.log_size for part in parts], axis=0)) / np.abs(t * (t + 1))
        self.share[0] /= 2
        self.angle = -np.angle(t) - np.angle(t + 1)


class Contour:
    """One direction of a composition, at one tilt: a fixed set of nodes that serves every ε near the one it was made
    for.
    """

    def __init__(
        self,
        factors: Sequence[Factor],
        leak: Ball,
        epsilon: float,
        log_delta: float,
        tau: float,
        *,
        only_upper: bool = False,
    ) -> None:
        self.factors, self.leak, self.tau = factors, leak, tau
        self.known_alias: tuple[float, Ball] = (math.inf, arb(0))
        self.margin = _ROUGH if only_upper else _PRECISE
        if only_upper:
            # aliases only add to the sum, so an upper bound needs no bound on them
            self.cumulant = sum((factor.cumulants([tau])[0] for factor in factors), arb(0))
            self.chernoff: dict[float, float] = {}
        self.spread = math.sqrt(max(rough_cumulants(factors, tau)[2], 1e-300))
        self.period = 7 * self.spread if only_upper else self._period(epsilon, log_delta)
        self.step = short(2 * math.pi / self.period, 24)
        self.reach = self._reach(epsilon, log_delta)
        count = math.ceil(self.reach / self.step)
        if count > MOST_NODES:
            raise NoContour(f"{count} nodes are more than {MOST_NODES}")
        self.frequencies = np.arange(count + 1) * self.step  # exact: the step has few bits

    @cached_property
    def sums(self) -> _Sums:
        """The moments at the nodes, once they are needed: how many nodes a tilt takes is known before."""
        return _Sums(self.factors, self.tau, self.frequencies)

    def _period(self, epsilon: float, log_delta: float) -> float:
        """The smallest B for which Chernoff bounds at some other tilts push both sides' aliases far below δ."""
        self.ladder = [self.tau + x / self.spread for x in (1.5, 3.0, 4.5, 6.5, 9.0)]
        # losses of two scales: far ones explode between τ and these
        self.ladder += [self.tau * x for x in (0.3, 0.6, 0.85, 1.07, 1.15, 1.3, 1.6) if self.tau * x < max(self.ladder)]
        bounds = zip(*(factor.cumulants([self.tau, *self.ladder]) for factor in self.factors), strict=True)
        self.cumulant, *others = (sum(k, arb(0)) for k in bounds)
        self.chernoff = {tilt: up(k + chernoff_constant(tilt)) for tilt, k in zip(self.ladder, others, strict=True)}
        high, low = math.inf, (self.margin - log_delta) / self.tau
        for tilt, bound in self.chernoff.items():
            gap = bound - tilt * epsilon - log_delta + self.margin
            if tilt > self.tau:
                high = min(high, max(gap, 1.0) / (tilt - self.tau))
            else:
                low = min(low, max(gap, 1.0) / (self.tau - tilt))
        if not math.isfinite(high):
            raise NoContour("no tilt bounds the aliases")
        return max(high, low) * 1.02

    def _reach(self, epsilon: float, log_delta: float) -> float:
        """The smallest S beyond which the integrand is negligible."""
        lead = up(self.cumulant) - self.tau * epsilon - log_delta + self.margin
        candidates = self.step * _CANDIDATES
        for care in Care:
            gone = np.sum([factor.decay(self.tau, care)(candidates) for factor in self.factors], axis=0)
            enough = np.flatnonzero(lead + gone - np.log(math.pi * candidates) <= 0)
            if len(enough) and (care is Care.MOST or candidates[enough[0]] < _LIMITS[care] * self.step):
                self.gone = float(gone[enough[0]])
                return float(candidates[enough[0]])
        raise NoContour("the losses decay too slowly")

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln of the sum at ε and its derivative, in floats."""
        terms = self.sums.share * np.exp(1j * self._phase(epsilon)[0])
        value = float(terms.real.sum())
        slope = -float((terms * (self.tau + 1j * self.frequencies)).real.sum())
        if value <= 0:
            raise NoContour("the sum is not positive")
        lead = float(self.cumulant) - self.tau * epsilon
        return lead + math.log(value * self.step / math.pi), slope / value

    def _phase(self, epsilon: float) -> tuple[Array, float]:
        """The angle of each term, and by how much (drift − ε) may be off."""
        apart = self.sums.drift - arb(epsilon)
        near = float(apart)
        return self.sums.turn + self.sums.angle + self.frequencies * near, float(abs(apart - arb(near)).upper())

    def precise(self, epsilon: float) -> bool:
        """Whether the nodes still serve this ε well."""
        errors = self.evaluate(epsilon)[2]
        return sum(size for _, size in errors.terms()) < _GOOD

    def evaluate(self, epsilon: float) -> tuple[Ball, Ball, Errors]:
        """Certified lower and upper ends of δ(ε), as balls, and the error budget."""
        x = arb(epsilon)
        phase, slip = self._phase(epsilon)
        value = float((self.sums.share * np.cos(phase)).sum())
        turned = (ULPS + 4) * (1 + self.sums.turn_size + np.abs(phase)) + len(phase)
        doubt = SAFETY * float(self.sums.share @ np.expm1(np.minimum(self.sums.doubt, 700.0)))
        rounding = SAFETY * float(self.sums.share @ (UNIT * turned + slip * self.frequencies))
        lead = (self.cumulant - arb(self.tau) * x).exp() * arb(self.step) / arb.pi()
        total = lead * (arb(value) + arb(0, doubt) + arb(0, rounding))
        cut, alias = self._cut(x), self._aliases(epsilon)
        given_up = sum((factor.given_up for factor in self.factors), arb(0))
        lower, upper = total - cut - alias, total + cut + given_up
        size = max(float(total), 1e-320)
        scale = float(lead) / size
        errors = Errors(float(alias) / size, float(cut) / size, float(given_up) / size, scale * doubt, scale * rounding)
        return self.leak + lower.max(arb(0)), self.leak + upper, errors

    def _cut(self, epsilon: Ball) -> Ball:
        """Σ beyond the last node of Δ/π·|integrand| ≤ e^{K−τε}·decay(S)/π·Σ Δ/s² ≤ e^{K−τε}·decay(S)/(π·last)."""
        last = float(self.frequencies[-1])
        decay = arb(self.gone)
        return ((self.cumulant - self.tau * epsilon + decay).exp() / (arb.pi() * arb(last))).upper()

    def _aliases(self, epsilon: float) -> Ball:
        """A bound of the aliases, remembered for all larger ε nearby: it falls with ε."""
        known, bound = self.known_alias
        if not known <= epsilon <= known + 1e-3 / self.tau:
            known = epsilon - 5e-4 / self.tau
            bound = self._alias(arb(known))
            self.known_alias = (known, bound)
        return bound

    def _alias(self, epsilon: Ball) -> Ball:
        """Both sides' aliases by the best tilt of the ladder."""
        high, low = arb("inf"), 1 / (arb(self.tau) * self.period_ball()).expm1()
        for tilt, bound in self.chernoff.items():
            chernoff = (arb(bound) - arb(tilt) * epsilon).exp()
            side = chernoff / (abs(arb(tilt) - arb(self.tau)) * self.period_ball()).expm1()
            if tilt > self.tau:
                high = high.min(side)
            else:
                low = low.min(side)
        return (high + low).upper()

    def period_ball(self) -> Ball:
        """2π/Δ for the float Δ that is used."""
        return 2 * arb.pi() / arb(self.step)


def rough_cumulants(factors: Sequence[Factor], tau: float) -> tuple[float, float, float]:
    """K, K′ and K″ of the composition in floats."""
    sums = [factor.rough(tau) for factor in factors]
    return math.fsum(row[0] for row in sums), math.fsum(row[1] for row in sums), math.fsum(row[2] for row in sums)


def chernoff_constant(tilt: float) -> Ball:
    """ln of sup_x (1 − e^{−x})e^{−τx} = τ^τ/(1+τ)^{1+τ}."""
    t = arb(tilt)
    return t * t.log() - (1 + t) * (1 + t).log()


def choose_tilt(factors: Sequence[Factor], log_delta: float) -> tuple[float, float]:
    """The tilt τ and the ε at which the saddle-point approximation of δ meets its target."""

    def gap(log_tau: float) -> float:
        tau = math.exp(log_tau)
        k, mean, variance = rough_cumulants(factors, tau)
        if not (math.isfinite(k) and math.isfinite(mean) and variance > 0):
            return -math.inf
        return _saddle(k, tau, mean, variance) - log_delta

    # the tilt that a Gaussian with about this variance would have
    variance = sum(factor.rough_variance() for factor in factors)
    start = 0.5 * math.log(max(-2 * log_delta, 1.0) / variance) if 0 < variance < math.inf else math.log(2.0)
    tau = math.exp(_root(gap, "no tilt reaches this δ", start=start, near=0.3))
    # a little below the saddle far, rare losses weigh much less; what that costs in rounding grows with the depth
    below = 1 - min(0.18, math.sqrt(1.5 / max(-log_delta, 1.0)))
    return below * tau, rough_cumulants(factors, tau)[1]


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
