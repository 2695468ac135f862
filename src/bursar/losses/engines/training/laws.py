"""The tilted laws of many sampled Gaussians on their nodes: cumulants, and characteristic functions with bounds of all
errors (proofs/contour.md §4 and §9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.training.rows import THETAS, Nodes, base, far_exponent
from bursar.numerics.arrays import Array, Known, Truths
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_COSINES, _SINES = np.cos(THETAS), np.sin(THETAS)
_LOG_COSINES = np.log(np.cos(THETAS / 2))
_LARGEST = 300.0  # of a log-weight


def rough_cumulants(nodes: Nodes, tilts: Array) -> Array:
    """K of all copies in floats, for each row at each of its tilts."""
    found = np.empty_like(tilts)
    for i in range(tilts.shape[1]):
        exponent = nodes.log_mass + tilts[:, i, None] * nodes.loss
        top = exponent.max(axis=1)
        found[:, i] = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1))
    return nodes.rows.copies[:, None] * found


@dataclass(frozen=True)
class Tilted:
    """The normalised laws at a tilt for each row, and what is unsure about them."""

    nodes: Nodes
    tau: Array
    weights: Array
    weight_error: Array
    cumulant: Array
    """K of one copy."""
    doubt: Array
    """By how much K may be off."""
    missing: Array
    """What quadrature and window leave out, relative to the moment, at frequency 0."""
    mean: Array
    apart: Array
    """Losses less their mean."""
    sound: Truths
    """Whether bounds of first order hold."""


def still_growth(nodes: Nodes, tau: Array) -> Array:
    """ln of what the modulus of the integrand grows by on each line Im z = θσ at frequency 0."""
    own = base(nodes.rows, nodes.shape.soft, removed=nodes.shape.removed)
    return own if nodes.shape.removed else own - tau[:, None] * _LOG_COSINES


def moment_left_out(nodes: Nodes, tau: Array, growth: Array | float = 0.0) -> Array:
    """What quadrature and window leave out of the moments, relative to them; ``growth`` is what the modulus grows by on
    each line Im z = θσ because of its phase.
    """
    rows, shape = nodes.rows, nodes.shape
    own = still_growth(nodes, tau) + growth
    depth = (own - 2 * math.pi * THETAS * (rows.sigma / shape.step)[:, None]).min(axis=1)
    # 2/(e^x − 1) ≤ 3e^{−x} from e^x = 3 on; nodes too far apart for that prove nothing
    quadrature = np.where(depth < -1.1, 3 * np.exp(depth), np.inf)
    low, high = nodes.z[:, 0], nodes.last
    if not shape.removed:
        lift = -tau * np.log1p(-rows.rate)
        return np.asarray(SAFETY * (quadrature + np.exp(lift - low * low / 2) + np.exp(lift - high * high / 2)))
    slack = nodes.lost * (1 + tau) * (1 + rows.sigma * (shape.cut + 10)) / rows.sigma**2
    whole = SAFETY * 1.1 * (quadrature + np.exp(-low * low / 2) + beyond(nodes, tau))
    return np.where(slack <= 0.01, whole, np.inf)


def beyond(nodes: Nodes, tau: Array) -> Array:
    """A bound of the integral right of the last node where a record is removed: as ln A rises at most at 1/σ, the
    exponent falls from there on at least at this slope. Nodes left out are covered as well, since it falls.
    """
    rows, shape, edge = nodes.rows, nodes.shape, nodes.last
    slope = edge + np.maximum(edge - shape.cut, 0.0) * shape.soft**-2.0 - (1 + tau) / rows.sigma
    with np.errstate(invalid="ignore", divide="ignore"):
        height = np.exp(np.minimum(far_exponent(rows, shape.cut, shape.soft, 1 + tau, edge), 700.0))
        far = 2 * height / (slope * math.sqrt(2 * math.pi))
    return np.where((edge > 0) & (slope > 0), far, np.inf)


def moments_at(nodes: Nodes, tau: Array) -> tuple[Array, Array, Array, Truths]:
    """Log-weights at the tilts, M − 1 of one copy, a bound of its error, and whether bounds of first order hold."""
    exponent = tau[:, None] * nodes.loss
    log_weights = nodes.log_mass + exponent
    mass, small = np.exp(nodes.log_mass), np.abs(exponent) < 1
    grown = np.exp(np.minimum(log_weights, _LARGEST))
    terms = np.where(small, mass * np.expm1(np.where(small, exponent, 0.0)), grown - mass)
    value, sizes = terms.sum(axis=1), np.abs(terms)
    errors = weight_errors(nodes, tau, exponent, log_weights)
    top = log_weights.max(axis=1, keepdims=True)
    heavy = log_weights > top - 60
    sound = (np.max(np.where(heavy, errors + nodes.odds_error, 0.0), axis=1) < 1e-3) & (top[:, 0] < _LARGEST)
    kept = np.where(np.isfinite(log_weights), errors, 0.0)
    slack = 2.2 * (sizes * kept).sum(axis=1) + tau * (grown * nodes.odds_error).sum(axis=1)
    slack += (nodes.shape.count + 8) * UNIT * sizes.sum(axis=1)
    missing = moment_left_out(nodes, tau) + nodes.lost
    return log_weights, value, SAFETY * (slack + missing * (2 + np.abs(value))), sound & (value > -0.5)


def weight_errors(nodes: Nodes, tau: Array, exponent: Array, log_weights: Array) -> Array:
    """Relative errors of the tilted masses."""
    sizes = np.abs(np.where(np.isfinite(log_weights), nodes.log_mass, 0.0)) + np.abs(exponent) + nodes.z**2
    return np.asarray(nodes.mass_error + tau[:, None] * nodes.odds_error + UNIT * (ULPS + 4 + 4 * sizes))


def tilted(nodes: Nodes, tau: Array) -> Tilted:
    """The laws at these tilts."""
    log_weights, value, error, sound = moments_at(nodes, tau)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = (weights * nodes.loss).sum(axis=1)
    unsure = weight_errors(nodes, tau, tau[:, None] * nodes.loss, log_weights)
    unsure = np.where(weights > 0, unsure, 0.0)
    unsure = unsure + (weights * unsure).sum(axis=1, keepdims=True) + 4 * UNIT
    with np.errstate(invalid="ignore"):
        cumulant, doubt = np.log1p(value), error / (1 + value - error) + 2 * ULPS * UNIT * np.abs(np.log1p(value))
    sound = sound & (error < 0.01 * (1 + value))
    apart = nodes.loss - mean[:, None]
    return Tilted(nodes, tau, weights, unsure, cumulant, doubt, moment_left_out(nodes, tau), mean, apart, sound)


def phase_growth(law: Tilted, reach: Array) -> Array:
    """ln of a bound of the mean of e^{s·|arg A|} under the tilted laws, for each row and θ, at frequencies up to
    ``reach``: an upper sum over the cells between nodes, and tails.
    """
    nodes, tau = law.nodes, law.tau
    rows, shape = nodes.rows, nodes.shape
    # between nodes the logarithm of the integrand rises above its larger end by at most its concave part's curvature
    bend = 1 + (shape.soft**-2.0 if shape.removed else tau / (4 * rows.sigma**2))
    cells = np.maximum(law.weights[:, 1:], law.weights[:, :-1]) * np.exp(shape.step**2 / 8 * bend)[:, None]
    with np.errstate(over="ignore"):
        share = rows.rate[:, None] * np.exp(
            np.minimum((nodes.z - 0.5 / rows.sigma[:, None]) / rows.sigma[:, None], 600.0)
        )
    low, high = nodes.z[:, 0], nodes.last
    if shape.removed:
        left, right = 0.6 * np.exp(-low * low / 2), 1.1 * beyond(nodes, tau)  # the moments are at least 1/1.1
    else:
        lift = -tau * np.log1p(-rows.rate)
        left, right = np.exp(lift - low * low / 2), np.exp(lift - high * high / 2)
    found = np.empty((len(rows), len(THETAS)))
    for i, (cosine, sine) in enumerate(zip(_COSINES, _SINES, strict=True)):
        angle = np.arctan2(share * sine, 1 - rows.rate[:, None] + share * cosine)
        lifted = np.exp(np.minimum(reach[:, None] * angle, 700.0))
        mass = (cells * lifted[:, 1:]).sum(axis=1) + left * lifted[:, 0]
        found[:, i] = np.log(mass + right * np.exp(np.minimum(reach * THETAS[i], 700.0)))
    found[reach[:, None] * THETAS > 700] = np.inf
    return np.maximum(found, 0.0) + 0.02


def logarithms(law: Tilted, step: Array, last: Array) -> tuple[Array, Array, Known, Known]:
    """φ·e^{−ism} − 1 = −C + iD at frequencies 0, Δ, 2Δ, …: −C and D with bounds of their errors, which hold up to the
    last frequency of each row.
    """
    count = int(last.max()) + 1
    frequencies = np.arange(count) * step[:, None]
    turn = step[:, None] * law.apart
    first = np.empty(turn.shape, dtype=complex)
    first.real, first.imag = -2 * np.square(np.sin(0.5 * turn)), np.sin(turn)
    table, sums = first.copy(), np.zeros((len(step), count), dtype=complex)
    for j in range(1, count):
        if j > 1:
            table = table * (1 + first) + first
        sums[:, j] = np.einsum("ij,ij->i", law.weights, table)
    size, square = np.abs(law.apart), np.square(law.apart)
    n = law.nodes.shape.count
    shift = law.nodes.odds_error + 2 * UNIT * (size + np.abs(law.nodes.loss))
    error_d = (law.weights * (law.weight_error * size + shift)).sum(axis=1)
    error_c = (law.weights * (law.weight_error * square / 2 + size * shift + shift * shift / 2)).sum(axis=1)
    variance, mean_size = (law.weights * square).sum(axis=1), (law.weights * size).sum(axis=1)
    adding = (2 * n + 24) * UNIT
    grown = variance[:, None] * np.square(frequencies)
    tables = 32 * count
    left_out = 2 * (moment_left_out(law.nodes, law.tau, phase_growth(law, step * last)) + law.nodes.lost)
    unsure_c = error_c[:, None] * np.square(frequencies) + UNIT * (3 * ULPS + 72 + tables) * grown
    unsure_c = SAFETY * (unsure_c + adding * np.minimum(grown, 4.0)) + left_out[:, None]
    unsure_d = (error_d + (UNIT * (ULPS + 40 + tables) + adding) * mean_size)[:, None] * frequencies
    return frequencies, variance, (sums.real, unsure_c), (sums.imag, SAFETY * unsure_d + left_out[:, None])
