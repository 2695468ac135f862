"""The sums along many contours, a row for each: δ in floats, and its certified ends (proofs/contour.md §1–3 and §9)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.contour.line_sums import log_of
from bursar.losses.engines.training.contours import Contours, chernoff_constant
from bursar.losses.engines.training.decay import decay
from bursar.losses.engines.training.laws import Tilted, logarithms, moments_at, tilted
from bursar.losses.engines.training.rows import Nodes, Rows, nodes
from bursar.numerics.arrays import Array
from bursar.numerics.trusted import SAFETY, ULPS, UNIT


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
    gone = decay(law)(where.reach[:, None])[:, 0]
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
