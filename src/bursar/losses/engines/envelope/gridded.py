"""Sums of waves from places anywhere, by one transform: each place is spread over a grid by a Gaussian, and what that
does to a wave is divided out.

With M points on a circle, t a place in units of the grid, φ(x) = e^{−cx²} and a(ν) = √(π/c)·e^{−π²ν²/c}, by Poisson

    Σ_l φ(l − t)·e^{2πijl/M} = Σ_k a(j/M + k)·e^{2πi(j/M + k)t},

whose term k = 0 is the wave asked for times a(j/M); the others are far smaller while j/M is well below a half
(proofs/envelope.md §5).
"""

from __future__ import annotations

import math

import numpy as np

from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, forward

_DEPTH = 34.0  # in logarithms: what other waves, and points that are left out, have of a wave
_SPREAD = 5.0  # points for each frequency
_LEAST = 128  # points: more than a place is spread over
_CHUNK = 1 << 20  # places and points at a time


def grid_size(count: int) -> int:
    """The points of the circle for so many frequencies: a power of 2, or 3, 5 or 9 times one, so that its transform is
    quick.
    """
    least = max(_SPREAD * count, _LEAST)
    return min(part << max(math.ceil(math.log2(least / part)), 3) for part in (1, 3, 5, 9))


def wave_sums(turns: Array, weights: Array, size: int, count: int) -> tuple[Complexes, Array]:
    """Σ w·e^{2πijt/M} for j < count, of weights that add up to 1, and bounds of its errors, those of t left aside."""
    most = count / size
    c = math.pi**2 * (1 - 2 * most) / _DEPTH
    reach = math.ceil(math.sqrt((_DEPTH + math.pi**2 * most**2 / c) / c) - 0.5)
    grid, additions = _spread(turns, weights, size, (c, reach))
    values, off = forward(grid)
    level, fall = math.sqrt(c / math.pi), math.pi**2 / (c * float(size) ** 2)
    rise = np.exp(fall * np.square(np.arange(count, dtype=np.float64)))
    left_out = 2 * level * math.exp(-c * (reach + 0.5) ** 2) / -math.expm1(-2 * c * (reach + 0.5))
    aliases = 2 * math.exp(-_DEPTH) / -math.expm1(-_DEPTH)
    # weights of points, by their exponents; sums; and the factor that divides the spreading out
    rounding = (4 * c * reach**2 + (reach + 3) * (ULPS + 4) + additions + 16) * UNIT
    factor = (8 * math.pi**2 * most**2 / c + 2 * ULPS + 16) * UNIT
    error = rise * (1.01 * rounding + level * off + left_out) + aliases + factor
    return values[:count].conj() * (level * rise), SAFETY * SAFETY * error


def _spread(turns: Array, weights: Array, size: int, kernel: tuple[float, int]) -> tuple[Array, int]:
    """The weights on the grid, and how many numbers were added up in a point at the most."""
    c, reach = kernel
    nearest = np.rint(turns)
    rest, base = turns - nearest, np.mod(nearest, size).astype(np.int64)
    offsets, width = np.arange(-reach, reach + 1), 2 * reach + 1
    padded, chunk = np.zeros(size + 2 * reach), max(_CHUNK // width, 1)
    height = np.exp(-c * np.square(offsets, dtype=np.float64))
    for start in range(0, len(turns), chunk):
        some = slice(start, start + chunk)
        # e^{−c(l − r)²} = e^{−cl²}·e^{−cr²}·(e^{2cr})^l: a product for each point in place of an exponential
        shares = np.empty((width, len(rest[some])))
        shares[reach] = weights[some] * np.exp(-c * np.square(rest[some]))
        for side in (-1, 1):
            growth = np.exp(2 * side * c * rest[some])
            for far in range(1, reach + 1):
                np.multiply(shares[reach + side * (far - 1)], growth, out=shares[reach + side * far])
        shares *= height[:, None]
        index = base[some] + (offsets + reach)[:, None]
        padded += np.bincount(index.ravel(), shares.ravel(), len(padded))
    grid = padded[reach : reach + size].copy()
    grid[:reach] += padded[reach + size :]
    grid[size - reach :] += padded[:reach]
    # all places that reach one point lie in five neighbouring stretches of the circle, of which one may be short
    stretches = np.bincount(base // width, minlength=5)
    crowd = int(np.sum([np.roll(stretches, side) for side in range(-2, 3)], axis=0).max())
    return grid, crowd + len(turns) // chunk + 3
