"""The nodes of one sampled Gaussian on the main road, and what they leave unsure, in few operations: nearly everybody
asks for this.

A record is removed. All places are in units of σ, as in `bursar.losses.engines.training.rows`; every bound is that of
proofs/contour.md §4 and §9, and §12 says what is left out here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.contour.factors import NoContour
from bursar.losses.engines.contour.sampled_cut import heaviest, rough_variance
from bursar.numerics.lattice import short
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

MARGIN = 21.0  # what the nodes leave out is about e^{−21} of δ
THETAS = (2.5, 1.4, 0.7)  # of the lines on which the integrand is bounded
_PLAIN = (1.0, 2.5, 4.0)  # ln of q·e^u where the record shows: what the phase lifts
_MOST_NODES = 400
_FAR, _HEAVY, _USED = 1.5, 2.0, 0.75  # the largest tilt, in guesses; in heaviest tilts; the part of it that is used
STEEPEST = 300.0  # of u and of exponents: their exponentials are usual floats
_DEEPEST = 30.0  # of (z − c)/a


@dataclass(frozen=True, slots=True)
class Setting:
    """What is asked about: σ and q as floats, with how far every reading lies from them, so many copies, and ln δ."""

    sigma: float
    rate: float
    spread: float
    copies: int
    log_delta: float


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the nodes lie, chosen by guesses: any of it is sound."""

    cut: float
    soft: float
    low: float
    high: float
    step: float
    most: float
    """The largest tilt of the ladder."""


def shaped(asked: Setting) -> Shape:
    """A cut, a window and a step for a δ of this size."""
    sigma, rate, tolerance = asked.sigma, asked.rate, MARGIN + math.log(asked.copies)
    depth, square = tolerance - asked.log_delta, sigma * sigma
    guess = math.sqrt(2 * max(-asked.log_delta, 1.0) / rough_variance(sigma, rate, asked.copies))
    far = 1 + sigma * math.sqrt(2 * depth)
    steep = rate * math.exp(min((2 * far - 1) / (2 * square), STEEPEST))
    tilt = min(guess, 4 * far * (1 + steep) / steep)
    lifted = rate * math.exp(min((3 * far - 1) / (2 * square), STEEPEST))
    sharp = math.sqrt(far / (4 * tilt)) * (1.0 if lifted > 10 else math.sqrt((1 + lifted) / lifted))
    soft = short(min(sharp, 1.0), 5)
    cut = math.ceil(16 * (1 / sigma + math.sqrt(2 * depth * (1 + soft * soft)))) / 16
    most = min(_FAR * guess, _HEAVY * heaviest(sigma, rate, sigma * cut))
    order = 1 + _USED * most
    low = min(max(math.sqrt(2 * tolerance), 1.2 * order / sigma), cut)
    high = min(cut + soft * math.sqrt(2 * tolerance) + order / (sigma * (1 + 1 / soft**2)), cut + (_DEEPEST - 1) * soft)
    for _ in range(6):
        middle = (low + high) / 2
        enough = far_exponent(asked, cut, soft, order, middle) < -tolerance
        low, high = (low, middle) if enough else (middle, high)
    reach = math.sqrt(50 / rough_variance(sigma, rate, asked.copies))
    step = max(
        2 * math.pi * theta * sigma / (_base(theta, sigma, soft) + _phase(asked, 0.75 * tilt, reach, theta) + tolerance)
        for theta in THETAS[:2]
    )
    return Shape(cut, soft, -math.sqrt(2 * tolerance), high, short(0.95 * step, 5), most)


def _phase(asked: Setting, tilt: float, reach: float, theta: float) -> float:
    """About ln of what the integrand grows by on the line Im z = θσ because of its phase."""
    sine, cosine, grown = math.sin(theta), math.cos(theta), 0.0
    for plain in _PLAIN:
        z, odds = asked.sigma * (plain - math.log(asked.rate)) + 0.5 / asked.sigma, math.exp(plain)
        lifted = reach * math.atan2(odds * sine, 1 + odds * cosine)
        grown = max(grown, lifted + (1 + tilt) * math.log1p(odds) - 0.5 * z * z)
    return grown + 0.5


def _base(theta: float, sigma: float, soft: float) -> float:
    """ln of what the normal density and the cut grow by on the line Im z = θσ."""
    return (theta * sigma) ** 2 * (1 + 1 / soft**2) / 2


def far_exponent(asked: Setting, cut: float, soft: float, order: float, z: float) -> float:
    """ln of a bound of φ·A^a·χ·√(2π) at z, where Φ(−w) ≤ e^{−w²/2}."""
    u = (z - 0.5 / asked.sigma) / asked.sigma
    odds = math.log1p(asked.rate * math.expm1(min(u, 600.0))) + max(u - 600.0, 0.0)
    return order * odds - 0.5 * z * z - 0.5 * (max(z - cut, 0.0) / soft) ** 2


class Nodes:
    """Losses and masses at the nodes, with bounds of their errors."""

    def __init__(self, asked: Setting, shape: Shape) -> None:
        self.asked, self.shape = asked, shape
        sigma, rate, half = asked.sigma, asked.rate, 0.5 / asked.sigma
        first, last = math.floor(shape.low / shape.step), math.ceil(shape.high / shape.step)
        self.first, self.last = first * shape.step, last * shape.step
        steep, deep = (self.last - half) / sigma, (self.last - shape.cut) / shape.soft
        if last - first > _MOST_NODES or steep > STEEPEST or deep > _DEEPEST:
            raise NoContour("the nodes are too many or reach too far")
        self.fall = self.last + max(self.last - shape.cut, 0.0) / shape.soft**2  # of ln(φχ), at the last node
        z = np.arange(first, last + 1, dtype=np.float64) * shape.step
        y = rate * np.expm1((z - half) / sigma)
        self.odds = odds = np.log1p(y)
        self.farthest = max(abs(float(odds[0])), abs(float(odds[-1])))
        inverse = 1 / (1 + y)
        part = y * inverse
        self.grown = y + rate
        self.share = part + rate * inverse  # p = q·e^u/A
        far = np.abs(z)
        self.error = (4 * SAFETY * (asked.spread + UNIT) / sigma) * (far + half) * self.share
        self.error += SAFETY * ((ULPS + 4) * (UNIT + asked.spread) * np.abs(part) + (ULPS + 2) * UNIT * np.abs(odds))
        square = z * z
        log_mass = odds - 0.5 * square + math.log(shape.step / math.sqrt(2 * math.pi))
        self.rounding = 4 * square + (3 * ULPS + 40)  # of a tilted mass, in units of 2^−53, beside what is added below
        near = int(np.searchsorted(z, shape.cut - 9 * shape.soft))
        w = (shape.cut - z[near:]) / shape.soft
        log_mass[near:] += np.log([0.5 * math.erfc(place) for place in (-math.sqrt(0.5) * w).tolist()])
        self.rounding[near:] += (ULPS + 8) * (1 + w * w)
        self.rounding += 4 * np.abs(log_mass)
        self.log_mass, self.mass = log_mass, np.exp(log_mass)
        # Φ̄(y) ≤ ½e^{−y²/2}: what the cut takes from one copy, at most
        behind = max((shape.cut - 1 / sigma) / math.sqrt(1 + shape.soft**2), 0.0)
        self.lost = SAFETY * 0.5 * math.exp(-0.5 * behind * behind)

    def beyond(self, tau: float) -> float:
        """A bound of the integral right of the last node, relative to its least value (proofs/contour.md §9)."""
        edge, shape, sigma = self.last, self.shape, self.asked.sigma
        slope = self.fall - (1 + tau) / sigma
        if not slope > 0 or self.lost * (1 + tau) * (1 + sigma * (shape.cut + 10)) / sigma**2 > 0.01:
            return math.inf
        height = far_exponent(self.asked, shape.cut, shape.soft, 1 + tau, edge)
        return 2 * math.exp(min(height, 700.0)) / (slope * math.sqrt(2 * math.pi))

    def depth(self, theta: float) -> float:
        """ln of what quadrature leaves out of the moment on the real line, relative to it, but for a factor of 3."""
        sigma = self.asked.sigma
        return _base(theta, sigma, self.shape.soft) - 2 * math.pi * theta * sigma / self.shape.step

    def left_out(self, tau: float, depth: float | None = None) -> float:
        """What quadrature and window leave out of the moment, relative to it."""
        depth = min(map(self.depth, THETAS)) if depth is None else depth
        # 2/(e^x − 1) ≤ 3e^{−x} from e^x = 3 on
        quadrature = 3 * math.exp(depth) if depth < -1.1 else math.inf
        return SAFETY * 1.1 * (quadrature + math.exp(-0.5 * self.first * self.first) + self.beyond(tau))

    def cumulant_at_most(self, tilt: float) -> float:
        """An upper bound of K of one copy at a tilt, far from as close as a law's own."""
        exponent = self.log_mass + tilt * self.odds
        top = float(exponent.max())
        unsure = (1 + tilt) * float(self.error.max()) + UNIT * (float(self.rounding.max()) + 4 * tilt * self.farthest)
        unsure += self.left_out(tilt) + len(exponent) * UNIT
        if not (top < STEEPEST and unsure < 0.01):
            return math.inf
        return math.log(float(np.exp(exponent).sum())) + 2 * unsure
