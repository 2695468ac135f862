"""The main road: ε at δ of copies of one Poisson-sampled Gaussian, a record removed, as private training asks for it.

It is the contour of `engine` in fewer operations: one matrix over a ladder of tilts finds the saddle, the tilt and what
bounds the aliases; the nodes of the integral serve its decay too; both ends are one array. What it cannot serve it
refuses, and `solve` is asked (proofs/contour.md §12).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Answer
from bursar.losses.engines.contour.factors import NoContour
from bursar.losses.engines.contour.road_law import Law
from bursar.losses.engines.contour.road_nodes import Nodes, Setting, shaped
from bursar.losses.engines.contour.terms import Errors
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, relative_radius
from bursar.numerics.lattice import short
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_LADDER = np.geomspace(0.1, 1.0, 16)
_APART = _LADDER[None, :] - _LADDER[:, None]
with np.errstate(divide="ignore"):
    _ABOVE, _BELOW = (np.where(side > 0, 1 / np.abs(side), np.inf) for side in (_APART, -_APART))
_AWAY = math.log(2e8)  # aliases and the cut are pushed this far below δ
_MOST_LOSS = 14.0  # ln of by how much the sum's first term may exceed δ
_MOST_NODES = 60
_REACHES = np.geomspace(0.95, 6.0, 12)  # of the last node, in those of a Gaussian
_LARGEST = 690.0  # of exponents
_UNSURE = 1e-12  # of σ and q
_BLURRED = 0.5  # of what a moment may be off by, all copies together
_WIDE = 1e-8  # of ε: what is wider is left to others


class Choice(NamedTuple):
    """Where to sum: all of it guessed."""

    epsilon: float
    tau: float
    above: float
    below: float
    """Tilts whose Chernoff bounds keep the aliases small."""
    period: float
    lead: float
    """About ln of the sum's first term over δ."""


def epsilon_at(sigma: Ball, rate: Ball, copies: int, delta: Ball) -> Answer:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of so many copies, a record removed."""
    spread = 4 * UNIT + max(relative_radius(sigma), relative_radius(rate))
    if not spread < _UNSURE:
        raise NoContour("the parameters are not known precisely enough")
    asked = Setting(float(sigma), float(rate), spread, copies, float(delta.log()))
    nodes = Nodes(asked, shaped(asked))
    return Road(nodes, _chosen(nodes)).epsilon_at(delta)


def _chosen(nodes: Nodes) -> Choice:
    """The ε of the saddle point, and the tilt with the shortest period there, a loss in rounding weighed in."""
    asked, tilts, copies = nodes.asked, nodes.shape.most * _LADDER, nodes.asked.copies
    heavy = np.exp(np.minimum(nodes.log_mass + np.multiply.outer(tilts, nodes.odds), _LARGEST))
    sums = product(heavy, np.column_stack([np.ones_like(nodes.odds), nodes.odds, nodes.odds * nodes.odds]))
    total = sums[:, 0]
    mean = sums[:, 1] / total
    height, middle = copies * np.log(total), copies * mean
    varied = copies * np.maximum(sums[:, 2] / total - mean * mean, 1e-300)
    saddle = height - tilts * middle - np.log(tilts * (tilts + 1) * np.sqrt(2 * math.pi * varied))
    if not saddle[-1] < asked.log_delta < saddle[0]:
        raise NoContour("no tilt of the ladder reaches this δ")
    epsilon = float(np.interp(-asked.log_delta, -saddle, middle))
    lead = height - tilts * epsilon - asked.log_delta
    gaps = np.maximum(lead - np.log1p(tilts) - tilts * np.log1p(1 / tilts) + _AWAY, 1.0)
    gaps = np.where(1 + tilts < 0.92 * asked.sigma * nodes.fall, gaps, np.inf)  # others bound nothing
    above, below = gaps * _ABOVE, gaps * _BELOW
    plain = (_AWAY - asked.log_delta) / _LADDER
    low = np.minimum(below.min(axis=1), plain)
    periods = np.maximum(above.min(axis=1), low)
    price = np.where(lead <= _MOST_LOSS, periods * np.sqrt(1 + np.maximum(lead, 0.0) / 20), np.inf)
    at = int(np.argmin(price))
    if not math.isfinite(price[at]):
        raise NoContour("no tilt has a period")
    under = float(tilts[int(np.argmin(below[at]))]) if low[at] < plain[at] else 0.0
    period = 1.02 * float(periods[at]) / nodes.shape.most
    return Choice(epsilon, float(tilts[at]), float(tilts[int(np.argmin(above[at]))]), under, period, float(lead[at]))


class Road:
    """The sum along one line: moments at its nodes, and what is beyond them."""

    def __init__(self, nodes: Nodes, choice: Choice) -> None:
        self.nodes, self.choice, self.tau = nodes, choice, choice.tau
        self.copies, self.law = nodes.asked.copies, Law(nodes, choice.tau)
        self.cumulant = self.copies * arb(*self.law.moment).log1p()
        self.step = short(2 * math.pi / choice.period, 24)
        self.count, self.gone = self._reach()
        self.frequencies: Array = (
            np.arange(self.count + 1, dtype=np.float64) * self.step
        )  # exact: the step has few bits
        self._moments()

    def _reach(self) -> tuple[int, float]:
        """How many nodes, and a bound of ln|φ|^k from the last one on: by moments as far as they go, else by layers."""
        least, most, turn = self.law.by_moments()
        lead, layers = self.choice.lead + _AWAY, self.law.by_layers()
        usual = math.sqrt(2 * lead / (self.copies * least))
        wanted = lead - math.log(math.pi * usual)
        beyond = float(layers(np.array([turn]))[0])
        gap = -math.expm1(-2 * wanted / self.copies)
        inside = least * least - most * gap / 3
        if -beyond >= wanted and inside > 0:
            square = 6 / most * (least - math.sqrt(inside))
            count = self._counted(math.sqrt(square))
            square = min(count * self.step, turn) ** 2
            gone = square * (least - square * most / 12) * (1 - 1e-9)
            return count, max(0.5 * self.copies * math.log1p(-min(gone, 0.999)) * (1 - 1e-12), beyond)
        places = usual * _REACHES
        bounds = layers(places)
        enough = np.flatnonzero(bounds <= -wanted)
        if not len(enough):
            raise NoContour("the losses decay too slowly")
        last = int(enough[0])
        near = self.law.by_rungs(places[: last + 1]) if last else bounds[:0]
        first = int(np.append(near <= -wanted, True).argmax())
        rest = float(bounds[last]) if first == last else max(float(near[first]), float(bounds[last]))
        return self._counted(float(places[first])), rest * (1 - 1e-12)

    def _counted(self, reach: float) -> int:
        count = math.ceil(reach / self.step)
        if not 1 <= count < _MOST_NODES:
            raise NoContour(f"{count} moments are more than {_MOST_NODES}")
        return count

    def _moments(self) -> None:
        """Size and angle of each term, apart from e^{K(τ)−τε}, and what is unsure about them."""
        law, s, copies, tau = self.law, self.frequencies, self.copies, self.tau
        c, d, error = law.centred(s)
        error += 2 * law.missing(float(s[-1]))
        gone = c * (c - 2) + d * d  # |φ|² − 1 without cancellation where both are small
        if not float(gone.min()) > -0.5:
            raise NoContour("a single copy decays")
        size, turn = 0.5 * np.log1p(gone), np.arctan2(d, 1 - c)
        # |φ|² ≥ ½: ln(φ + e) moves by at most 1.5·e where e is small, and rounds in units of 1 − φ
        rounded = np.abs(size) + np.abs(turn)
        doubt = 1.5 * error + 4 * ULPS * UNIT * (2 * (c + np.abs(d)) + rounded)
        doubt *= SAFETY * copies
        if not float(doubt.max()) < _BLURRED:
            raise NoContour("the moments are not known precisely enough")
        self.drift = copies * arb(law.mean)
        self.share = np.exp(copies * size) / (np.hypot(tau, s) * np.hypot(tau + 1, s))
        self.share[0] /= 2
        self.angle = copies * turn - np.arctan2(s, tau) - np.arctan2(s, tau + 1)
        self.turned = copies * rounded
        self.doubt = SAFETY * summed(self.share, np.expm1(doubt))

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln of the sum at ε and its derivative, in floats."""
        phase = self.angle + self.frequencies * (float(self.drift) - epsilon)
        value = summed(self.share, np.cos(phase))
        turned = summed(self.share * self.frequencies, np.sin(phase))
        if not value > 0:
            raise NoContour("the sum is not positive")
        lead = float(self.cumulant) - self.tau * epsilon
        return lead + math.log(value * self.step / math.pi), turned / value - self.tau

    def evaluate(self, epsilons: Array) -> list[tuple[Ball, Ball, Errors]]:
        """Certified lower and upper ends of δ at each ε, as balls, and the error budget."""
        places = [arb(x) for x in epsilons.tolist()]
        apart = [self.drift - x for x in places]
        near = [float(gap) for gap in apart]
        slip = [float(abs(gap - arb(rough)).upper()) for gap, rough in zip(apart, near, strict=True)]
        phase = self.angle + np.multiply.outer(near, self.frequencies)
        values = product(np.cos(phase), self.share)
        turned = (ULPS + 4) * (1 + self.turned + np.abs(phase)) + (len(self.share) + 48)
        rounding = SAFETY * UNIT * product(turned, self.share)
        slope = SAFETY * summed(self.share, self.frequencies)
        found, alias_bound = [], self._alias(float(epsilons.min()))
        for x, value, unsure, off in zip(places, values.tolist(), rounding.tolist(), slip, strict=True):
            lead = (self.cumulant - arb(self.tau) * x).exp() * arb(self.step) / arb.pi()
            total = lead * arb(value, self.doubt + unsure + off * slope)
            # Σ beyond the last node of Δ/π·|integrand| ≤ e^{K−τε}·decay/(π·last)
            cut = (lead * (arb(self.gone).exp() / (arb(self.step) * arb(self.step) * self.count))).upper()
            alias, given_up = arb(alias_bound), arb(self.copies * self.nodes.lost)
            size = max(float(total), 1e-320)
            shares = (alias, cut, given_up, lead * self.doubt, lead * unsure)
            errors = Errors(*(float(share) / size for share in shares))
            found.append(((total - cut - alias).max(arb(0)), total + cut + given_up, errors))
        return found

    def _alias(self, epsilon: float) -> float:
        """An upper bound of the aliases on both sides (proofs/contour.md §2), for this ε and every larger one: floats
        err here by far less than 2 %.
        """
        period = 2 * math.pi / self.step
        low = 1.02 / math.expm1(min(self.tau * period, _LARGEST))
        high = self._side(self.choice.above, epsilon, period)
        return high + (min(low, self._side(self.choice.below, epsilon, period)) if self.choice.below else low)

    def _side(self, tilt: float, epsilon: float, period: float) -> float:
        bound = self.copies * self.nodes.cumulant_at_most(tilt) - math.log1p(tilt) - tilt * math.log1p(1 / tilt)
        bound += 1e-10 * (1 + abs(bound) + tilt * epsilon) - tilt * epsilon
        apart = min(abs(tilt - self.tau) * period * (1 - 1e-12), _LARGEST)
        return 1.02 * math.exp(bound) / math.expm1(apart) if bound < _LARGEST else math.inf

    def epsilon_at(self, delta: Ball) -> Answer:
        """Both ends of ε: Newton's method, then a step outwards on either side until balls agree that it is on its
        side.
        """
        near, target = self.choice.epsilon, self.nodes.asked.log_delta
        for _ in range(8):
            value, slope = self.rough(near)
            step = (value - target) / slope
            near -= step
            if not abs(step) > 1e-9 * near:  # the next is its square
                break
        if not (near > 0 and abs(step) <= 1e-9 * near):
            raise NoContour("the search for ε does not settle")
        value = math.exp(target - (float(self.cumulant) - self.tau * near)) * math.pi / self.step
        doubt = self.doubt + math.exp(self.gone) / (self.step * self.step * self.count)
        doubt = 1.1 * (doubt + 2000 * UNIT * float(self.share.sum())) / value
        up = doubt + 1.1 * self.copies * self.nodes.lost * math.exp(-target)
        down = doubt + 1.1 * self._alias(near) * math.exp(-target)
        if not up + down < 0.1:
            raise NoContour("the error budget is too large to certify an end")
        for _ in range(6):
            low, high = near + down / slope, near - up / slope
            first, second = self.evaluate(np.array([low, high]))
            above, below = first[0] > delta, second[1] <= delta
            if above and below:
                break
            up, down = up if below else 2 * up, down if above else 2 * down
        if not (above and below and 0 < low <= high and high - low <= _WIDE * high):
            raise NoContour("the error budget is too large to certify an end")
        return Answer(low, high, second[2].terms(), "contour", self.count + 1, self.tau)
