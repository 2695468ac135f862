"""The trusted base of the floating-point engines: what is assumed of numpy and libm, each number sampled by a test.

IEEE-754 basic operations round to nearest. Everything else the engines use from outside is listed here with the error
it is trusted with; flint's balls carry their own.
"""

from __future__ import annotations

import math

import numpy as np

from bursar.numerics.arrays import Array, Complexes, dot

UNIT = 2.0**-53
ULPS = 8  # of numpy's exp, expm1, log, log1p, sin, cos, hypot, arctan2 and logaddexp, and of libm's erfc
NORMAL = 2.0**-38
"""Relative, of `normal_cdf(a)` and of e^x times it, a computed as a sum of two quotients, for |a| ≤ 37.5, |x| ≤ 690."""
SAFETY = 1.01  # error bounds are themselves computed in floats
EXTENDED = 2.0**-62
"""Relative, of sums, products and quotients of numpy's longest floats where they are extended ones; `ULPS` times that
of their expm1."""
_TRANSFORM = 4  # a discrete Fourier transform of length n errs by at most this times u·log2(n), relatively, in 2-norm


def extended() -> bool:
    """Whether this platform's longest floats are extended or quadruple ones; elsewhere nobody uses them."""
    kind = np.finfo(np.longdouble)
    return bool(kind.minexp < -16000 and kind.nmant >= 63)


def normal_cdf(x: Array) -> Array:
    """Φ at each place, trusted as `NORMAL` says."""
    from scipy.special import ndtr  # type: ignore[import-untyped]  # loaded by the engines alone: it is slow to import

    return np.asarray(ndtr(x))


def log_normal_cdf(z: Array) -> Array:
    """ln Φ(z) at each place: 0 to all digits from z = 9 on, else by erfc, and where that would underflow by the series
    of Mills' ratio, 1 − 1/z² + 3/z⁴ − …, whose terms alternate: from z = −30 down the first left out is below 2e-14.
    """
    result = np.zeros_like(z)
    near = np.flatnonzero(z < 9)
    values = (-math.sqrt(0.5) * z[near]).tolist()
    with np.errstate(divide="ignore"):
        result[near] = np.log([0.5 * math.erfc(value) for value in values])
    far = np.flatnonzero(z <= -30)
    square = np.square(z[far])
    mills = np.zeros_like(square)
    for odd in (9, 7, 5, 3, 1):
        mills = -odd / square * (1 + mills)
    result[far] = -0.5 * square - np.log(-z[far] * math.sqrt(2 * math.pi)) + np.log1p(mills)
    return result


def forward(x: Array) -> tuple[Complexes, float]:
    """The transform of a real array (its non-negative frequencies), and a bound of the error of each value."""
    n = len(x)
    size = math.sqrt(n) * math.sqrt(dot(x, x))
    return np.fft.rfft(x), SAFETY * _TRANSFORM * UNIT * math.log2(n) * size


def backward(spectrum: Complexes, n: int) -> tuple[Array, float]:
    """The real array with this transform, and a bound of the error of each value."""
    size = math.sqrt(2 * (dot(spectrum.real, spectrum.real) + dot(spectrum.imag, spectrum.imag)) / n)
    return np.fft.irfft(spectrum, n), SAFETY * _TRANSFORM * UNIT * math.log2(n) * size
