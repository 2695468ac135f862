"""Moments of sampled Gaussians on a shifted line: certified at any frequency, at a cost that does not grow with it.

On Im x = θσ² the phase of the integrand becomes a decay, |A^{is}| = e^{−s·arg A} ≤ 1, and the strip of the trapezoid
sum ends at the real line, where the integral of the modulus is the moment itself: the error is free of s. In z = x/σ,
many Gaussians of about one σ share the nodes, the normal density and the cut (proofs/contour.md §4, "The shifted
line").
"""

from __future__ import annotations

import math

import numpy as np

from bursar.losses.engines.contour.complex_cut import DEEPEST, FARTHEST, complex_cut
from bursar.losses.engines.contour.line_sums import Line
from bursar.losses.engines.contour.sampled_members import WIDEST, Members, lift, tails, window
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.lattice import short
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_HEIGHTS = np.geomspace(1e-4, 1.7, 64)  # of the line, as angles θ of the smallest σ
_EDGES = np.array([1.3, 1.6, 1.9, 2.2, 2.6, 3.2, 4.0])  # of the strip's upper edge, in heights
_LIFT = 3.0  # the integrand may grow by e^3 on the line: rounding grows with it
_MOST_NODES = 60_000
_LIGHT = math.exp(-44.0)  # of the sum: lighter nodes are left out


def plan(members: Members, tau: float, close: float) -> tuple[float, float]:
    """The height of the line and the step of its nodes, both in z: the longest step, a gain in rounding weighed in."""
    low = float(members.sigma.min())
    heights = low * _HEIGHTS
    lifted = members.growth(tau, heights, close)
    edges = np.multiply.outer(heights, _EDGES)
    room = np.where(
        edges <= WIDEST * low,
        (edges - heights[:, None]) / (members.tolerance + members.growth(tau, edges, close)),
        0.0,
    )
    steps = 2 * math.pi * np.minimum(heights / members.tolerance, room.max(axis=1))
    allowed = lifted <= _LIFT
    if members.removed:
        allowed &= heights <= FARTHEST * members.soft
    best = int(np.argmax(np.where(allowed, steps * np.exp(-lifted / 8), 0.0)))
    return short(float(heights[best]), 24), short(0.98 * float(steps[best]), 8)


def left_out(members: Members, tau: float, height: float, close: float, z: Array, step: float) -> Array:
    """What the trapezoid sum and the window leave out of each moment, relative to it, at every frequency."""
    edges = height * _EDGES
    edges = edges[edges <= WIDEST * float(members.sigma.min())]
    gain = 2 * math.pi * (edges - height) / step
    if not len(edges) or float(gain.min()) <= 0 or not members.steady(tau):
        return np.full(len(members.sigma), np.inf)
    above = float((members.growth(tau, edges, close) - gain - np.log1p(-np.exp(-gain))).min())
    quadrature = 1 / math.expm1(2 * math.pi * height / step) + math.exp(min(above, 700.0))
    return SAFETY * 1.1 * (quadrature + tails(members, tau, lift(members, tau, height), float(z[0]), float(z[-1])))


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
    low, high = window(members, tau, lift(members, tau, height))
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
