"""Contours for many questions at once, a row for each: at which tilt to sum, with which period and how many nodes, and
the certified ends of δ that the sums give (proofs/contour.md §§1–3 and §9).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from bursar.losses.engines.contour.line_sums import log_of
from bursar.losses.engines.training.decay import decay
from bursar.losses.engines.training.laws import (
    Tilted,
    logarithms,
    moments_at,
    phase_growth,
    rough_cumulants,
    still_growth,
    tilted,
)
from bursar.losses.engines.training.rows import (
    CLOSE,
    DEEPEST,
    ROUGH,
    SHAPE,
    Nodes,
    Rows,
    Shape,
    closer,
    nodes,
    rough_variance,
    shaped,
    short,
)
from bursar.numerics.arrays import Array, Integers, Truths
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_LADDER = np.geomspace(0.08, 1.0, 18)
_FAR = 2.6  # how far the ladder goes, in Gaussian guesses of the saddle
_AWAY, _ROUGH_AWAY = math.log(1e8), math.log(300.0)  # aliases and the cut are pushed this far below δ
_MOST_LOSS = 14.0  # ln of by how much the sum's first term may exceed δ
_REACHES = np.geomspace(4.0, 200.0, 28)  # of the last node, in steps
MOST_NODES = 100
_BLOCK = 64  # rows


@dataclass(frozen=True)
class Contours:
    """Where each row is summed. Only guesses go into it: any of it serves any row, more or less closely."""

    shape: Shape
    tau: Array
    above: Array
    below: Array
    """Tilts whose Chernoff bounds keep the aliases small; 0 below where δ ≤ 1 does."""
    step: Array
    reach: Array
    """The frequency from which on the integrand is negligible."""
    last: Array
    """How many steps it lies from 0."""
    fit: Truths
    """Which rows can be served at all."""

    @property
    def count(self) -> int:
        """How many frequencies the longest row takes."""
        return int(self.last.max()) + 1

    def part(self, some: Integers) -> Contours:
        """Those of some rows."""
        return Contours(self.shape.part(some), *(getattr(self, name)[some] for name in _CONTOUR))

    def put(self, some: Integers, new: Contours) -> None:
        """Take others for some rows."""
        for name in _CONTOUR:
            getattr(self, name)[some] = getattr(new, name)
        for name in SHAPE:
            getattr(self.shape, name)[some] = getattr(new.shape, name)

    def blocks(self) -> Iterator[Integers]:
        """A few rows at a time that take about as many terms: their arrays stay in the processor's nearer memory."""
        order = np.argsort(np.where(self.fit, self.last * self.shape.counts, 0.0), kind="stable")
        order = order[self.fit[order]]
        while len(order):
            yield order[:_BLOCK]
            order = order[_BLOCK:]


_CONTOUR = tuple(field.name for field in fields(Contours))[1:]


def chernoff_constant(tilt: Array) -> Array:
    """ln of τ^τ/(1+τ)^{1+τ}."""
    return np.asarray(tilt * np.log(np.maximum(tilt, 1e-300)) - (1 + tilt) * np.log1p(tilt))


def contours(rows: Rows, *, removed: bool, close: bool = True) -> Contours:
    """The tilt with the shortest period for each row, and how far to sum there: closely, or for a rough bound."""
    variance = rough_variance(rows)
    most = _FAR * np.maximum(rows.epsilon / variance - 0.5, np.sqrt(-0.5 * rows.log_delta / variance))
    shape = shaped(rows, most, removed=removed, margin=CLOSE if close else ROUGH)
    if len(rows) <= _BLOCK:
        return _contours(rows, shape, most, close)
    order = np.argsort(shape.counts, kind="stable")
    blocks = [order[i : i + _BLOCK] for i in range(0, len(order), _BLOCK)]
    parts = [_contours(rows.part(some), shape.part(some), most[some], close) for some in blocks]
    found = parts[0].part(np.zeros(len(rows), dtype=np.int64))
    for some, part in zip(blocks, parts, strict=True):
        found.put(some, part)
    return found


def _contours(rows: Rows, shape: Shape, most: Array, close: bool) -> Contours:
    grid, away = nodes(rows, shape), _AWAY if close else _ROUGH_AWAY
    tilts = most[:, None] * _LADDER
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        heights = rough_cumulants(grid, tilts)
        useful = np.isfinite(heights)
        if shape.removed:  # tilts at which the integrand does not fall from the last node on bound nothing
            edge = np.minimum((shape.first + shape.counts - 1) * shape.step, shape.cut + DEEPEST * shape.soft)
            fall = edge + np.maximum(edge - shape.cut, 0.0) * shape.soft**-2.0
            useful &= 1 + tilts < 0.92 * (rows.sigma * fall)[:, None]
        heights = np.where(useful, heights, np.inf)
        chosen, above, below, period, fit = _chosen(rows, tilts, heights, away)
        step = short(2 * math.pi / (1.02 * period), 24)
        law = tilted(grid, chosen)
        lead = rows.copies * law.cumulant - chosen * rows.epsilon - rows.log_delta + away
        places = step[:, None] * _REACHES
        gone = decay(law, places) + lead[:, None] - np.log(math.pi * places) <= 0
    enough = gone.any(axis=1)
    reach = np.where(enough, places[np.arange(len(rows)), np.argmax(gone, axis=1)], 0.0)
    fit = fit & enough & law.sound
    last = np.where(fit, np.ceil(reach / np.where(fit, step, 1.0)), 1.0)
    fit &= last < MOST_NODES
    last = np.where(fit, last, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        growth = still_growth(grid, chosen) + phase_growth(law, step * last)
    shape = closer(rows, shape, np.where(np.isfinite(growth), growth, 1e6), CLOSE if close else ROUGH)
    return Contours(shape, chosen, above, below, step, reach, last, fit)


def _chosen(rows: Rows, tilts: Array, heights: Array, away: float) -> tuple[Array, Array, Array, Array, Truths]:
    """The tilt with the shortest period, a loss in rounding weighed in; those that bound its aliases; the period."""
    lead = heights - tilts * rows.epsilon[:, None] - rows.log_delta[:, None]
    gaps = np.maximum(lead + chernoff_constant(tilts) + away, 1.0)
    apart = tilts[:, None, :] - tilts[:, :, None]  # of row, tilt, other tilt
    up = np.where(apart > 0, gaps[:, None, :] / apart, np.inf)
    down = np.where(apart < 0, gaps[:, None, :] / -apart, np.inf)
    floor = (away - rows.log_delta)[:, None] / tilts
    low = np.minimum(down.min(axis=2), floor)
    periods = np.maximum(up.min(axis=2), low)
    price = np.where(lead <= _MOST_LOSS, periods * np.sqrt(1 + np.maximum(lead, 0.0) / 20), np.inf)
    best, every = np.argmin(price, axis=1), np.arange(len(rows))
    fit = np.isfinite(price[every, best])
    above = tilts[every, np.argmin(up[every, best], axis=1)]
    other = tilts[every, np.argmin(down[every, best], axis=1)]
    below = np.where(down[every, best].min(axis=1) < floor[every, best], other, 0.0)
    return tilts[every, best], above, below, np.where(fit, periods[every, best], 1.0), fit


@dataclass(frozen=True)
class Ends:
    """Bounds of δ for each row, and the sums between them; NaN where nothing is known."""

    lower: Array
    value: Array
    upper: Array


def rough(rows: Rows, where: Contours) -> Array:
    """ln δ of each row by the sums alone, in floats; NaN where they are of no use."""
    found = np.full(len(rows), np.nan)
    with np.errstate(all="ignore"):
        if len(rows) == 1:
            return _rough(rows, where)
        for some in where.blocks():
            found[some] = _rough(rows.part(some), where.part(some))
    return found


def _rough(rows: Rows, where: Contours) -> Array:
    grid = nodes(rows, where.shape)
    log_weights = grid.log_mass + where.tau[:, None] * grid.loss
    weights = np.exp(log_weights)
    total = weights.sum(axis=1)
    weights /= total[:, None]
    mean = (weights * grid.loss).sum(axis=1)
    turn = where.step[:, None] * (grid.loss - mean[:, None])
    first = np.exp(1j * turn)
    power, sums = weights * first, np.ones((len(rows), where.count), dtype=complex)
    for j in range(1, where.count):
        sums[:, j] = power.sum(axis=1)
        power *= first
    frequencies = np.arange(where.count) * where.step[:, None]
    t = where.tau[:, None] + 1j * frequencies
    drift = rows.copies * mean - rows.epsilon
    terms = np.exp(rows.copies[:, None] * np.log(sums) + 1j * frequencies * drift[:, None]) / (t * (t + 1))
    terms[np.arange(where.count) > where.last[:, None]] = 0.0
    value = (terms.real.sum(axis=1) - 0.5 * terms.real[:, 0]) * where.step / math.pi
    return np.asarray(rows.copies * np.log(total) - where.tau * rows.epsilon + np.log(value))


def ends(rows: Rows, where: Contours, *, lower: bool) -> Ends:
    """Certified bounds of δ at ε for each row; the lower ones are 0 unless they are asked for."""
    found = Ends(*(np.full(len(rows), np.nan) for _ in range(3)))
    with np.errstate(all="ignore"):
        for some in where.blocks():
            part, there = rows.part(some), where.part(some)
            here = _ends(part, there, tilted(nodes(part, there.shape), there.tau), lower)
            found.lower[some], found.value[some], found.upper[some] = here.lower, here.value, here.upper
    return found


def _ends(rows: Rows, where: Contours, law: Tilted, both: bool) -> Ends:
    frequencies, _, (real, error_c), (imag, error_d) = logarithms(law, where.step, where.last)
    size, turn, doubt = log_of(real, imag, error_c + error_d, rows.copies[:, None])
    t = where.tau[:, None] + 1j * frequencies
    share = np.exp(size) / np.abs(t * (t + 1))
    share[:, 0] /= 2
    share[np.arange(where.count) > where.last[:, None]] = 0.0  # of other rows
    mean = rows.copies * law.mean
    slip = 4 * UNIT * (np.abs(mean) + np.abs(rows.epsilon))
    phase = turn - np.angle(t) - np.angle(t + 1) + frequencies * (mean - rows.epsilon)[:, None]
    value = (share * np.cos(phase)).sum(axis=1)
    turned = (ULPS + 4) * (1 + np.abs(turn) + np.abs(size) + np.abs(phase)) + where.count + 48
    doubt = np.where(share > 0, doubt, 0.0)
    unsure = (share * (np.expm1(np.minimum(doubt, 700.0)) + UNIT * turned + slip[:, None] * frequencies)).sum(axis=1)
    cumulant, moved = rows.copies * law.cumulant, where.tau * rows.epsilon
    exponent = cumulant - moved
    # of the exponent, and of the few operations around it
    slack = rows.copies * law.doubt + 8 * UNIT * (np.abs(cumulant) + np.abs(moved)) + (2 * ULPS + 16) * UNIT
    lead = np.exp(exponent) * where.step / math.pi
    off = lead * (SAFETY * unsure + 1.02 * slack * (np.abs(value) + SAFETY * unsure))
    total = lead * value
    gone = decay(law, where.reach[:, None])[:, 0]
    last = where.last * where.step
    cut = 1.02 * np.exp(exponent + gone) / (math.pi * last) * (1 + slack)
    given_up = rows.copies * law.nodes.lost
    alias = _aliases(rows, where, law.nodes) if both else np.inf
    sound = where.fit & law.sound & (slack < 0.01) & (last >= where.reach) & np.isfinite(off)
    tiny = 8 * UNIT * np.abs(total) + 1e-300
    lower = np.maximum(total - off - cut - alias - tiny, 0.0)
    upper = total + off + cut + given_up + tiny
    sound &= lower <= upper
    return Ends(*(np.where(sound, end, np.nan) for end in (lower, total, upper)))


def _aliases(rows: Rows, where: Contours, grid: Nodes) -> Array:
    """Upper bounds of the aliases on both sides."""
    period = 2 * math.pi / where.step
    low = 1.02 / np.expm1(where.tau * period)
    sides = []
    for tilt in (where.above, np.where(where.below > 0, where.below, where.tau)):
        _, value, error, sound = moments_at(grid, tilt)
        bound = rows.copies * np.log1p(value + error) + chernoff_constant(tilt) - tilt * rows.epsilon
        bound = bound + 1e-10 * (1 + np.abs(bound) + np.abs(tilt * rows.epsilon))
        apart = np.abs(tilt - where.tau) * period * (1 - 1e-12)
        side = 1.02 * np.exp(bound) / np.expm1(apart)
        sides.append(np.where(sound & (apart > 0) & np.isfinite(side), side, np.inf))
    return np.asarray(sides[0] + np.minimum(low, np.where(where.below > 0, sides[1], np.inf)))
