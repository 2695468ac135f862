"""An upper end of δ without a sum: the integral of the modulus of the integrand.

    δ(ε) ≤ δ_∞ + (1/π) ∫_0^∞ e^{K(τ)−τε}·|φ(s)|/|t(t+1)| ds,   t = τ + is,

with φ the characteristic function of the tilted law, of which only its decay is needed: no moment off the real line.
Near the saddle point the integrand hardly turns while it is large, so little is lost (proofs/contour.md §3, "Without
a sum").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Factor, NoContour
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY

_PLACES = np.concatenate([np.arange(1, 41) / 8, np.geomspace(5.5, 8e3, 40)])  # in units of 1 over the spread


def delta_below(factors: Sequence[Factor], leak: Ball, epsilon: float, tau: float) -> Ball:
    """An upper bound of δ(ε) of the composed factors, at this tilt."""
    if not tau > 0:
        raise NoContour("to the left of its pole at 0 the integral is not δ")
    if epsilon < max(factor.floor for factor in factors):
        raise NoContour("what is given up is not known for so small an ε")
    s = _PLACES / math.sqrt(sum(factor.rough_variance() for factor in factors))
    cumulant = sum((factor.cumulants([tau])[0] for factor in factors), arb(0))
    decay = np.sum([factor.decay(tau, Care.LEAST)(s) for factor in factors], axis=0)
    given_up = sum((factor.given_up for factor in factors), arb(0))
    return leak + given_up + (cumulant - arb(tau) * arb(epsilon)).exp() * integral(tau, s, decay)


def integral(tau: float, s: Array, decay: Array) -> Ball:
    """(1/π) ∫ |φ|/|t(t+1)| ds, from bounds of ln|φ| at rising places: on each cell the modulus is at most what it is at
    its left end; beyond the last, ∫ ds/s² is one over it.
    """
    starts, sizes = np.append(0.0, s), np.exp(np.append(0.0, decay))
    heights = sizes / (np.hypot(tau, starts) * np.hypot(tau + 1, starts))
    whole = SAFETY * (summed(heights[:-1], np.diff(starts)) + float(sizes[-1] / s[-1]))
    return arb(whole) / arb.pi()
