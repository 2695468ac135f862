"""Contours for many questions at once, a row for each: at which tilt to sum, with which period, and how far.

All of it is guessed; what the sums then prove is in `bursar.losses.engines.training.sums`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from bursar.losses.engines.training.decay import decay
from bursar.losses.engines.training.laws import Tilted, phase_growth, rough_cumulants, still_growth, tilted
from bursar.losses.engines.training.rows import (
    CLOSE,
    DEEPEST,
    ROUGH,
    SHAPE,
    Rows,
    Shape,
    closer,
    heaviest,
    nodes,
    rough_variance,
    shaped,
    short,
)
from bursar.numerics.arrays import Array, Integers, Truths

_LADDER = np.geomspace(0.08, 1.0, 18)
_FAR = 2.6  # how far the ladder goes, in Gaussian guesses of the saddle
_HEAVY = 2.0  # and in tilts at which far, rare losses weigh as much as near ones: there the moments explode
_AWAY, _ROUGH_AWAY = math.log(1e8), math.log(300.0)  # aliases and the cut are pushed this far below δ
_MOST_LOSS = 14.0  # ln of by how much the sum's first term may exceed δ
_REACHES, _COARSE = np.geomspace(4.0, 200.0, 28), 4  # of the last node, in steps; which of them are looked at first
MOST_NODES = 200
_BLOCK = 128  # rows


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
    most = np.minimum(most, _HEAVY * heaviest(rows)) if removed else most
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
        reach = _reach(law, step, lead)
    fit = fit & (reach > 0) & law.sound
    last = np.where(fit, np.ceil(reach / np.where(fit, step, 1.0)), 1.0)
    fit &= last < MOST_NODES
    last = np.where(fit, last, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        growth = still_growth(grid, chosen) + phase_growth(law, step * last)
    shape = closer(rows, shape, np.where(np.isfinite(growth), growth, 1e6), CLOSE if close else ROUGH)
    return Contours(shape, chosen, above, below, step, reach, last, fit)


def _reach(law: Tilted, step: Array, lead: Array) -> Array:
    """The first of some frequencies from which on the integrand is negligible, 0 for none: sought among a few of them,
    then among those before the one that is found.
    """
    bound, every = decay(law), np.arange(len(step))

    def enough(chosen: Integers) -> Truths:
        places = step[:, None] * _REACHES[chosen]
        return np.asarray(bound(places) + lead[:, None] - np.log(math.pi * places) <= 0)

    coarse = np.arange(_COARSE - 1, len(_REACHES), _COARSE)
    seen = enough(np.broadcast_to(coarse, (len(step), len(coarse))))
    before = coarse[np.argmax(seen, axis=1)][:, None] - np.arange(_COARSE - 1, -1, -1)
    return np.where(seen.any(axis=1), step * _REACHES[before[every, np.argmax(enough(before), axis=1)]], 0.0)


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
