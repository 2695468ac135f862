"""What is known beforehand of the integrals behind sampled Gaussians of about one σ, in z = x/σ: how much the modulus
grows off the real line, where the window ends, and what lies beyond it or near the cut.

All bounds are relative to the moment and hold at every frequency (proofs/contour.md §4, "The shifted line").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.contour.complex_cut import DEEPEST
from bursar.numerics.arrays import Array

WIDEST = 3.0  # the largest angle at the edge of a strip: below π
_SOFT = 0.7  # in σ: a cut no sharper than that does little harm wherever it lies
_CELLS = np.linspace(0.0, 1.0, 161)


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
        return square - tau * np.log(np.cos(np.minimum(height / float(self.sigma.min()), WIDEST) / 2))

    def steady(self, tau: float) -> bool:
        """Whether each moment is certainly at least 1/1.1 (proofs/contour.md §4, "Window")."""
        if not self.removed:
            return True
        slack = self.lost * (1 + tau) * (1 + self.sigma * (self.cut + 10)) / self.sigma**2
        return bool(np.all(slack <= 0.01))


def lift(members: Members, tau: float, height: float) -> float:
    """ln of what the modulus grows by at any single place of the line."""
    if members.removed:
        return 0.5 * height * height * (1 + 1 / members.soft**2)
    return float(members.growth(tau, np.array([height]), math.inf)[0])


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
