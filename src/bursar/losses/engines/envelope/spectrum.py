"""Characteristic functions of weighted places, at many multiples of one frequency at once.

Many places take one transform (`gridded`), few are summed one by one, and those that lie so close together that s·y
stays below π/2 need none: with r = y/max|y| and x = s·max|y|

    Σ w·e^{isy} = Σ_p i^p·(2 − [p=0])·J_p(x)·(Σ w·T_p(r))

(proofs/envelope.md §5). Where more digits are asked, near frequency 0 with many copies, sums over the places are
centred at their mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bursar.losses.engines.envelope.gridded import grid_size, wave_sums
from bursar.numerics.arrays import Array, Complexes, Integers
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, forward

_TERMS = 16  # of the series of Chebyshev's polynomials: 2·Σ_{p ≥ 16} (π/4)^p/p! < 2.2e-15
_TRUNCATION = 2.2e-15
_SERIES = 10  # terms of the series of K₁₄ and K₁₅: 0.62^11·14!/(11!·25!) < 1e-19
_BESSEL = 160  # roundings, of each coefficient
_NARROW = 1.5  # of s·y: as far as the series reaches, without a bit
_FEW = 200  # places: fewer are quicker one by one
_BLOCK = 16  # weights that are added up in floats
_PLACES = 512  # in one product of matrices: what it rounds grows with them


@dataclass(frozen=True)
class Weighed:
    """A tilted law: weights that add up to 1 at centred places, and bounds of what is unsure about its sums."""

    places: Array
    """Losses less the mean."""
    weights: Array
    mean: float
    weight_error: float
    """Σw·e_w: of the sum as a whole."""
    error_d: float
    """Of Σw·sin(sy), times s."""
    error_c: float
    """Of Σw·(1 − cos(sy)), times s²."""
    shift: float
    """Σw·(error of the place)."""
    left_out: float

    def unsure(self, s: Array) -> Array:
        """What places and weights, as they are known, leave unsure about the value at s."""
        near, far = s * (self.error_d + s * self.error_c), 2 * self.weight_error + s * self.shift
        return SAFETY * np.minimum(near, far) + 2 * self.left_out

    def transformed(self, step: float, count: int) -> tuple[Complexes, Array]:
        """The values at s = 0, Δ, …, (count − 1)Δ, and bounds of their errors."""
        if len(self.places) <= _FEW:
            return self._summed(step, count)
        reach = float(np.abs(self.places).max())
        if reach * step * count < _NARROW:
            return self._near(step, count, reach)
        size = grid_size(count)
        values, error = wave_sums(self.places * (step * size / (2 * math.pi)), self.weights, size, count)
        # a turn is off by a few roundings of itself, as is every place
        blur = 8 * UNIT * summed(self.weights, np.abs(self.places))
        s = np.arange(count, dtype=np.float64) * step
        return values, error + SAFETY * blur * s + self.unsure(s)

    def _near(self, step: float, count: int, reach: float) -> tuple[Complexes, Array]:
        """The same where all places lie so close together that one point serves them all, and no transform is needed:
        x is s·(the farthest place), and r a place over that.
        """
        rest = self.places / reach
        s = np.arange(count, dtype=np.float64) * step
        half = 0.5 * reach * s
        strengths, total = _bessel(np.square(half)), np.zeros(count, dtype=complex)
        before, now, power = self.weights * rest, self.weights, np.ones(count)
        for p in range(_TERMS):
            part = power * strengths[p] * float(now.sum())
            target = total.imag if p % 2 else total.real
            target += -part if p % 4 > 1 else part
            before, now = now, 2 * rest * now - before if p else before
            power = power * half * (2 / (p + 1) if p == 0 else 1 / (p + 1))
        error = (len(self.places) + _BESSEL + 4 * _TERMS**2) * UNIT * 2 * math.exp(math.pi / 4) + _TRUNCATION
        blur = 8 * UNIT * summed(self.weights, np.abs(self.places))
        return total, SAFETY * (error + blur * s) + self.unsure(s)

    def _summed(self, step: float, count: int) -> tuple[Complexes, Array]:
        """The same for few places: e^{ijΔy} is a product of two from short tables, and the sums one of matrices."""
        row = max(math.isqrt(count), 1)
        inner = np.exp(1j * np.multiply.outer(self.places, np.arange(row) * step))
        outer = np.exp(1j * np.multiply.outer(np.arange(-(-count // row)) * (row * step), self.places))
        total = product(outer * self.weights, inner).ravel()[:count]
        error = (4 * ULPS + 2 * len(self.places) + 24) * UNIT
        blur = 8 * UNIT * summed(self.weights, np.abs(self.places))
        s = np.arange(count, dtype=np.float64) * step
        return total, SAFETY * (error + blur * s) + self.unsure(s)

    def folded(self, size: int) -> tuple[Complexes, Array]:
        """The values at s = 2πj/N for j up to N/2 where all places are whole numbers: one transform, since only their
        remainders count.
        """
        index = np.mod(self.places, size).astype(np.int64)
        values, off = forward(np.bincount(index, self.weights, size).astype(np.float64, copy=False))
        error = off + (int(np.bincount(index).max()) + 4) * UNIT
        s = np.arange(size // 2 + 1, dtype=np.float64) * (2 * math.pi / size)
        return np.conj(values), SAFETY * error + self.unsure(s)

    def centred(self, frequencies: Array, asked: Integers) -> tuple[Array, Array, Array]:
        """C = 2Σw·sin²(sy/2) and D = Σw·sin(sy) at the multiples asked of one frequency, with all digits, and a bound
        of the error of 1 − C + iD.

        With j = p·R + r and A = e^{is_p·y} − 1, B = e^{is_r·y} − 1 known relative to themselves, e^{isy} − 1 is
        A + B + A·B: two short tables, and products of matrices in place of a sine for each place and frequency.
        """
        row = max(math.isqrt(len(asked)), 1)
        rows, at = np.unique(asked // row, return_inverse=True)
        outer, inner, r = frequencies[rows * row], frequencies[:row], asked % row
        total = np.zeros((2, len(asked)))
        for start in range(0, len(self.places), _PLACES):
            some = slice(start, start + _PLACES)
            total += _products(self.places[some], self.weights[some], (outer, inner), (at, r))
        s, first, second = frequencies[asked], outer[at], inner[r]
        apart = summed(self.weights, np.abs(self.places))
        # |A·B| is at most twice the smaller turn, or the product of both
        both = np.minimum(
            2 * np.minimum(first, second) * apart, first * second * summed(self.weights, np.square(self.places))
        )
        terms = min(len(self.places), _PLACES) + len(self.places) // _PLACES + 1
        rounding = (2 * terms + 9 * ULPS + 32) * s * apart + (3 * terms + 8) * both
        return -total[0], total[1], SAFETY * UNIT * rounding + self.unsure(s)


def _products(
    places: Array, weights: Array, frequencies: tuple[Array, Array], asked: tuple[Integers, Integers]
) -> Array:
    """Real and imaginary parts of Σw·(e^{isy} − 1) over some places, s the sum of a frequency from each table."""
    first, second = (_turns(np.multiply.outer(table, places)) for table in frequencies)
    weighted = first * weights
    (p, r), count = asked, len(frequencies[1])
    rows, columns = weighted.sum(axis=-1), product(second, weights)
    # of real matrices: real and imaginary parts of one beside those of the other
    found = product(weighted.reshape(-1, len(places)), second.reshape(-1, len(places)).T)
    (rr, ri), (ir, ii) = (half.reshape(-1, 2, count).swapaxes(0, 1) for half in np.split(found, 2))
    return np.array(
        [
            rows[0, p] + columns[0, r] + (rr[p, r] - ii[p, r]),
            rows[1, p] + columns[1, r] + (ri[p, r] + ir[p, r]),
        ]
    )


def _turns(x: Array) -> Array:
    """Real and imaginary parts of e^{ix} − 1, known relative to x."""
    half = np.sin(0.5 * x)
    return np.array([-2 * half * half, np.sin(x)])


def _bessel(t: Array) -> list[Array]:
    """K_p = Σ_m (−t)^m·p!/(m!(m+p)!) for p < 16 and 0 ≤ t ≤ 0.62, so that J_p(x) = (x/2)^p/p!·K_p(x²/4): K₁₅ and K₁₄ by
    their series, the others by K_{p−1} = K_p − t/(p(p+1))·K_{p+1}.
    """
    found = []
    for p in (_TERMS - 1, _TERMS - 2):
        value = np.ones_like(t)
        for m in range(_SERIES, 0, -1):
            value = 1 - t * value / (m * (m + p))
        found.append(value)
    for p in range(_TERMS - 2, 0, -1):
        found.append(found[-1] - t * found[-2] / (p * (p + 1)))
    return found[::-1]


def _total(weights: Array) -> float:
    """Their sum: blocks of a few in floats, which round as often as a block has numbers, and those exactly."""
    whole = len(weights) - len(weights) % _BLOCK
    blocks = weights[:whole].reshape(-1, _BLOCK).sum(axis=1)
    return math.fsum((*blocks.tolist(), *weights[whole:].tolist()))


def weighed(
    losses: Array, loss_errors: Array, log_weights: Array, weight_errors: Array, left_out: float, *, whole: bool = False
) -> Weighed:
    """Normalised and centred: at the mean, or where places are whole numbers at the one nearest to it."""
    weights = np.exp(log_weights - float(log_weights.max()))
    weights /= _total(weights)
    mean = summed(weights, losses)
    mean = float(round(mean)) if whole else mean
    apart = losses - mean
    size = np.abs(apart)
    # the normaliser's own error is shared by all weights
    errors = weight_errors + summed(weights, weight_errors) + (_BLOCK + 4) * UNIT
    shift = loss_errors + 2 * UNIT * (size + np.abs(losses))
    return Weighed(
        apart,
        weights,
        mean,
        summed(weights, errors),
        summed(weights, errors * size + shift),
        summed(weights, errors * size * size / 2 + size * shift + shift * shift / 2),
        summed(weights, shift),
        left_out,
    )
