"""A law of losses on bands: small ones on fine grids, large ones on coarse grids, and how two such laws are added.

Band j has the step h·ρ^{−j}. Masses are extended floats, whose exponents reach far beyond every δ; they are positive
and only ever added and multiplied, so that every one of them is known to a relative error of a few units for each
release, however small it is. Where a sum leaves the range of its band it moves to the next coarser grid:

* *spread* over the two places around it so that the mean of e^{−L} stays, which can only raise δ, or
* *gathered* with others into places at which their mean of e^{−L} is that of the place, which can only lower it
  (proofs/bands.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from bursar.numerics.balls import Ball
from bursar.numerics.products import product

Extended = NDArray[Any]
"""Extended floats: of the platform's longest kind."""
RATIO = 4  # of the steps of neighbouring bands: ρ
LONG = np.longdouble
_LARGEST = 16000  # exponent of two that extended floats have for sure, with 53 bits to spare
_ROUND = 1e-12  # relative: more than what a few operations and conversions round by


def rounded(balls: list[Ball], *, upwards: bool) -> Extended:
    """Bounds of balls that hold numbers from 0 on, from this side; refused where nothing is known about one."""
    mantissas, exponents = [], []
    for x in balls:
        if not x.is_finite():
            raise ArithmeticError("a mass is not known")
        end = x.upper() if upwards else x.lower()
        man, exp = (int(part) for part in end.mid().man_exp()) if end > 0 else (0, 0)
        drop = max(man.bit_length() - 53, 0)
        man, exp = (-(-man >> drop) if upwards else man >> drop), exp + drop
        if exp > _LARGEST:
            raise ArithmeticError("a number is too large")
        if exp < -_LARGEST:
            man, exp = (man if upwards else 0, -_LARGEST)
        mantissas.append(float(man))
        exponents.append(exp)
    return np.asarray(np.ldexp(np.array(mantissas, dtype=LONG), np.array(exponents)))


@dataclass(frozen=True)
class Frame:
    """The grids that laws share: the steps from the coarsest on, and how many places each has on either side."""

    step: float
    bands: int
    reach: int
    """How many steps of the next coarser band a band covers, on either side."""
    above: int
    below: int
    upper: bool
    """Whether losses are spread, for upper ends, or gathered, for lower ones."""

    def steps(self) -> list[Ball]:
        """The step of each band."""
        return [arb(self.step) / RATIO**j for j in range(self.bands)]

    def ends(self, band: int) -> tuple[int, int]:
        """The lowest and the highest place of a band, as numbers of steps."""
        return (-self.below, self.above) if band == 0 else (-self.reach * RATIO, self.reach * RATIO)


@dataclass(frozen=True)
class Law:
    """The masses of every band, from its lowest place on, and a bound of the mass at infinity."""

    frame: Frame
    bands: list[Extended]
    infinite: float | Any

    def __mul__(self, other: Law) -> Law:
        """The law of the sum of two independent losses."""
        frame, mine, yours = self.frame, _finer(self), _finer(other)
        kept, moved, infinite = [], None, LONG(self.infinite) + LONG(other.infinite)
        for j in reversed(range(frame.bands)):
            low, high = frame.ends(j)
            whole, finer = _added(self.bands[j], mine[j], low), yours[j]
            sums = _sums(whole, other.bands[j])
            if finer is not None:
                sums = _put(sums, _sums(self.bands[j], finer[1]), finer[0] - low)
            if moved is not None:
                sums = _put(sums, moved[1], moved[0] - 2 * low)
            start, stop = -low, high - 2 * low + 1  # where this band's own range lies among the sums
            outside, sums = (sums[:start], sums[stop:]), sums[start:stop].copy()
            if j > 0:
                parts = [
                    coarser(frame, j, outside[0], 2 * low),
                    coarser(frame, j, outside[1], high + 1),
                ]
                first = min(parts[0][0], parts[1][0])
                last = max(at + len(masses) for at, masses in parts)
                moved = (first, np.zeros(last - first, dtype=LONG))
                for at, masses in parts:
                    moved[1][at - first : at - first + len(masses)] += masses
            elif frame.upper:
                sums[0] += outside[0].sum()
                gone = -np.expm1(-LONG(frame.step) * np.arange(1, len(outside[1]) + 1)) * (1 + LONG(_ROUND))
                infinite = infinite + (outside[1] * gone).sum()
                sums[-1] += (outside[1] * (1 - gone * (1 - LONG(3 * _ROUND)))).sum()
            else:
                sums[-1] += outside[1].sum()
            kept.append(sums)
        return Law(frame, kept[::-1], infinite)

    def __pow__(self, count: int) -> Law:
        """The law of so many independent copies."""
        result = self
        for bit in bin(count)[3:]:
            result = result * result
            if bit == "1":
                result = result * self
        return result

    def delta(self, epsilon: float) -> Any:
        """E[(1 − e^{ε−L})₊] of the masses as they are."""
        total = LONG(self.infinite)
        for j, masses in enumerate(self.bands):
            low, _ = self.frame.ends(j)
            step = LONG(self.frame.step) / RATIO**j
            places = (low + np.arange(len(masses))) * step
            above = places > epsilon
            total = total + (masses[above] * -np.expm1(LONG(epsilon) - places[above])).sum()
        if not np.isfinite(total):  # what overflows says nothing, and no comparison with it does
            raise ArithmeticError("the masses of a law are too large")
        return total


def _sums(mine: Extended, yours: Extended) -> Extended:
    """The masses of all sums; places without mass at either end cost nothing."""
    found = np.zeros(len(mine) + len(yours) - 1, dtype=LONG)
    some, more = np.flatnonzero(mine), np.flatnonzero(yours)
    if len(some) and len(more):
        parts = mine[some[0] : some[-1] + 1], yours[more[0] : more[-1] + 1]
        at = some[0] + more[0]
        found[at : at + len(parts[0]) + len(parts[1]) - 1] = np.convolve(*parts)
    return found


def _finer(law: Law) -> list[tuple[int, Extended] | None]:
    """For every band all that lies in finer ones, on this band's grid: the lowest place, and the masses from there."""
    found: list[tuple[int, Extended] | None] = [None] * law.frame.bands
    for j in range(law.frame.bands - 1, 0, -1):
        low, _ = law.frame.ends(j)
        found[j - 1] = coarser(law.frame, j, _added(law.bands[j], found[j], low), low)
    return found


def _added(masses: Extended, more: tuple[int, Extended] | None, low: int) -> Extended:
    if more is None:
        return masses
    return _put(masses.copy(), more[1], more[0] - low)


def _put(masses: Extended, more: Extended, at: int) -> Extended:
    """Add from a place on, all of which is inside."""
    assert 0 <= at <= len(masses) - len(more)
    masses[at : at + len(more)] += more
    return masses


def coarser(frame: Frame, band: int, masses: Extended, low: int) -> tuple[int, Extended]:
    """The same masses on the next coarser grid: the lowest place there, and the masses from there on."""
    first, last = low // RATIO, (low + len(masses) - 1) // RATIO
    padded = np.zeros((last - first + 1) * RATIO, dtype=LONG)
    padded[low - first * RATIO : low - first * RATIO + len(masses)] = masses
    cells = padded.reshape(-1, RATIO)
    lower, higher = _shares(frame, band)
    if frame.upper:
        found = np.zeros(len(cells) + 1, dtype=LONG)
        found[:-1] += product(cells, lower)
        found[1:] += product(cells, higher)
        return first, found
    # what lies on a place already stays there
    own, inner = cells[:, 0], cells[:, 1:]
    found = gathered(
        inner.sum(axis=1), product(inner, lower[1:]), product(inner, higher[1:]), _slopes(frame, band, len(cells))
    )
    found[:-1] += own
    return first, found


_KNOWN: dict[tuple[float, int, bool], tuple[Extended, Extended]] = {}


def _shares(frame: Frame, band: int) -> tuple[Extended, Extended]:
    """How a mass f fine steps above a place is spread over it and the next, for f < ρ: bounds, from above both, or
    such that what is gathered lies too low if anything.
    """
    key = (frame.step, band, frame.upper)
    if key not in _KNOWN:
        if len(_KNOWN) > 64:
            _KNOWN.clear()
        fine = arb(frame.step) / RATIO**band
        higher = [(-f * fine).expm1() / (-RATIO * fine).expm1() for f in range(RATIO)]
        _KNOWN[key] = (
            rounded([1 - share for share in higher], upwards=True),
            rounded(higher, upwards=frame.upper),
        )
    return _KNOWN[key]


def _slopes(frame: Frame, band: int, cells: int) -> Extended:
    """(e^h − 1)/(1 − e^{−h}) = e^h of the coarser grid at every place between cells, from above."""
    return np.full(cells + 1, rounded([(arb(frame.step) / RATIO ** (band - 1)).exp()], upwards=True)[0])


def gathered(masses: Extended, down: Extended, up: Extended, slopes: Extended) -> Extended:
    """Masses of cells, each in one place inside of it, gathered at the places between cells and at both ends.

    ``down`` and ``up`` say how each would be spread over its two ends: the former is no less than the truth, the
    latter no more. Where parts a of the cell below a place and b of the one above have their mean of e^{−L} at the
    place, a·α = b·β, they are one atom there; a larger b only lies too high. From both ends towards the heaviest
    cell: so every part is paired with a heavier one.
    """
    n = len(masses)
    found = np.zeros(n + 1, dtype=LONG)
    if n == 0:
        return found
    with np.errstate(divide="ignore", invalid="ignore"):
        # β/α at the places between cells, from below: what may be paired from below with a part from above
        ratio = (up[1:] / (down[1:] + up[1:])) * ((down[:-1] + up[:-1]) / down[:-1]) / slopes[1:-1]
    ratio = np.where(np.isfinite(ratio), ratio * (1 - LONG(_ROUND)), LONG(0))
    peak, left = int(np.argmax(masses)), list(masses)
    for i in range(1, peak):  # of the place between cells i − 1 and i
        a = min(left[i - 1], left[i] * ratio[i - 1])
        b = min(a / ratio[i - 1], left[i]) if a > 0 else a
        found[i - 1] += left[i - 1] - a
        found[i] += a + b
        left[i - 1], left[i] = LONG(0), left[i] - b
    for i in range(n - 1, max(peak, 1) - 1, -1):
        a = min(left[i] * ratio[i - 1], left[i - 1])
        found[i] += a + left[i]
        left[i - 1], left[i] = left[i - 1] - a, LONG(0)
    found[max(peak, 1) - 1] += left[max(peak, 1) - 1]
    return found
