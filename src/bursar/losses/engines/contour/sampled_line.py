"""Moments of sampled Gaussians on a shifted line: certified at any frequency, at a cost that does not grow with it.

On Im x = θσ² the phase of the integrand becomes a decay, |A^{is}| = e^{−s·arg A} ≤ 1, and the strip of the trapezoid
sum ends at the real line, where the integral of the modulus is the moment itself: the error is free of s. In z = x/σ,
many Gaussians of about one σ share the nodes, the normal density and the cut (proofs/contour.md §4, "The shifted
line").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.contour.complex_cut import DEEPEST, FARTHEST, complex_cut
from bursar.losses.engines.contour.line_sums import Line
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.lattice import short
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_HEIGHTS = np.geomspace(1e-4, 1.7, 64)  # of the line, as angles θ of the smallest σ
_EDGES = np.array([1.3, 1.6, 1.9, 2.2, 2.6, 3.2, 4.0])  # of the strip's upper edge, in heights
_WIDEST = 3.0  # the largest angle at the upper edge: below π
_LIFT = 3.0  # the integrand may grow by e^3 on the line: rounding grows with it
_SOFT = 0.7  # in σ: a cut no sharper than that does little harm wherever it lies
_CELLS = np.linspace(0.0, 1.0, 161)
_MOST_NODES = 60_000
_LIGHT = math.exp(-44.0)  # of the sum: lighter nodes are left out


@dataclass(frozen=True)
class Members:
    """Sampled Gaussians that share nodes z, where x = σz, and a cut Φ((cut − z)/soft); one direction."""

    sigma: Array
    rate: Array
    spread: float
    """Every reading of σ and q lies within this relative distance of the float."""
    removed: bool
    cut: float
    soft: float
    lost: Array
    """The mass that the cut takes from each."""
    tolerance: float
    """The trapezoid sum is to err by e^{−tolerance} of the moment."""

    def growth(self, tau: float, height: Array, near_cut: float) -> Array:
        """ln of what the modulus grows by on the line at this height, at any frequency; ``near_cut`` is `near_cut`'s
        bound.
        """
        square = 0.5 * height * height
        if self.removed:
            depth = 0.5 * np.square(height / self.soft)
            # a cut so sharp that it grows by e^depth does little harm where it lies far from the law
            return square + np.minimum(depth, np.logaddexp(0.0, near_cut + np.logaddexp(0.0, depth)))
        return square - tau * np.log(np.cos(np.minimum(height / float(self.sigma.min()), _WIDEST) / 2))

    def steady(self, tau: float) -> bool:
        """Whether each moment is certainly at least 1/1.1 (proofs/contour.md §4, "Window")."""
        if not self.removed:
            return True
        slack = self.lost * (1 + tau) * (1 + self.sigma * (self.cut + 10)) / self.sigma**2
        return bool(np.all(slack <= 0.01))


def near_cut(members: Members, tau: float) -> float:
    """ln of a bound of ½∫ φ·A^{1+τ}·e^{−w²/2} dz, w = (cut − z)/soft, relative to the moment, for every member: how
    much lies where the cut is soft. By an upper sum over cells, and the tails beyond.
    """
    if not members.removed or members.soft > _SOFT:
        return math.inf  # not worth the time
    z, w, height = _cells(members, tau)
    # the concave part rises above its chord by at most its curvature times cell²/8, the convex part lies below it
    cell, stiff = float(z[1] - z[0]) * (1 + 1e-9), 1 + 1 / members.soft**2
    height = height - 0.5 * w * w
    tops = np.maximum(height[:, 1:], height[:, :-1]) + stiff * cell * cell / 8
    top = float(tops.max())
    with np.errstate(divide="ignore"):
        inside = top + np.log(np.exp(tops - top).sum(axis=1) * cell / math.sqrt(8 * math.pi))
    beyond = np.logaddexp(-0.5 * float(z[0]) ** 2, _log_far(members, tau, 0.0, float(z[-1])))
    return float((np.logaddexp(inside, beyond) - _log_moment_floor(members, tau)).max()) + 0.01  # for rounding


def _cells(members: Members, tau: float) -> tuple[Array, Array, Array]:
    """The edges of cells, where they lie before the cut, and ln of e^{−z²/2}·A^{1+τ} there for each member."""
    low, high = window(members, tau, 0.0)
    z = low + (high - low) * _CELLS
    sigma, rate = members.sigma[:, None], members.rate[:, None]
    u = z / sigma - 0.5 / sigma**2
    log_odds = np.log1p(rate * np.expm1(np.minimum(u, 300.0))) + np.maximum(u - 300.0, 0.0)
    return z, (members.cut - z) / members.soft, (1 + tau) * log_odds - 0.5 * z * z


def _log_moment_floor(members: Members, tau: float) -> Array:
    """ln of a lower bound of each moment where a record is removed: a lower sum over cells, or that it is nearly 1."""
    z, w, height = _cells(members, tau)
    cell = float(z[1] - z[0]) * (1 - 1e-8)
    # the convex part sags by at most its curvature (1+τ)/(4σ²) times cell²/8; at w ≥ 1 ln Φ(w) ≥ −0.8·e^{−w²/2}
    kept = np.where(w >= 1, height - 0.8 * np.exp(-0.5 * np.square(np.maximum(w, 1.0))), -1e9)
    floors = np.minimum(kept[:, 1:], kept[:, :-1]) - (1 + tau) * cell * cell / (31 * members.sigma[:, None] ** 2)
    most = floors.max(axis=1)
    moment = most + np.log(np.exp(floors - most[:, None]).sum(axis=1) * cell / math.sqrt(2 * math.pi))
    floor: Array = np.maximum(moment - 1e-10 * np.abs(most) - 1e-3, -0.1)
    return floor


def plan(members: Members, tau: float, close: float) -> tuple[float, float]:
    """The height of the line and the step of its nodes, both in z: the longest step, a gain in rounding weighed in."""
    low = float(members.sigma.min())
    heights = low * _HEIGHTS
    lifted = members.growth(tau, heights, close)
    edges = np.multiply.outer(heights, _EDGES)
    room = np.where(
        edges <= _WIDEST * low,
        (edges - heights[:, None]) / (members.tolerance + members.growth(tau, edges, close)),
        0.0,
    )
    steps = 2 * math.pi * np.minimum(heights / members.tolerance, room.max(axis=1))
    allowed = lifted <= _LIFT
    if members.removed:
        allowed &= heights <= FARTHEST * members.soft
    best = int(np.argmax(np.where(allowed, steps * np.exp(-lifted / 8), 0.0)))
    return short(float(heights[best]), 24), short(0.98 * float(steps[best]), 8)


def window(members: Members, tau: float, lifted: float) -> tuple[float, float]:
    """Where nodes are needed on a line that lifts by so much; what lies beyond is `tails`' business."""
    depth = members.tolerance + lifted + 1
    if not members.removed:
        edge = math.sqrt(2 * (depth - tau * float(np.log1p(-members.rate).min())))
        return -edge, edge
    stiff = 1 + 1 / members.soft**2
    top = max((members.cut / members.soft**2 + (1 + tau) / float(members.sigma.min())) / stiff, members.cut)
    lead = max(float(_far_exponent(members, tau, top).max()), 0.0)
    edge = top + math.sqrt(2 * (depth + lead + 2) / stiff)
    return -math.sqrt(2 * depth), min(edge, members.cut - DEEPEST * members.soft)


def _far_exponent(members: Members, tau: float, z: float) -> Array:
    """ln of a bound right of the cut: A^a ≤ 2^a·max(1, q^a·e^{au}), Φ(−w) ≤ e^{−w²/2}."""
    order = 1 + tau
    grown = order * (np.log(members.rate) + z / members.sigma - 0.5 / members.sigma**2)
    beyond = max(z - members.cut, 0.0) / members.soft
    exponent: Array = order * math.log(2) + np.maximum(grown, 0.0) - 0.5 * z * z - 0.5 * beyond * beyond
    return exponent


def left_out(members: Members, tau: float, height: float, close: float, z: Array, step: float) -> Array:
    """What the trapezoid sum and the window leave out of each moment, relative to it, at every frequency."""
    edges = height * _EDGES
    edges = edges[edges <= _WIDEST * float(members.sigma.min())]
    gain = 2 * math.pi * (edges - height) / step
    if not len(edges) or float(gain.min()) <= 0 or not members.steady(tau):
        return np.full(len(members.sigma), np.inf)
    above = float((members.growth(tau, edges, close) - gain - np.log1p(-np.exp(-gain))).min())
    quadrature = 1 / math.expm1(2 * math.pi * height / step) + math.exp(min(above, 700.0))
    return SAFETY * 1.1 * (quadrature + tails(members, tau, _lift(members, tau, height), float(z[0]), float(z[-1])))


def _lift(members: Members, tau: float, height: float) -> float:
    """ln of what the modulus grows by at any single place of the line."""
    if members.removed:
        return 0.5 * height * height * (1 + 1 / members.soft**2)
    return float(members.growth(tau, np.array([height]), math.inf)[0])


def tails(members: Members, tau: float, lifted: float, low: float, high: float) -> Array:
    """The integrals of the modulus beyond the first and the last node, which bound the nodes left out, relative to the
    moment.
    """
    if not members.removed:
        lift = lifted - tau * np.log1p(-members.rate)
        both: Array = np.exp(lift - 0.5 * low * low) + np.exp(lift - 0.5 * high * high)
        return both
    right = _log_far(members, tau, lifted, high)
    if float(right.max()) > -members.tolerance:  # the moment itself may be far larger than 1
        right = right - _log_moment_floor(members, tau)
    return math.exp(lifted - 0.5 * low * low) + np.exp(np.minimum(right, 700.0))


def _log_far(members: Members, tau: float, lifted: float, high: float) -> Array:
    """ln of a bound of the integral right of a place beyond the cut: from there the exponent falls at least at the
    slope that it has.
    """
    slope = high + (high - members.cut) / members.soft**2 - (1 + tau) / members.sigma
    if high < members.cut:
        return np.full(len(members.sigma), np.inf)
    far = lifted + _far_exponent(members, tau, high) - 0.5 * math.log(math.pi / 2)
    bound: Array = np.where(slope > 0, far - np.log(np.where(slope > 0, slope, 1.0)), np.inf)
    return bound


def odds(members: Members, z: Array, height: float) -> tuple[Complexes, Array]:
    """ln A on the line for each member and node, and a bound of its error: the imaginary part is never below 0."""
    sigma, rate = members.sigma[:, None], members.rate[:, None]
    u = (z - 0.5 / sigma) / sigma
    angle = height / sigma
    capped = np.exp(np.minimum(u, 300.0))  # its square is a float
    real = rate * (capped * np.cos(angle) - 1)
    grown = rate * capped
    imag = grown * np.sin(angle)
    square = real * (2 + real) + imag * imag  # |A|² − 1
    size = np.hypot(1 + real, imag)
    small = np.abs(square) <= 0.5
    modulus = np.where(small, 0.5 * np.log1p(np.where(small, square, 0.0)), np.log(size))
    log = np.empty(u.shape, dtype=complex)
    log.real, log.imag = modulus + np.maximum(u - 300.0, 0.0), np.arctan2(imag, 1 + real)
    doubt = 4 * (members.spread + UNIT) * (np.abs(z) / sigma + 0.5 / sigma**2 + angle)
    moved = grown * (doubt + (3 * ULPS + 8) * UNIT + members.spread) + rate * (4 * UNIT + members.spread)
    apart = np.minimum(np.hypot(real, imag), 1.0)
    error = moved / size + 5 * (ULPS + 8) * UNIT * apart + (ULPS + 4) * UNIT * np.abs(log)
    return log, SAFETY * (error + 4 * math.exp(-300.0) / rate)


def line(members: Members, tau: float, close: float) -> Line:
    """The weights and the losses on the line at this tilt, with all their errors; ``close`` is `near_cut`'s bound."""
    height, step = plan(members, tau, close)
    low, high = window(members, tau, _lift(members, tau, height))
    first, last = math.floor(low / step), math.ceil(high / step)
    if last - first > _MOST_NODES:
        raise ArithmeticError(f"{last - first} nodes on the line are too many")
    z = np.arange(first, last + 1, dtype=np.float64) * step
    if members.removed:
        z = z[z <= members.cut - (DEEPEST + 0.1) * members.soft]
    log, log_error = odds(members, z, height)
    missing = left_out(members, tau, height, close, z, step)
    power = 1 + tau if members.removed else -tau
    shift, cut, cut_error = np.zeros(len(z)), np.ones(len(z), dtype=complex), np.zeros(len(z))
    if members.removed:
        w = (members.cut - z) / members.soft
        shift, cut, cut_error = complex_cut(w, height / members.soft)
        # the place itself is rounded: |φ(w − iv)| times how far it may be off
        off = 4 * (members.spread + UNIT) * (abs(members.cut) + np.abs(z) + height) / members.soft
        cut_error = cut_error + off * np.exp(0.5 * (height / members.soft) ** 2 - 0.5 * w * w - shift)
    exponent = shift - 0.5 * z * z + power * log.real
    top = exponent.max(axis=1, keepdims=True)
    turn = power * log.imag - z * height
    sizes = z * z + height * height + np.abs(z * height) - 2 * shift + abs(power) * np.abs(log) + np.abs(top)
    relative = abs(power) * log_error + UNIT * (2 * ULPS + 16 + 4 * sizes)
    scale = np.exp(exponent - top)
    weights = scale * np.exp(1j * turn) * cut
    error = scale * (np.abs(cut) * relative + cut_error)
    return _light(weights, log, error, log_error, missing)


def _light(weights: Complexes, log: Complexes, error: Array, log_error: Array, missing: Array) -> Line:
    """The line without the nodes that weigh next to nothing for every member; what they weigh counts as missing."""
    sums = np.abs(weights.sum(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (np.abs(weights) + error) / sums
    kept = ~(shares.max(axis=0) <= _LIGHT)
    gone = shares[:, ~kept].sum(axis=1)
    return Line(weights[:, kept], log[:, kept], error[:, kept], log_error[:, kept], missing + 1.1 * gone)
