"""The least σ of many trainings at once: guessed in floats, row by row of an array, and what is proved around it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bursar.losses.engines.training.contours import Contours, contours
from bursar.losses.engines.training.rows import Rows, rough_variance
from bursar.losses.engines.training.sums import ends, rough
from bursar.numerics.arrays import Array, Truths
from bursar.numerics.products import product

_CLOSE = 3e-6  # of ln σ: a secant step no longer than this leads to the root, but for far less than a ten-millionth
_NEAR = 0.08  # of ln σ: nodes serve so far
_LOOKS = 9
_SAMPLE = 160  # rows that tell where the others are


def first_guess(rows: Rows) -> Array:
    """The σ at which the loss has the variance of a Gaussian that costs (ε, δ), about."""
    z = np.sqrt(2 * np.maximum(-rows.log_delta, 1.0))
    root = np.log(np.sqrt(z**2 + 2 * rows.epsilon) - z)
    for _ in range(4):
        # Newton's step for ln δ by the saddle point of a Gaussian
        square = np.exp(2 * root)
        tilt = np.maximum(rows.epsilon / square - 0.5, 0.3)
        height = -0.5 * square * tilt**2 - np.log(tilt * (tilt + 1)) - 0.5 * np.log(2 * math.pi * square)
        root = root - np.clip((height - rows.log_delta) / (square * tilt * (tilt + 1) + 3), -0.5, 0.5)
    return np.asarray(1 / np.sqrt(np.log1p(np.exp(2 * root) / (rows.copies * rows.rate**2))))


def _slope(rows: Rows) -> Array:
    """About d ln δ/d ln σ: that of the cumulant at the saddle of a Gaussian with the same variance."""
    variance = rough_variance(rows)
    tilt = np.maximum(rows.epsilon / variance - 0.5, 0.1)
    odd = rows.sigma**-2.0
    steep = -2 * odd / -np.expm1(-np.minimum(odd, 500.0))
    return np.asarray(np.minimum(0.5 * tilt * (tilt + 1) * variance * steep, -0.5))


def settled(rows: Rows, *, slope: Array | None = None) -> tuple[Rows, Contours, Array]:
    """The rows at the σ where δ is reached, in floats, the contours there, which do not fit where none is
    found, and d ln δ/d ln σ.

    Rows start at their own σ. The worse direction mostly is that of a record removed, so that one is followed.
    """
    sigma, lead = rows.sigma.copy(), _slope(rows) if slope is None else slope.copy()
    where, made = contours(rows, removed=True), sigma.copy()
    left, before = np.flatnonzero(where.fit), np.full((2, len(rows)), np.nan)
    found = np.zeros(len(rows), dtype=bool)
    for _ in range(_LOOKS):
        far = left[np.abs(np.log(sigma[left] / made[left])) > _NEAR]
        if len(far):
            where.put(far, contours(rows.at(sigma).part(far), removed=True))
            made[far] = sigma[far]
        height = rough(rows.at(sigma).part(left), where.part(left)) - rows.log_delta[left]
        here = np.log(sigma[left])
        with np.errstate(all="ignore"):
            seen = (height - before[1, left]) / (here - before[0, left])
        lead[left] = np.where((seen < 0.5 * lead[left]) & (seen > 2 * lead[left]), seen, lead[left])
        step = np.clip(-height / lead[left], -0.6, 0.6)
        before[:, left] = here, height
        sigma[left] = np.where(np.isfinite(step), sigma[left] * np.exp(step), sigma[left])
        found[left] = np.abs(step) < _CLOSE
        left = left[np.isfinite(step) & ~found[left]]
        if not len(left):
            break
    return rows.at(sigma), replace(where, fit=where.fit & found), lead


def least(rows: Rows) -> tuple[Array, Contours]:
    """The least σ at which each row costs no more than its (ε, δ), in floats, and contours there, which do not fit
    where none is found. Of many rows a few are sought from scratch, and the others from where those say they may be.
    """
    start, slope = first_guess(rows), None
    some = np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.int64))
    if len(rows) > 4 * _SAMPLE:
        part, where, known = settled(rows.at(start).part(some))
        found = where.fit
        if np.count_nonzero(found) > _SAMPLE / 3:
            shape = _features(rows, start)
            aims = np.column_stack([np.log(part.sigma / start[some]), np.log(-known)])[found]
            fitted = product(shape, np.linalg.lstsq(shape[some][found], aims, rcond=1e-9)[0])
            start, slope = start * np.exp(np.clip(fitted[:, 0], -0.2, 0.2)), -np.exp(np.clip(fitted[:, 1], -2.0, 9.0))
    there, where, _ = settled(rows.at(start), slope=slope)
    return there.sigma, where


def _features(rows: Rows, start: Array) -> Array:
    """Products of up to two of what a row's place is known by."""
    logs = [np.log(x) for x in (rows.rate, rows.copies, rows.epsilon, -rows.log_delta, start)]
    plain = [(x - x.mean()) / max(float(x.std()), 1e-9) for x in logs if float(np.ptp(x)) > 0]
    every = [np.ones(len(rows)), *plain]
    return np.column_stack([x * y for i, x in enumerate(every) for y in every[i:]])


def fits(rows: Rows, where: Contours, delta: Array) -> Truths:
    """Whether δ at ε is certainly at most this, in both directions; ``where`` is for a record removed."""
    removed = ends(rows, where, lower=False).upper <= delta
    left = np.flatnonzero(removed)
    if len(left):
        part = rows.part(left)
        added = ends(part, contours(part, removed=False, close=False), lower=False).upper <= delta[left]
        again = left[~added]
        if len(again):  # a rough bound may be too rough
            part = rows.part(again)
            removed[again] = ends(part, contours(part, removed=False), lower=False).upper <= delta[again]
    return removed


def misses(rows: Rows, where: Contours, delta: Array) -> Truths:
    """Whether δ at ε is certainly larger than this where a record is removed."""
    return np.asarray(ends(rows, where, lower=True).lower > delta)
