"""How fast the moments of many sampled Gaussians decay together: bounds that hold for every larger frequency
(proofs/contour.md §3 and §4, "Many at once").

    layers    each tilted density, cut into uniform laws on nested intervals; far out, where nothing else says anything
    rungs     values of every |φ|² at equispaced frequencies, and a bound of its second derivative between them
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bursar.losses.engines.contour.factors import Care, Decay, least_gap
from bursar.losses.engines.contour.sampled_group import Group, odds
from bursar.numerics.arrays import Array
from bursar.numerics.products import product
from bursar.numerics.trusted import SAFETY, UNIT

_CELLS = {Care.LEAST: np.linspace(0.0, 1.0, 25), Care.MOST: np.linspace(0.0, 1.0, 97)}
_PEAKS = 2
_LIGHT = 1e-7
_FEW = 300  # laws: with more, 1 − gap ≤ e^{−gap} loses little, and all layers go into one histogram of widths
_WIDTHS = 64  # of them in a factor of e
_ENOUGH = -45.0  # of ln|φ| by layers: where rungs end
_RUNG, _RUNGS = 1.0, 512  # how far apart, in standard deviations, and how many


def crowd_decay(groups: Sequence[Group], tau: float, care: Care) -> Decay:
    """The best bound that this care affords."""
    tables = [(group.counts, *_layers(*_cells(group, tau, care))) for group in groups]
    far = _by_layers(tables)
    if care is Care.LEAST:
        return far
    return _by_rungs(groups, tau, far)


def _cells(group: Group, tau: float, care: Care) -> tuple[Array, Array]:
    """Cells of each tilted loss in rising order of z: a lower bound of the density on each, and its width."""
    members, nodes = group.members, group.nodes(tau)
    values, errors = group.cumulant(tau, nodes)
    weights = nodes.log_mass + tau * nodes.loss
    light = min(_LIGHT, 0.01 / float(group.counts.max()))
    heavy = weights > weights.max(axis=1, keepdims=True) + math.log(light)
    low = nodes.z[heavy.argmax(axis=1)]
    high = nodes.z[len(nodes.z) - 1 - heavy[:, ::-1].argmax(axis=1)]
    edges = low[:, None] + (high - low)[:, None] * _CELLS[care]
    sigma, power = members.sigma[:, None], (1 + tau) if members.removed else -tau
    doubt, log_odds = odds(members, edges)
    u = (edges - 0.5 / sigma) / sigma
    # ln of the density of L is ln φ + (p+1)·ln A − u + ln χ + const; its convex part bends by at most (p+1)/(4σ²) in z
    height = -0.5 * edges * edges + (power + 1) * log_odds - u
    if members.removed:
        w = (members.cut - edges) / members.soft
        height += np.where(w >= 1, -0.8 * np.exp(-0.5 * np.square(np.maximum(w, 1.0))), -1e9)
    height += (np.log(members.sigma / (members.rate * math.sqrt(2 * math.pi))) - values - errors)[:, None]
    cell = (edges[:, 1:] - edges[:, :-1]).max(axis=1, keepdims=True)
    sag = max(power + 1, 0.0) * cell * cell / (32 * sigma * sigma)
    height -= 1e-8 * (1 + np.abs(height)) + abs(power + 1) * doubt
    least = np.minimum(height[:, 1:], height[:, :-1]) - sag
    width = np.maximum(np.diff(log_odds, axis=1) * (1 - 1e-9) - doubt[:, 1:] - doubt[:, :-1], 0.0)
    return np.exp(np.minimum(least, 700.0)), width


def _layers(density: Array, width: Array) -> tuple[Array, Array]:
    """Shares and widths of uniform laws whose sum lies below each density: around its peak, and around that of what is
    left.
    """
    shares, widths = [], []
    place = np.arange(density.shape[1])
    for _ in range(_PEAKS):
        peak = density.argmax(axis=1)[:, None]
        rising = np.where(place <= peak, density, np.inf)
        falling = np.where(place >= peak, density, np.inf)
        before = np.minimum.accumulate(rising[:, ::-1], axis=1)[:, ::-1]
        after = np.minimum.accumulate(falling, axis=1)
        under = np.where(place <= peak, before, after)
        order = np.argsort(-under, axis=1, kind="stable")
        # where this lies above a height it is an interval: all cells at least as high, side by side
        heights = np.take_along_axis(under, order, axis=1)
        wide = np.cumsum(np.take_along_axis(width, order, axis=1), axis=1)
        share = (heights - np.append(heights[:, 1:], np.zeros((len(heights), 1)), axis=1)) * wide
        shares.append(np.where(np.isfinite(share), np.maximum(share, 0.0), 0.0))
        widths.append(wide)
        density = density - under
    share, wide = np.concatenate(shares, axis=1), np.concatenate(widths, axis=1)
    total = share.sum(axis=1, keepdims=True)
    return share * (1 - 1e-9) / np.maximum(total, 1.0), wide


def _by_layers(tables: Sequence[tuple[Array, Array, Array]]) -> Decay:
    """|φ(s)| ≤ 1 − Σ share·(1 − |sinc(s·width/2)|) for each law; logarithms are added up."""
    if sum(len(counts) for counts, _, _ in tables) > _FEW:
        share = np.concatenate([(counts[:, None] * shares).ravel() for counts, shares, _ in tables])
        wide = np.concatenate([widths.ravel() for _, _, widths in tables])
        kept = (share > 0) & (wide > 0)
        # widths are rounded down to a few: a narrower law decays less
        rank = np.floor(np.log(wide[kept]) * _WIDTHS).astype(int)
        first = int(rank.min(initial=0))
        total = np.bincount(rank - first, weights=share[kept])
        half = 0.5 * np.exp((np.arange(len(total)) + first) / _WIDTHS) * (1 - 1e-9)

        def together(s: Array) -> Array:
            gone: Array = -product(least_gap(np.multiply.outer(s, half)), total) * (1 - 1e-9)
            return gone

        return together

    def apart(s: Array) -> Array:
        gone = np.zeros_like(s)
        for counts, shares, widths in tables:
            gaps = np.array([(least_gap(0.5 * x * widths) * shares).sum(axis=1) for x in s.tolist()])
            gone += product(np.log1p(-np.minimum(gaps * (1 - 1e-9), 1 - 1e-15)), counts)
        return gone

    return apart


def _by_rungs(groups: Sequence[Group], tau: float, far: Decay) -> Decay:
    """Values of ψ = |φ|² at rungs: between two, at a distance d, ψ exceeds the larger by at most v·d²/4."""
    total = math.fsum(group.rough(tau, tau)[2] for group in groups)
    gap = _RUNG / math.sqrt(max(total, 1e-300))
    ends = gap * np.unique(np.geomspace(16, _RUNGS, 11).astype(int))
    enough = np.flatnonzero(far(ends) < _ENOUGH)
    last = round(float(ends[enough[0] if len(enough) else -1]) / gap)
    rungs = np.arange(last + 1, dtype=np.float64) * gap
    steps = np.zeros(last)
    for group in groups:
        variance, start = _variance(group, tau), 0
        for counts, shifted in group.lines(tau):
            most, start = variance[start : start + len(counts)], start + len(counts)
            for part, value, error in shifted.blocks(rungs):
                real, imag = value.real, value.imag
                # ψ = (1 + real)² + imag²
                gone = -real * (2 + real) - imag * imag - error * (2 * np.abs(1 + real) + 2 * np.abs(imag) + error)
                sag = most[part, None] * gap * gap / 4 * (1 + 1e-9)
                least = np.minimum(gone[:, 1:], gone[:, :-1]) - sag - 16 * UNIT
                steps += 0.5 * product(counts[part], np.log1p(-np.clip(least * (1 - 1e-9), 0.0, 1 - 1e-9)))
    beyond = float(far(rungs[-1:] * (1 - 1e-12))[0])
    # for every larger frequency: the worst of this and all later steps, and of what comes after the last
    worst = np.maximum(np.maximum.accumulate(steps[::-1])[::-1] * (1 - 1e-9), beyond)

    def bound(s: Array) -> Array:
        best = far(s)
        place = np.clip(np.floor(s / gap * (1 - 1e-12)).astype(int), 0, last - 1)
        return np.where(s < rungs[-1], np.minimum(best, worst[place]), best)

    return bound


def _variance(group: Group, tau: float) -> Array:
    """An upper bound of the variance of each tilted loss: |ln φ| has second derivative −v at 0, and ψ″ ≥ −2v. From the
    nodes of the real line, with what they leave out.
    """
    nodes = group.nodes(tau)
    exponent = nodes.log_mass + tau * nodes.loss
    weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = np.einsum("ij,ij->i", weights, nodes.loss)
    apart = nodes.loss - mean[:, None]
    variance = np.einsum("ij,ij->i", weights, np.square(apart))
    edge = np.abs(apart[:, [0, -1]]).max(axis=1)
    missing = 2 * group.missing(nodes, tau)
    most: Array = SAFETY * 1.01 * variance + missing * (2 * variance + 36 + 4 * edge**2)
    return most
