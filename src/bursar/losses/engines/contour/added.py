"""Adding a record to a Poisson-sampled Gaussian, from above and without any nodes.

That adding a record costs less than removing one is asked at every account, and mostly far from being close. With
A = 1 − q + q·e^u the odds of §4 of proofs/contour.md, and x ~ N(0, σ²), three things answer it:

    moments   E[A^{−t}] ≤ 1 + t(t+1)/2·m₂ − t(t+1)(t+2)/6·m₃ + t(t+1)(t+2)(t+3)/24·(1−q)^{−t−4}·m₄, m_n = E[(A−1)^n]
    Chernoff  δ(ε) ≤ c_t·e^{K(t)−tε}
    modulus   δ(ε) ≤ (e^{K(t)−tε}/π) ∫ |φ|/|t(t+1)| ds, with φ bounded by a few uniform laws below the tilted density

The derivations are in proofs/contour.md §2 and §3.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.contour.factors import uniform_decay
from bursar.losses.engines.contour.modulus import integral
from bursar.losses.engines.contour.sampled_cut import rough_variance
from bursar.losses.engines.contour.sampled_factor import without_record
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, relative_radius, up

_SKEWED = 1.15  # the losses are skewed to the left, so that the saddle lies so many times beyond a Gaussian's
_LARGEST = 1e3  # of the tilt
_SMALLEST, _MOST = 0.5, 0.5  # of σ and of q: beyond, more would have to be said about rounding
_PRECISE = 1e-12  # of σ and q, relatively
_ROUNDED = 1e-7  # of logarithms of densities and of widths: far more than what rounding and readings move them by
_EDGES = np.linspace(-4.0, 4.0, 13)  # of the cells, in units of σ
_PLACES = np.geomspace(0.15, 60.0, 48)  # of the integral, in units of 1 over the spread


def by_four_moments(sigma: Ball, rate: Ball, tilt: float | Ball) -> Ball:
    """An upper bound of ln E[A^{−t}], by four moments of A or by two where that is less: odds are skewed, and a third
    moment takes away what the second alone adds.
    """
    t, w = arb(tilt), (1 / (sigma * sigma)).expm1()
    # E[(A − 1)^n] over q^n, n = 2, 3, 4, without cancellation
    second, third, fourth = w, w * w * (3 + w), w * w * (3 + w * (16 + w * (15 + w * (6 + w))))
    last = (-(t + 4) * (-rate).log1p()).exp() * (t + 3) * rate / 4
    grown = rate * rate * t * (t + 1) / 2 * (second - rate * (t + 2) / 3 * (third - last * fourth))
    two = without_record((sigma, rate), tilt)
    return two.min(grown.log1p().upper()) if grown.is_finite() and grown > -1 else two


def at_most(sigma: Ball, rate: Ball, count: int, epsilon: float, delta: Ball) -> bool:
    """Whether δ(ε) of so many copies, a record added, is certainly at most δ; False says nothing."""
    variance = rough_variance(float(sigma), float(rate), count)
    tilt = _SKEWED * (epsilon / variance - 0.5)
    if not 1 <= tilt < _LARGEST:
        return False
    one = by_four_moments(sigma, rate, tilt)
    lead = (count * one - arb(tilt) * arb(epsilon)).exp()
    if lead * chernoff_constant(tilt).exp() <= delta:
        return True
    if not (sigma > _SMALLEST and rate < _MOST and max(relative_radius(sigma), relative_radius(rate)) < _PRECISE):
        return False
    pieces = _pieces(float(sigma), float(rate), tilt, up(one))
    s = _PLACES / math.sqrt(variance)
    return bool(lead * integral(tilt, s, uniform_decay([pieces], count)(s)) <= delta)


def _pieces(sigma: float, rate: float, tilt: float, most: float) -> Array:
    """(share, width) of uniform laws below the density of the tilted loss, where ``most`` is no less than ln M.

    In z = x/σ the logarithm of that density is −z²/2 − (t−1)·ln A − u − ln(q/σ) − ln √2π − ln M, which is concave for
    t ≥ 1: smallest on a cell at one of its ends, and above any height on one interval.
    """
    u = (_EDGES - 0.5 / sigma) / sigma
    odds = np.log1p(rate * np.expm1(u))
    height = -0.5 * _EDGES * _EDGES - (tilt - 1) * odds - u
    height -= math.log(rate / sigma * math.sqrt(2 * math.pi)) + most + _ROUNDED * (1 + tilt)
    density = np.exp(np.minimum(height[1:], height[:-1]))
    order = np.argsort(-density)
    heights, widths = density[order], np.cumsum(np.diff(odds)[order]) * (1 - _ROUNDED)
    return np.column_stack([(heights - np.append(heights[1:], 0.0)) * widths, widths])
