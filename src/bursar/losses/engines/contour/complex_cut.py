"""The smooth cut off the real line: Φ(w − iv), for the sampled Gaussian's moments on a shifted line.

As d/dv Φ(w − iv) = −iφ(w − iv), the value is Φ(w) − iφ(w)·∫₀^v e^{y²/2 + iwy} dy: a Gauss–Legendre sum whose nodes come
from balls and whose error is that of an entire function (proofs/contour.md §4, "The cut off the line").
"""

from __future__ import annotations

import functools
import math

import numpy as np
from flint import arb

from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.products import product
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

FARTHEST = 6.0  # of v
DEEPEST = -30.0  # of w: further left Φ underflows
_POINTS = 48
_CLEAR = 10.0  # of w: further right Φ is 1 to all digits


@functools.cache
def _rule() -> tuple[Array, Array]:
    """Nodes and weights of the rule on [0, 1], each within a rounding of the exact one."""
    pairs = [arb.legendre_p_root(_POINTS, k, weight=True) for k in range(_POINTS)]
    return np.array([float((1 + x) / 2) for x, _ in pairs]), np.array([float(w / 2) for _, w in pairs])


def complex_cut(w: Array, v: float) -> tuple[Array, Complexes, Array]:
    """Exponents f, values and bounds of their errors: Φ(w − iv) is e^f times the value; f = −w²/2 where w < 0, so that
    nothing underflows.
    """
    if not 0 < v <= FARTHEST or float(w.min()) < DEEPEST:
        raise ArithmeticError("the cut lies too far from the line")
    shift = np.where(w < 0, -0.5 * w * w, 0.0)
    value = np.ones(len(w), dtype=complex)
    error = 0.5 * np.exp(0.5 * (v * v - w * w))  # |1 − Φ(w − iv)| ≤ Φ(−w)·e^{v²/2}, where Φ is taken as 1
    near = np.flatnonzero(w <= _CLEAR)
    x, lift = w[near], -shift[near]
    places, weights = _rule()
    y = v * places
    grown = weights * np.exp(0.5 * y * y) * v
    turned = product(np.exp(1j * np.multiply.outer(x, y)), grown)
    real = np.exp(lift) * np.array([0.5 * math.erfc(-math.sqrt(0.5) * place) for place in x.tolist()])
    bell = np.exp(lift - 0.5 * x * x) / math.sqrt(2 * math.pi)
    value[near] = real - 1j * bell * turned
    size = v * math.exp(0.5 * v * v)  # at least the sum of the moduli
    rounding = UNIT * (
        (2 * ULPS + 8) * (2 + 2 * x * x) * real
        + bell * size * (4 * ULPS + 3 * _POINTS + 24 + 4 * (np.abs(x) + v) * v + 2 * x * x)
    )
    # on Bernstein's ellipse ρ = 4 |Re y| ≤ 1.5625v and |Im y| ≤ 0.9375v; where w ≥ 0 the bell makes up for e^{w|Im y|}
    far = 0.9375 * v
    swing = np.where(x < 0, -x * far, 0.5 * far * far)
    rule = 1.0 * v * np.exp(0.5 * (1.5625 * v) ** 2 + swing - 2 * _POINTS * math.log(4.0))
    error[near] = rounding + rule
    return shift, value, SAFETY * error
