"""The tilted law of one sampled Gaussian on the main road: its moment, its characteristic function and how fast that
decays, with bounds of all errors (proofs/contour.md §3, §4 and §12).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bursar.losses.engines.contour.factors import NoContour, least_gap
from bursar.losses.engines.contour.road_nodes import MARGIN, STEEPEST, THETAS, Nodes
from bursar.numerics.arrays import Array
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_PRECISE = 1e-8  # of the weights: bounds of first order hold by far, and densities to 1e-6


class Law:
    """The law at a tilt: normalised weights, centred losses, and the errors of sums over them."""

    def __init__(self, nodes: Nodes, tau: float) -> None:
        self.nodes, self.tau = nodes, tau
        odds, n = nodes.odds, len(nodes.odds)
        exponent = tau * odds
        if float(exponent[-1]) > STEEPEST:
            raise NoContour("the losses are too large")
        terms, weights = nodes.mass * np.expm1(exponent), np.exp(nodes.log_mass + exponent)
        sizes = np.abs(terms)
        value = float(terms.sum())
        unsure = (1 + tau) * nodes.error + UNIT * (nodes.rounding + 4 * np.abs(exponent))
        self.still = nodes.left_out(tau) + nodes.lost
        error = 2.2 * summed(sizes, unsure) + tau * summed(weights, nodes.error) + (n + 8) * UNIT * float(sizes.sum())
        self.moment = value, SAFETY * (error + self.still * (2 + abs(value)))
        """M − 1 of one copy, and how far it may be off."""
        weights /= float(weights.sum())
        self.weights, self.mean = weights, summed(weights, odds)
        self.apart = odds - self.mean
        self.size = size = np.abs(self.apart)
        unsure += summed(weights, unsure) + (n + 12) * UNIT  # the normaliser's own error is shared by all weights
        if not (float(unsure.max()) < _PRECISE and self.still < _PRECISE and self.moment[1] < 0.01 * (1 + value)):
            raise NoContour("the law is not known precisely enough")
        shift = nodes.error + 2 * UNIT * (size + np.abs(odds))
        moved, square = unsure * size, size * size
        self.error_d = summed(weights, moved + shift)
        self.error_c = summed(weights, moved * size / 2 + shift * (size + shift / 2))
        self.spread, self.variance = summed(weights, size), summed(weights, square)
        self.fourth = summed(weights, square * square)

    def missing(self, reach: float) -> float:
        """What the nodes and the cut leave out of the characteristic function at frequencies up to this: by the line
        that is best on the real line, or by others where the phase lifts the integrand too much there.
        """
        best = math.inf
        for theta in sorted(THETAS, key=self.nodes.depth):
            best = min(best, self.nodes.depth(theta) + self._growth(reach, theta))
            if best < -MARGIN - math.log(self.nodes.asked.copies):
                break
        return 2 * (self.nodes.left_out(self.tau, best) + self.nodes.lost)

    def _growth(self, reach: float, theta: float) -> float:
        """ln of a bound of the mean of e^{s·arg A} on the line Im z = θσ, at frequencies up to this."""
        nodes, shape = self.nodes, self.nodes.shape
        if reach * theta > 700:
            return math.inf
        cells = np.maximum(self.weights[1:], self.weights[:-1])
        bend = math.exp(shape.step**2 / 8 * (1 + 1 / shape.soft**2))
        angle = np.arctan2(nodes.grown * math.sin(theta), (1 - nodes.asked.rate) + nodes.grown * math.cos(theta))
        lifted = np.exp(reach * angle)
        tails = 0.6 * math.exp(-0.5 * nodes.first**2) * float(lifted[0])
        tails += 1.1 * nodes.beyond(self.tau) * math.exp(reach * theta)
        mass = bend * summed(cells, lifted[1:]) + tails
        return max(math.log(mass), 0.0) + 0.02 if mass < math.inf else math.inf

    def centred(self, s: Array) -> tuple[Array, Array, Array]:
        """C = 2Σw·sin²(s(L−m)/2) and D = Σw·sin(s(L−m)), and a bound of what both are off by, beside `missing`."""
        phase = np.multiply.outer(s, self.apart)
        d = product(np.sin(phase), self.weights)
        phase *= 0.5
        half = np.sin(phase)
        half *= half
        c = 2 * product(half, self.weights)
        rounding = (2 * ULPS + len(self.weights) + 4) * UNIT
        error = (self.error_c * s + (self.error_d + rounding * self.spread)) * s + rounding * c
        return c, d, SAFETY * error

    def by_rungs(self, rungs: Array) -> Array:
        """Bounds of ln|φ|^k from each rung but the last up to the last one (proofs/contour.md §3)."""
        c, d, error = self.centred(rungs)
        error += 2 * self.missing(float(rungs[-1]))
        gone = 2 * c - c * c - d * d - 2 * error * (1 + np.abs(d) + error) - 16 * UNIT
        edge = max(abs(float(self.apart[0])), abs(float(self.apart[-1])))
        variance = 1.01 * self.variance + 2 * self.still * (2 * self.variance + 36 + 4 * edge**2)
        floors = np.minimum(gone[1:], gone[:-1]) - variance * np.square(np.diff(rungs)) / 4
        least = np.minimum.accumulate(floors[::-1])[::-1]
        return 0.5 * self.nodes.asked.copies * np.log1p(-np.clip(least * (1 - 1e-9), 0.0, 0.999))

    def by_moments(self) -> tuple[float, float, float]:
        """v, m and s₁: up to s₁, 1 − |φ|² is at least s²v − s⁴m/12, which rises (proofs/contour.md §3)."""
        missing = 2 * self.still
        edge = max(abs(float(self.apart[0])), abs(float(self.apart[-1])))
        least = 0.99 * self.variance - missing * (2 * self.variance + 36 + 4 * edge**2)
        most = 1.01 * (self.fourth + 3 * self.variance**2) + 4 * missing * (8 * self.fourth + 2600 + 16 * edge**4)
        if not least > 0:
            raise NoContour("the losses hardly vary")
        return least, most, math.sqrt(6 * least / most)

    def by_layers(self) -> Callable[[Array], Array]:
        """Frequencies s ↦ bounds of ln|φ|^k from there on, by uniform laws below the density (proofs/contour.md §3)."""
        nodes = self.nodes
        sigma, step = nodes.asked.sigma, nodes.shape.step
        sag = (2 + self.tau) * step * step / (32 * sigma * sigma)
        heights = self.weights / nodes.share
        density = np.minimum(heights[1:], heights[:-1]) * (sigma / step * math.exp(-sag) * (1 - 1e-6))
        width = np.maximum(np.diff(nodes.odds) * (1 - 1e-9) - nodes.error[1:] - nodes.error[:-1], 0.0)
        shares, widths = _layers(density, width)
        shares *= (1 - 1e-8) / max(float(shares.sum()), 1.0)
        return lambda s: (
            nodes.asked.copies
            * np.log1p(-np.minimum(product(least_gap(np.multiply.outer(s, widths / 2)), shares), 1 - 1e-15))
        )


def _layers(density: Array, width: Array) -> tuple[Array, Array]:
    """Shares and widths of uniform laws whose sum lies below the density, around its peak."""
    peak = int(np.argmax(density))
    under = density.copy()
    np.minimum.accumulate(under[peak:], out=under[peak:])
    under[: peak + 1] = np.minimum.accumulate(under[peak::-1])[::-1]
    order = np.argsort(-under, kind="stable")
    heights, widths = under[order], np.cumsum(width[order])
    below = np.append(heights[1:], 0.0)
    return (heights - below) * widths, widths
