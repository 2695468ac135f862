"""The law of the total privacy loss, to the resolution of a picture: exact distribution functions, convolved.

Each law's distribution function gives the masses of narrow bins; what falls on single points (atoms) is kept apart.
Independent losses add up, so that the bins of the total come from a Fourier transform, and its atoms from sums of
atoms. Nothing is drawn at random, and nothing here is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bursar.losses import Loss
from bursar.numerics.arrays import Array

_FAINT = 1e-9  # mass beyond the ends of a law
_FINE = 2_000  # bins of a picture
_PER_LAW = 12  # bins within a standard deviation of a law that is added many times
_MOST_BINS = 2**19
_MOST_ATOMS = 4_000
_SPARSE = 0.2  # of the bins: a law that fills fewer is one of points


@dataclass(frozen=True)
class TotalLaw:
    """The density of the continuous part at each x, the atoms, and the mass at infinity."""

    x: Array
    density: Array
    places: Array
    masses: Array
    infinite: float

    @property
    def mean(self) -> float:
        """The mean of the finite part."""
        step = self.x[1] - self.x[0] if len(self.x) > 1 else 0.0
        weights = np.concatenate([self.density * step, self.masses])
        return float(np.average(np.concatenate([self.x, self.places]), weights=weights))


@dataclass(frozen=True)
class _Part:
    """One law: where it begins and ends, and its atoms."""

    law: Loss
    count: int
    low: float
    high: float
    places: Array
    masses: Array

    def spread(self) -> tuple[float, float]:
        """Mean and variance, from coarse bins."""
        edges = np.linspace(self.low, self.high, 101)
        middles = np.concatenate([(edges[1:] + edges[:-1]) / 2, self.places])
        weights = np.concatenate([self.continuous(edges), self.masses])
        mean = float(np.average(middles, weights=weights))
        return mean, float(np.average((middles - mean) ** 2, weights=weights))

    def continuous(self, edges: Array) -> Array:
        """The mass of each bin, without the atoms; what lies beyond the ends is in the first and in the last."""
        below = np.array([float(self.law.cdf(edge)) for edge in edges.tolist()])
        whole = 1 - float(self.law.infinite_mass())
        below[0], below[-1] = 0.0, whole
        order = np.argsort(self.places)
        jumps = np.concatenate([[0.0], np.cumsum(self.masses[order])])
        smooth = below - jumps[np.searchsorted(self.places[order], edges, side="right")]
        smooth[0], smooth[-1] = 0.0, whole - jumps[-1]
        return np.asarray(np.maximum(np.diff(smooth), 0.0))


def total(laws: Sequence[tuple[Loss, int]]) -> TotalLaw:
    """The law of a sum of independent losses, each as often as counted."""
    parts = [_part(law, count) for law, count in laws]
    kept = 1.0
    for part in parts:
        kept *= (1 - float(part.law.infinite_mass())) ** part.count
    places, masses = _atoms(parts)
    if masses.sum() > kept * (1 - 1e-9):  # nothing is continuous
        return TotalLaw(np.zeros(0), np.zeros(0), places, masses, 1 - kept)
    x, density = _density(parts)
    filled = density > 1e-9 * density.max()
    if not len(places) and np.mean(filled) < _SPARSE:  # a law of points, of which there is no end
        return TotalLaw(np.zeros(0), np.zeros(0), *_points(x, density * (x[1] - x[0]), filled), 1 - kept)
    return TotalLaw(x, density, places, masses, 1 - kept)


def _points(x: Array, masses: Array, filled: Array) -> tuple[Array, Array]:
    """Neighbouring bins with something in them are one point, where most of it lies."""
    bins = np.flatnonzero(filled)
    groups = np.cumsum(np.concatenate([[0], np.diff(bins) > 2]))
    together = np.asarray(np.bincount(groups, weights=masses[bins]), float)
    return np.asarray(np.bincount(groups, weights=masses[bins] * x[bins])) / together, together


def _part(law: Loss, count: int) -> _Part:
    atoms = [(float(atom.loss), float(atom.mass)) for atom in law.atoms()]
    places, masses = (np.array([pair[i] for pair in atoms]) for i in (0, 1))
    ends = [float(end) if end.is_finite() else None for end in law.support()]
    low, high = (_end(law, end, side) for end, side in zip(ends, (-1, 1), strict=True))
    if high - low < 1e-12:
        low, high = low - 1e-6, high + 1e-6
    return _Part(law, count, low, high, places, masses)


def _end(law: Loss, known: float | None, side: int) -> float:
    """Where a law ends on a side, but for a faint rest."""
    whole = 1 - float(law.infinite_mass())

    def beyond(x: float) -> float:
        return float(law.cdf(x)) if side < 0 else whole - float(law.cdf(x))

    near, far = 0.0, 2.0**-20 * side
    while beyond(far) > _FAINT and abs(far) < 2.0**30 and (known is None or abs(far) < abs(known) + 1):
        near, far = far, 2 * far
    for _ in range(12):
        middle = (near + far) / 2
        near, far = (middle, far) if beyond(middle) > _FAINT else (near, middle)
    return far if known is None else (max(far, known) if side < 0 else min(far, known))


def _atoms(parts: Sequence[_Part]) -> tuple[Array, Array]:
    """The points that the sum hits with positive probability: none where some law has none, or there are too many."""
    places, masses = np.zeros(1), np.ones(1)
    for part in parts:
        found = _repeated(part.places, part.masses, part.count)
        if found is None or len(found[0]) * len(places) > 50 * _MOST_ATOMS:
            return np.zeros(0), np.zeros(0)
        places, masses = _merged(places, masses, *found)
    return (places, masses) if len(places) <= _MOST_ATOMS else (np.zeros(0), np.zeros(0))


def _repeated(places: Array, masses: Array, count: int) -> tuple[Array, Array] | None:
    """So many copies added up, by squaring."""
    if not len(places):
        return None
    sums, chances = np.zeros(1), np.ones(1)
    while count:
        if count % 2:
            sums, chances = _merged(sums, chances, places, masses)
        count //= 2
        if count:
            places, masses = _merged(places, masses, places, masses)
        if max(len(sums), len(places)) > _MOST_ATOMS:
            return None
    return sums, chances


def _merged(a: Array, p: Array, c: Array, q: Array) -> tuple[Array, Array]:
    """The sum of two laws of points; points that rounding cannot tell apart are one, faint ones are left out."""
    sums, chances = np.add.outer(a, c).ravel(), np.multiply.outer(p, q).ravel()
    keys = np.round(sums / max(float(np.max(np.abs(sums))), 1e-300), 10)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    masses = np.bincount(place.ravel(), weights=chances)
    kept = masses > 1e-14 * masses.max()
    return sums[first][kept], masses[kept]


def _density(parts: Sequence[_Part]) -> tuple[Array, Array]:
    """The density of whatever is no atom, on an even grid."""
    moments = [part.spread() for part in parts]
    mean = sum(part.count * one for part, (one, _) in zip(parts, moments, strict=True))
    deviation = sum(part.count * more for part, (_, more) in zip(parts, moments, strict=True)) ** 0.5
    low = max(sum(part.count * part.low for part in parts), mean - 12 * deviation)
    high = min(sum(part.count * part.high for part in parts), mean + 12 * deviation)
    often = [v**0.5 / _PER_LAW for part, (_, v) in zip(parts, moments, strict=True) if part.count > 1 and v > 0]
    step = min([(high - low) / _FINE, *often])
    size = 2 ** int(np.ceil(np.log2((high - low) / step + 1)))
    if size > _MOST_BINS:  # so many copies that nobody sees the difference to a normal law
        x = np.linspace(low, high, _FINE)
        return x, np.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * np.sqrt(2 * np.pi))
    whole, points, shift = np.ones(size // 2 + 1, complex), np.ones(size // 2 + 1, complex), 0.0
    for part in parts:
        start = step * np.floor(part.low / step) - step / 2
        edges = start + step * np.arange(int(np.ceil((part.high - start) / step)) + 2)
        smooth, stems = part.continuous(edges), np.zeros(len(edges) - 1)
        np.add.at(stems, np.clip(((part.places - start) / step).astype(int), 0, len(stems) - 1), part.masses)
        whole *= np.fft.rfft(_wrapped(smooth + stems, size)) ** part.count
        points *= np.fft.rfft(_wrapped(stems, size)) ** part.count
        shift += part.count * (start + step / 2)
    bins = np.fft.irfft(whole - points, size)
    first = int(np.floor((low - shift) / step))
    places = first + np.arange(min(size, int(np.ceil((high - low) / step)) + 2))
    return shift + step * places, np.maximum(bins[places % size], 0.0) / step


def _wrapped(masses: Array, size: int) -> Array:
    """Bins around a circle."""
    found = np.zeros(size)
    np.add.at(found, np.arange(len(masses)) % size, masses)
    return found
