"""The trusted base of the floating-point engines: what is assumed of numpy and libm, each number sampled by a test.

IEEE-754 basic operations round to nearest. Everything else the engines use from outside is listed here with the error
it is trusted with; flint's balls carry their own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

UNIT = 2.0**-53
ULPS = 8  # of numpy's exp, expm1, log, log1p, sin, cos, hypot, arctan2 and logaddexp, and of libm's erfc
NORMAL = 2.0**-38
"""Relative, of `normal_cdf(a)` and of e^x times it, a computed as a sum of two quotients, for |a| ≤ 37.5, |x| ≤ 690."""
SAFETY = 1.01  # error bounds are themselves computed in floats
_TRANSFORM = 4  # a discrete Fourier transform of length n errs by at most this times u·log2(n), relatively, in 2-norm

Array = Any


def normal_cdf(x: Array) -> Array:
    """Φ at each place, trusted as `NORMAL` says."""
    from scipy.special import ndtr  # type: ignore[import-untyped]  # loaded by the engines alone: it is slow to import

    return ndtr(x)


def forward(x: Array) -> tuple[Array, float]:
    """The transform of a real array (its non-negative frequencies), and a bound of the error of each value."""
    n = len(x)
    size = math.sqrt(n) * float(np.linalg.norm(x))
    return np.fft.rfft(x), SAFETY * _TRANSFORM * UNIT * math.log2(n) * size


def backward(spectrum: Array, n: int) -> tuple[Array, float]:
    """The real array with this transform, and a bound of the error of each value."""
    size = math.sqrt(2.0) * float(np.linalg.norm(spectrum)) / math.sqrt(n)
    return np.fft.irfft(spectrum, n), SAFETY * _TRANSFORM * UNIT * math.log2(n) * size
