"""Many different Poisson-sampled Gaussians as one factor: arrays over (mechanism, node, frequency).

Those of about one σ form a group, which shares nodes in z = x/σ and a cut (proofs/contour.md §4, "Many at once").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from bursar.losses.engines.contour.crowd_decay import crowd_decay
from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments
from bursar.losses.engines.contour.line_sums import log_of
from bursar.losses.engines.contour.sampled_cut import choose_cut, heaviest, rough_variance
from bursar.losses.engines.contour.sampled_group import Group
from bursar.losses.engines.contour.sampled_members import Members
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, relative_radius, up
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

MOST_COPIES = 10**8
"""In all: with more, the line's rounding would show."""
_RATIO, _APART = 1.35, 1.0  # by how much σ, and the place 1/σ where the record shows, may differ in a group


@dataclass(frozen=True)
class Sampled:
    """One of many: copies of a Gaussian of this σ, sampled at this rate."""

    sigma: Ball
    rate: Ball
    count: int


class SampledCrowd(Factor):
    """Different sampled Gaussians in one direction; exact up to a loss of ``given_up`` in δ."""

    def __init__(self, parts: Sequence[Sampled], log_delta: float, *, removed: bool) -> None:
        self.count = sum(part.count for part in parts)
        self.removed = self.mirrored = removed
        spread = 4 * UNIT + max(max(relative_radius(part.sigma), relative_radius(part.rate)) for part in parts)
        if spread > 1e-12 or self.count > MOST_COPIES:
            raise ArithmeticError("the parameters are not known precisely enough, or there are too many copies")
        parts = sorted(parts, key=lambda part: float(part.sigma))
        sigma = np.array([float(part.sigma) for part in parts])
        rate = np.array([float(part.rate) for part in parts])
        counts = np.array([float(part.count) for part in parts])
        self.parameters = sigma, rate, counts
        self.variance = math.fsum(
            c * rough_variance(s, q, 1) for s, q, c in zip(sigma.tolist(), rate.tolist(), counts.tolist(), strict=True)
        )
        tilt = math.sqrt(2 * max(-log_delta, 1.0) / self.variance)
        depth = max(28.0 + math.log(self.count) - log_delta, 1.0)
        self.groups: list[Group] = []
        heavy = math.inf
        for low, high in _alike(sigma):
            some = slice(low, high)
            cut, soft, lost = math.inf, 1.0, 0.0
            if removed:
                cut, soft, lost = self._cut(parts[low].sigma, float(rate[some].max()), depth, tilt)
                self.given_up += counts[some].sum() * arb(lost)
                heavy = min(heavy, *(heaviest(s, q, cut * s) for s, q in zip(sigma[some], rate[some], strict=True)))
            tolerance = 28.0 + math.log(self.count)
            each = np.full(high - low, lost)
            members = Members(sigma[some], rate[some], spread, removed, cut, soft, each, tolerance)
            self.groups.append(Group(members, counts[some]))
        self.heavy = heavy
        self._roughs: dict[float, tuple[float, float, float]] = {}
        self._decays: dict[tuple[float, Care], Decay] = {}

    @staticmethod
    def _cut(sigma: Ball, rate: float, depth: float, tilt: float) -> tuple[float, float, float]:
        """The cut of a group whose smallest σ this is, in units of σ, and a bound of the mass that it takes from any
        member: κ is a mean of Φ̄ at two places, and both lie further out for a larger σ.
        """
        smallest = float(sigma)
        softness, place = choose_cut(smallest, rate, depth, tilt, seen=True)
        cut, soft = place / smallest, softness / smallest
        kappa = normal.cdf((1 / sigma - arb(cut)) / (1 + arb(soft) ** 2).sqrt())
        return cut, soft, up(kappa)

    def rough_variance(self) -> float:
        """About q²(e^{1/σ²} − 1) for each copy."""
        return self.variance

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all copies as sums over the nodes, in floats; remembered, since searches come back."""
        if tau not in self._roughs:
            self._roughs[tau] = self._rough(tau, tau)
        return self._roughs[tau]

    def _rough(self, tau: float, most: float) -> tuple[float, float, float]:
        rows = [group.rough(tau, most) for group in self.groups]
        k, first, second = (math.fsum(row[i] for row in rows) for i in range(3))
        return k, first, second

    def rough_cumulants(self, tilts: Array) -> Array:
        """K of all copies at several tilts, on the same nodes."""
        most = float(tilts.max())
        return np.array([self._rough(tilt, most)[0] for tilt in tilts.tolist()])

    def mirror(self, tilt: Ball) -> Ball:
        """A bound of K(−1 − t): `without_record` for each copy, in floats that are rounded up."""
        t = up(tilt)
        sigma, rate, counts = self.parameters
        most = rate * (1 + 4e-12)
        if not float(most.max()) < 1:
            return arb("inf")
        with np.errstate(over="ignore", invalid="ignore"):
            power = np.expm1(-t * np.log1p(-most) * (1 + 1e-12))
            grown = np.maximum(power - rate * t, 0.0) + 1e-11 * (power + rate * t)
            bounds = np.log1p(grown * (np.expm1((1 + 1e-11) / sigma**2)) * (1 + 1e-11))
            total = summed(counts, bounds) * (1 + 1e-10)
        return arb(total) if math.isfinite(total) else arb("inf")

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K in balls, with all errors of the nodes; at other tilts than the first it may be anything, where the nodes
        say nothing.
        """
        first, *others = tilts
        found = [self._cumulant(first, max(tilts))]
        for tau in others:
            try:
                found.append(self._cumulant(tau, max(tilts)))
            except ArithmeticError:
                found.append(arb(0, math.inf))
        return found

    def _cumulant(self, tau: float, most: float) -> Ball:
        total = doubt = 0.0
        for group in self.groups:
            values, errors = group.cumulant(tau, group.nodes(most))
            total += summed(group.counts, values)
            slack = (len(values) + len(self.groups) + 8) * UNIT * summed(group.counts, np.abs(values))
            doubt += summed(group.counts, errors) + slack
        return arb(total, SAFETY * doubt)

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """Each group on a shifted line; logarithms are added up over the mechanisms, a few at a time."""
        drift = arb(0)
        size, turn, error, sizes = (np.zeros(len(frequencies)) for _ in range(4))
        side, blocks = (1 if self.removed else -1), 1
        for counts, shifted in (each for group in self.groups for each in group.lines(tau)):
            drift += sum((arb(count) * arb(mean) for count, mean in zip(counts, shifted.mean, strict=True)), arb(0))
            for part, value, doubt in shifted.blocks(frequencies):
                logs, turns, unsure = log_of(value.real, value.imag, doubt, counts[part, None])
                size += logs.sum(axis=0)
                turn += turns.sum(axis=0)
                error += unsure.sum(axis=0)
                sizes += np.abs(logs).sum(axis=0) + np.abs(turns).sum(axis=0)
                blocks += 1
        # at most 64 are added up at a time, then the sums
        error += UNIT * (64 + 2 * blocks + ULPS) * sizes
        return Moments(side * drift, size, side * turn, SAFETY * error)

    def decay(self, tau: float, care: Care) -> Decay:
        """The best bound of the decay at this tilt; it is remembered, since one tilt serves several ε."""
        if (tau, care) not in self._decays:
            self._decays[tau, care] = crowd_decay(self.groups, tau, care)
        return self._decays[tau, care]


def _alike(sigma: Array) -> list[tuple[int, int]]:
    """Where groups start and end in a rising list of σ's."""
    groups, start = [], 0
    for i in range(1, len(sigma) + 1):
        if i == len(sigma) or sigma[i] > _RATIO * sigma[start] or 1 / sigma[start] - 1 / sigma[i] > _APART:
            groups.append((start, i))
            start = i
    return groups
