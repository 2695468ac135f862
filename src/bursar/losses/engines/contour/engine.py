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
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from flint import arb

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.factors import Care, Factor, NoContour
from bursar.losses.engines.contour.saddle import rough_cumulants
from bursar.losses.engines.contour.terms import Errors, Sums
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, up
from bursar.numerics.lattice import short
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

MOST_NODES = 8_000
_GOOD = 1e-7  # of δ: what aliases and cut may take without choosing the nodes anew
_FEW = 80  # nodes; where more are needed, a more careful look at the decay pays
_PRECISE = math.log(2e8)  # aliases and the cut are pushed this far below δ
_ROUGH = math.log(1e3)  # where only an upper end is asked, and a thousandth more does no harm
_CANDIDATES = np.geomspace(1.0, MOST_NODES, 72)


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
        ladder: Sequence[float] = (),
        only_upper: bool = False,
    ) -> None:
        self.factors, self.leak, self.tau = factors, leak, tau
        self.known_alias: tuple[float, Ball] = (math.inf, arb(0))
        self.margin = _ROUGH if only_upper else _PRECISE
        self.given_up = sum((factor.given_up for factor in factors), arb(0))
        self.floor = max(factor.floor for factor in factors)
        self.spread = math.sqrt(max(rough_cumulants(factors, tau)[2], 1e-300))
        # tilts below −1 bound what the aliases on the low side are off from known ones
        self.mirrored = any(tilt < 0 for tilt in ladder)
        if only_upper:
            # aliases only add to the sum, so an upper bound needs no bound on them
            self.cumulant = sum((factor.cumulants([tau])[0] for factor in factors), arb(0))
            self.chernoff: dict[float, float] = {}
            self.period = 7 * self.spread
        else:
            self._bounds(ladder or self._usual_ladder())
            self.period = self._period(epsilon, log_delta)
        self.step = short(2 * math.pi / self.period, 24)
        self.reach = self._reach(epsilon, log_delta)
        count = math.ceil(self.reach / self.step)
        if count > MOST_NODES:
            raise NoContour(f"{count} nodes are more than {MOST_NODES}")
        self.frequencies = np.arange(count + 1, dtype=np.float64) * self.step  # exact: the step has few bits

    @cached_property
    def sums(self) -> Sums:
        """The moments at the nodes, once they are needed: how many nodes a tilt takes is known before."""
        return Sums(self.factors, self.tau, self.frequencies)

    def _usual_ladder(self) -> list[float]:
        """Other tilts on both sides; for losses of two scales also near ones, since far losses explode further up."""
        ladder = [self.tau + x / self.spread for x in (1.5, 3.0, 4.5, 6.5, 9.0)]
        near = (self.tau * x for x in (0.3, 0.6, 0.85, 1.07, 1.15, 1.3, 1.6))
        return ladder + [tilt for tilt in near if tilt < max(ladder)]

    def _bounds(self, ladder: Sequence[float]) -> None:
        """K at the tilt, and the logarithms of the Chernoff bounds at others, at ε = 0."""
        high = [tilt for tilt in ladder if tilt > 0]
        bounds = zip(*(factor.cumulants([self.tau, *high]) for factor in self.factors), strict=True)
        self.cumulant, *others = (sum(k, arb(0)) for k in bounds)
        self.chernoff = {tilt: up(k + chernoff_constant(tilt)) for tilt, k in zip(high, others, strict=True)}
        for tilt in ladder:
            if tilt < 0:
                mirrored = -1 - arb(tilt)  # exact, where a float might round
                bound = sum((factor.mirror(mirrored) for factor in self.factors), chernoff_constant(mirrored))
                self.chernoff[tilt] = up(bound)

    def _period(self, epsilon: float, log_delta: float) -> float:
        """The smallest B for which some of these bounds push both sides' aliases far below δ."""
        high, low = math.inf, math.inf if self.mirrored else (self.margin - log_delta) / self.tau
        for tilt, bound in self.chernoff.items():
            gap = bound - tilt * epsilon - log_delta + self.margin
            if tilt > self.tau:
                high = min(high, max(gap, 1.0) / (tilt - self.tau))
            elif tilt < self.tau and self.mirrored is (tilt < 0):
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
            if len(enough) and (care is Care.MOST or candidates[enough[0]] < _FEW * self.step):
                self.gone = float(gone[enough[0]])
                return float(candidates[enough[0]])
        raise NoContour("the losses decay too slowly")

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln of the sum at ε, known aliases taken off, and its derivative, in floats."""
        sums = self.sums
        terms = sums.share * np.exp(1j * (sums.angle + self.frequencies * (sums.near_drift - epsilon)))
        value = float(terms.real.sum()) * self.step / math.pi
        slope = -float(product(terms, sums.powers).real) * self.step / math.pi
        lead = float(self.cumulant) - self.tau * epsilon
        if self.mirrored:
            ones, odds = (float(part) for part in self._known(arb(epsilon)))
            scale = math.exp(-max(lead, -700.0))
            value, slope = value - (ones - odds) * scale, slope + odds * scale
        if value <= 0:
            raise NoContour("the sum is not positive")
        return lead + math.log(value), slope / value

    def _known(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Σ e^{−τnB} and Σ e^{−τnB}·e^{ε−nB}, n ≥ 1: at ε − nB, far below all losses, δ is 1 − e^{ε−nB}."""
        tau, period = arb(self.tau), self.period_ball()
        return 1 / (tau * period).expm1(), epsilon.exp() / ((tau + 1) * period).expm1()

    def _phase(self, epsilon: float) -> tuple[Array, float]:
        """The angle of each term, and by how much (drift − ε) may be off."""
        apart = self.sums.drift - arb(epsilon)
        near = float(apart)
        return self.sums.angle + self.frequencies * near, float(abs(apart - arb(near)).upper())

    def precise(self, epsilon: float) -> bool:
        """Whether the nodes still serve this ε well."""
        if epsilon < self.floor:
            return False
        errors = self.evaluate(epsilon)[2]
        return errors.aliasing + errors.truncation < _GOOD

    def evaluate(self, epsilon: float) -> tuple[Ball, Ball, Errors]:
        """Certified lower and upper ends of δ(ε), as balls, and the error budget."""
        if epsilon < self.floor:
            raise NoContour("what is given up is not known for so small an ε")
        x = arb(epsilon)
        phase, slip = self._phase(epsilon)
        value = float((self.sums.share * np.cos(phase)).sum())
        turned = (ULPS + 4) * (1 + self.sums.turn_size + np.abs(phase)) + len(phase) + 48
        rounding = SAFETY * summed(self.sums.share, UNIT * turned + slip * self.frequencies)
        lead = (self.cumulant - arb(self.tau) * x).exp() * arb(self.step) / arb.pi()
        total = lead * (arb(value) + arb(0, self.sums.doubt) + arb(0, rounding))
        cut, alias, given_up = self._cut(x), self._aliases(epsilon), self.given_up
        if self.mirrored:
            # both laws have mass 1 but for what is given up, so the known aliases may be off by that share
            ones, odds = self._known(x)
            total, alias, given_up = total - ones + odds, alias + given_up * odds, given_up * (1 + ones)
        lower, upper = total - cut - alias, total + cut + given_up
        size = max(float(total), 1e-320)
        scale = float(lead) / size
        errors = Errors(
            float(alias) / size, float(cut) / size, float(given_up) / size, scale * self.sums.doubt, scale * rounding
        )
        return self.leak + lower.max(arb(0)), self.leak + upper, errors

    def _cut(self, epsilon: Ball) -> Ball:
        """Σ beyond the last node of Δ/π·|integrand| ≤ e^{K−τε}·decay(S)/π·Σ Δ/s² ≤ e^{K−τε}·decay(S)/(π·last)."""
        last = float(self.frequencies[-1])
        decay = arb(self.gone)
        return ((self.cumulant - self.tau * epsilon + decay).exp() / (arb.pi() * arb(last))).upper()

    def _aliases(self, epsilon: float) -> Ball:
        """A bound of the unknown aliases, remembered for all ε nearby."""
        known, bound = self.known_alias
        if not known <= epsilon <= known + 1e-3 / self.tau:
            known = epsilon - 5e-4 / self.tau
            bound = self._alias(arb(known), arb(known) + arb(1.1e-3) / self.tau)
            self.known_alias = (known, bound)
        return bound

    def _alias(self, least: Ball, most: Ball) -> Ball:
        """Both sides' aliases by the best tilt of the ladder, for every ε from the least to the most: bounds at tilts
        above 0 fall with ε, others rise.
        """
        period = self.period_ball()
        high, low = arb("inf"), arb("inf") if self.mirrored else 1 / (arb(self.tau) * period).expm1()
        for tilt in self._nearest(float(least)):
            chernoff = (arb(self.chernoff[tilt]) - arb(tilt) * (least if tilt > 0 else most)).exp()
            side = chernoff / (abs(arb(tilt) - arb(self.tau)) * period).expm1()
            if tilt > self.tau:
                high = high.min(side)
            else:
                low = low.min(side)
        return (high + low).upper()

    def _nearest(self, epsilon: float) -> list[float]:
        """Of the ladder's tilts the best on each side, by floats: any of them is sound."""
        sizes = {t: bound - t * epsilon - abs(t - self.tau) * self.period for t, bound in self.chernoff.items()}
        low = [tilt for tilt in sizes if tilt < self.tau and self.mirrored is (tilt < 0)]
        high = [tilt for tilt in sizes if tilt > self.tau]
        return [min(side, key=sizes.__getitem__) for side in (low, high) if side]

    def period_ball(self) -> Ball:
        """2π/Δ for the float Δ that is used."""
        return 2 * arb.pi() / arb(self.step)
