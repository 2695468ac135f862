"""Masses on a grid that grows coarser with the distance from its origin, and the sums of two such laws.

Row 0 has the step h and covers [0, 2Mh) above the origin; row b has the step h·2^b and covers [M·h·2^b, 2M·h·2^b). The
step is a power of two and the origin a multiple of it, so every place is an exact float. A place between two grid
points is split between them so that its mean is kept ("labels"), and each label remembers the mean of what bears it:

    the labels       spread the law: in convex order they are above it
    the means        gather it: in convex order they are below it

Every mass is a sum of products of positive numbers, so relative errors stay small however small the mass is. The
derivations are in proofs/allocation.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.numerics.arrays import Array

Pair = tuple[Array, Array]
"""Masses at 0, 1, 2, … steps, and for each the mass times the mean distance of what bears the label from it."""
Beyond = tuple[Array, Array, int, float]
"""Masses, moments, the first one's index and the step."""


@dataclass(frozen=True)
class Layers:
    """A law in rows: `mass[b, k]` at the origin and k·h·2^b more, and mass times mean distance from there."""

    origin: float
    step: float
    mass: Array
    moment: Array

    @property
    def half(self) -> int:
        """M, how many points a row adds to those below it."""
        return int(self.mass.shape[1]) // 2

    def steps(self) -> Array:
        """The step of each row."""
        found: Array = self.step * np.exp2(np.arange(len(self.mass)))
        return found

    def places(self) -> Array:
        """The place of each label, an exact number up to one rounding."""
        found: Array = self.origin + np.multiply.outer(self.steps(), np.arange(self.mass.shape[1]))
        return found


@dataclass(frozen=True)
class Sums:
    """The sum of two laws before it is laid out anew: one array for each row, of up to 4M + 1 places."""

    origin: float
    step: float
    half: int
    rows: list[Pair]

    def rough(self) -> Pair:
        """Places and masses, some neighbours together, in order: for choosing the next grid."""
        block = max(self.half // 64, 1)
        at, mass = [], []
        for b, (weights, _) in enumerate(self.rows):
            starts = np.arange(0, len(weights), block)
            mass.append(np.add.reduceat(weights, starts))
            at.append(self.origin + self.step * 2.0**b * starts)
        places, masses = np.concatenate(at), np.concatenate(mass)
        order = np.argsort(places)
        return places[order], masses[order]


def halved(pair: Pair, step: float) -> Pair:
    """The same on every second point, from the first on: points between are split half and half."""
    mass, moment = (np.pad(part, (0, (len(part) + 1) % 2 + 2)) for part in pair)
    odd, shift = mass[1::2] / 2, moment[1::2] / 2
    count = len(odd)
    coarse, means = mass[0 : 2 * count : 2].copy(), moment[0 : 2 * count : 2].copy()
    coarse += odd
    means += shift + step * odd
    coarse[1:] += odd[:-1]
    means[1:] += shift[:-1] - step * odd[:-1]
    return coarse, means


def _below(layers: Layers) -> list[Pair]:
    """For each row all that lies in lower rows, on the row's own step."""
    none = np.zeros(layers.half + 1)
    found: list[Pair] = [(none, none)]
    for b, step in enumerate(layers.steps()[:-1].tolist()):
        mass, moment = layers.mass[b].copy(), layers.moment[b].copy()
        lower = found[-1]
        mass[: len(lower[0])] += lower[0]
        moment[: len(lower[1])] += lower[1]
        coarse = halved((mass, moment), step)
        found.append((coarse[0][: layers.half + 1], coarse[1][: layers.half + 1]))
    return found


def added(first: Layers, second: Layers) -> Sums:
    """The law of the sum of two independent ones, which must have one step."""
    if len(first.mass) < len(second.mass):
        first, second = second, first
    same, half = first is second, first.half
    low = _below(first)
    other = low if same else _below(second)
    rows, last = [], other[0]
    for b in range(len(first.mass)):
        start = half if b else 0  # lower places of a row are other rows'
        mine = first.mass[b, start:], first.moment[b, start:]
        if b < len(second.mass):
            whole = last = _plus(other[b], (second.mass[b], second.moment[b]))
            row = _product(mine, _plus(other[b], whole) if same else whole)
            if not same and b:
                row = _plus(row, _product(low[b], (second.mass[b, start:], second.moment[b, start:])))
        else:
            last = halved(last, first.step * 2.0 ** (b - 1))
            row = _product(mine, last)
        rows.append((np.pad(row[0], (start, 0)), np.pad(row[1], (start, 0))))
    return Sums(first.origin + second.origin, first.step, half, rows)


def _plus(a: Pair, b: Pair) -> Pair:
    if len(a[0]) < len(b[0]):
        a, b = b, a
    mass, moment = a[0].copy(), a[1].copy()
    mass[: len(b[0])] += b[0]
    moment[: len(b[1])] += b[1]
    return mass, moment


def _product(a: Pair, b: Pair) -> Pair:
    """The convolution: masses multiply, and the distances of both add up."""
    return np.convolve(a[0], b[0]), np.convolve(a[0], b[1]) + np.convolve(a[1], b[0])


def laid_out(sums: Sums, origin: float, step: float, rows: int) -> tuple[Layers, float, float]:
    """The sum on a new grid of at most so many rows, the mass that falls below or beyond it, and the mean of that."""
    half = sums.half
    mass, moment = np.zeros((rows, 2 * half)), np.zeros((rows, 2 * half))
    lost_mass, lost_mean = 0.0, 0.0
    for b, row in enumerate(sums.rows):
        exponent = b + round(math.log2(sums.step / step))
        fine = sums.step * 2.0**b
        pair, below = _moved(row, (origin - sums.origin) / fine, fine)
        lost_mass += float(below[0].sum())
        lost_mean += float(below[0].sum()) * origin + float(np.abs(below[1]).sum())
        beyond = _placed(pair, exponent, step, (mass, moment))
        if beyond is not None:
            weights, means, start, unit = beyond
            at = origin + unit * np.arange(start, start + len(weights))
            lost_mass += float(weights.sum())
            lost_mean += float((weights * at + np.abs(means)).sum())
    return Layers(origin, step, mass, moment), lost_mass, lost_mean


def _moved(pair: Pair, by: float, step: float) -> tuple[Pair, Pair]:
    """The places counted from an origin that lies ``by`` steps higher, and those that are then below it."""
    whole = math.ceil(by)
    share = by - math.floor(by)  # exact; places lie 1 − share above a point of the new grid
    mass, moment = pair
    if share > 0:
        lower = (share * mass, share * (moment + (1 - share) * step * mass))
        upper = ((1 - share) * mass, (1 - share) * (moment - share * step * mass))
        mass = np.pad(lower[0], (0, 1)) + np.pad(upper[0], (1, 0))
        moment = np.pad(lower[1], (0, 1)) + np.pad(upper[1], (1, 0))
    if whole < 0:
        return (np.pad(mass, (-whole, 0)), np.pad(moment, (-whole, 0))), (mass[:0], moment[:0])
    return (mass[whole:], moment[whole:]), (mass[:whole], moment[:whole])


def _placed(pair: Pair, exponent: int, step: float, into: Pair) -> Beyond | None:
    """Add places at multiples of step·2^exponent to the rows; what lies beyond the last one comes back."""
    rows, half = len(into[0]), into[0].shape[1] // 2
    while exponent < 0:
        pair, exponent = halved(pair, step * 2.0**exponent), exponent + 1
    start = 0
    for b in range(min(exponent, rows)):  # places so low that their rows are finer
        apart = exponent - b
        last = min(max(-(-2 * half >> apart), 1), len(pair[0]))
        at = np.arange(start, last) << apart
        for part, target in zip(pair, into, strict=True):
            target[b, at] += part[start:last]
        start = max(start, last)
    while len(pair[0]) > start:
        if exponent >= rows:
            return pair[0][start:], pair[1][start:], start, step * 2.0**exponent
        for part, target in zip(pair, into, strict=True):
            kept = part[start : 2 * half]
            target[exponent, start : start + len(kept)] += kept
        rest = halved((pair[0][2 * half :], pair[1][2 * half :]), step * 2.0**exponent)
        pair = (np.pad(rest[0], (half, 0)), np.pad(rest[1], (half, 0)))
        if not rest[0].any():
            break
        start, exponent = half, exponent + 1
    return None
