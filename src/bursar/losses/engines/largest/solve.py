"""ε by the size of the largest loss: every layer of compositions has a tilt of its own.

Where one loss that is rare and large is likelier than many small ones, no tilt brings the whole law near ε. The
compositions are told apart by their largest loss: those in which it lies between two bounds are a measure with moments
of its own (`layer`), and that has a tilt. δ is the sum over the layers (proofs/largest.md).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Answer, Losses
from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.factors import Factor
from bursar.losses.engines.envelope.choice import Ladder
from bursar.losses.engines.envelope.engine import Envelope
from bursar.losses.engines.envelope.factor import LaplaceFactor, PointsFactor
from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.envelope.solve import end_of, target_of
from bursar.losses.engines.largest.cutting import cut, empty, mass
from bursar.losses.engines.largest.layer import Kind, Layer
from bursar.losses.engines.largest.layers import Group, Layers
from bursar.losses.places import Law
from bursar.numerics.arrays import CALM
from bursar.numerics.balls import Ball

_DEPTH = 20.0  # by how much, as a logarithm, what no place of a law shows stays below δ
_TRIES, _STEPS = 4, 60
_COARSE = 1e-4  # relative: the width that is asked while ε is looked for
_SETTLED = 0.1  # of a period: a line serves every ε this near
_MOST_LOOKED_AT = 1 << 27  # moments, of which no more than usual may matter
_SHARE = 1.2  # of the width asked: for the sums, of which about half is the distance between them


@CALM
def epsilon_at(losses: Losses, delta: Ball, width: float, most: int) -> Answer:
    """Both ends of the smallest ε ≥ 0 with δ(ε) ≤ δ."""
    leak, log_delta = target_of(losses, delta)
    parts = Parts(losses, log_delta)
    near, coarse = parts.layers.guess(), max(width, _COARSE)
    for _ in range(_TRIES):
        sums = Sums(parts, leak, near, coarse, most)
        found = sums.root(near)
        if abs(found - near) < _SETTLED * sums.period:
            fine = sums if coarse == width else Sums(parts, leak, found, width, most)
            return fine.certified(fine.root(found), delta, width)
        near = found
    raise NoEnvelope("the search for ε does not settle")


class Parts:
    """The kinds of releases with their laws, and the layers by which compositions are told apart."""

    def __init__(self, losses: Losses, log_delta: float) -> None:
        self.laws: list[Law] = []
        self.counts: list[int] = []
        self.leaks: list[Ball] = []
        self.others: list[Factor] = []
        for loss, count in losses:
            depth = _DEPTH + math.log(count) - log_delta
            factor = loss.envelope_factor(count, depth)
            if factor is not None and (factor.gaussian_part() is not None or isinstance(factor, LaplaceFactor)):
                self.others.append(factor)
                continue
            law = factor.law if isinstance(factor, PointsFactor) else loss.lattice_law(depth)
            if law is None or law.panels is not None:
                raise NoEnvelope("the places of a loss are too many to be listed, or not in order")
            self.laws.append(law)
            self.counts.append(count)
            self.leaks.append(loss.infinite_mass())
        if not self.laws:
            raise NoEnvelope("no loss is large and rare")
        self.log_delta = log_delta
        self.layers = Layers(list(zip(self.laws, self.counts, strict=True)), self.others, log_delta)
        top = self.layers.bounds[-1]
        pairs = [cut(law, top) for law in self.laws]
        self.beyond = [mass(above) for _, above in pairs]
        self.kept = [law for law, _ in pairs]

    @property
    def given_up(self) -> Ball:
        """What losses above all layers, and those that no place shows, may add to δ."""
        total = sum((factor.given_up for factor in self.others), arb(0))
        for law, above, count in zip(self.laws, self.beyond, self.counts, strict=True):
            total += count * (above + (arb(law.log_lost).exp() if law.log_lost > -math.inf else 0))
        return total.upper()

    def factors(self, group: Group) -> list[Factor]:
        """The compositions whose largest loss is in these layers."""
        bounds, kinds = self.layers.bounds, []
        for law, count, leak, above in zip(self.kept, self.counts, self.leaks, self.beyond, strict=True):
            whole, gone = law, leak + above
            if group.last + 1 < len(bounds):
                whole, larger = cut(whole, bounds[group.last])
                gone = gone + mass(larger)
            if group.first == 0:
                kinds.append(Kind(PointsFactor(whole, count, gone), None))
                continue
            low, inside = cut(whole, bounds[group.first - 1])
            rare = None if empty(inside) else PointsFactor(inside, 1, arb(0))
            kinds.append(Kind(PointsFactor(low, count, gone + mass(inside)), rare))
        if group.first == 0:
            return [*self.others, *(kind.low for kind in kinds)]
        return [Layer(kinds, self.others, bounds[group.last])]


class Sums:
    """The sums of the layers that matter at ε, and bounds of the others."""

    def __init__(self, parts: Parts, leak: Ball, near: float, width: float, most: int) -> None:
        self.leak, self.log_delta = leak, parts.log_delta
        self.given_up = parts.given_up
        self.envelopes: list[Envelope] = []
        self.bounds: list[tuple[float, Ball]] = []
        for group in parts.layers.groups(near):
            factors = parts.factors(group)
            if group.summed:
                # of all compositions few moments matter where there are many copies
                ladder = Ladder(factors, self.log_delta, most if group.first else _MOST_LOOKED_AT, at=near)
                line = ladder.line(near, self.log_delta, _SHARE * width)
                for factor in factors:
                    if isinstance(factor, Layer):
                        factor.exact = line.exact
                self.envelopes.append(Envelope(factors, arb(0), line))
            else:
                cumulant = sum((factor.cumulants([group.tilt])[0] for factor in factors), arb(0))
                self.bounds.append((group.tilt, cumulant + chernoff_constant(group.tilt)))
        if not self.envelopes:
            raise NoEnvelope("no layer of losses reaches ε")
        self.period = min(one.line.period for one in self.envelopes)

    def root(self, near: float) -> float:
        """Where the sums meet δ, in floats."""
        x = near
        for _ in range(_STEPS):
            values, slopes = zip(*(one.rough(x) for one in self.envelopes), strict=True)
            total = float(np.logaddexp.reduce(values))
            slope = sum(math.exp(value - total) * slope for value, slope in zip(values, slopes, strict=True))
            step = (total - self.log_delta) / slope
            limit = 0.2 * self.period
            x -= min(max(step, -limit), limit)
            if not x > 0:
                raise NoEnvelope("ε is too close to 0 to be told from it")
            if abs(step) <= 1e-11 * x or abs(x - near) > 3 * self.period:
                break
        return x

    def evaluate(self, epsilon: float) -> tuple[Ball, Ball]:
        """Certified lower and upper ends of δ(ε)."""
        lower, upper, x = self.leak, self.leak + self.given_up, arb(epsilon)
        for one in self.envelopes:
            low, high, _ = one.evaluate(epsilon)
            lower, upper = lower + low, upper + high
        for tilt, bound in self.bounds:
            upper = upper + (bound - arb(tilt) * x).exp()
        return lower, upper

    def certified(self, near: float, delta: Ball, width: float) -> Answer:
        """Step outwards from the root until the balls agree that each end is on its side."""
        fine = 0.1 * width * near
        steep = max(one.tau for one in self.envelopes)
        first = min(0.2 * fine, 0.01 / steep)
        high = end_of(near, 1, first, fine, lambda x: self.evaluate(x)[1] <= delta)
        low = end_of(near, -1, first, fine, lambda x: self.evaluate(x)[0] > delta)
        errors = self.envelopes[-1].evaluate(near)[2]
        nodes = sum(one.line.nodes for one in self.envelopes)
        return Answer(max(low, 0.0), max(high, 0.0), errors, "largest loss", nodes, steep)
