"""Where a sampled Gaussian's large losses are cut off, and the tilts at which they would explode: guesses, in floats.

Soundness does not depend on them: what a cut gives up is bounded for the cut that is used (proofs/contour.md §4).
"""

from __future__ import annotations

import math

import numpy as np

from bursar.numerics.arrays import Array
from bursar.numerics.lattice import short


def choose_cut(sigma: float, rate: float, depth: float, tilt: float, *, seen: bool) -> tuple[float, float]:
    """How soft the cut is and where it lies. Where tilts are large it must be sharp, or the far branch explodes; unless
    ln A is so flat there that even at such tilts it does not. Where the record shows more often than δ (``seen``), how
    it shows counts: the saddle lies before the cut, where e^{τL} rises as fast as the normal density falls.
    """
    far = 1 + sigma * math.sqrt(2 * depth)
    if seen:
        steep = rate * math.exp(min((2 * far - 1) / (2 * sigma**2), 600.0))
        tilt = min(tilt, 4 * far * (1 + steep) / steep)
    sharp = sigma * math.sqrt(far / (4 * tilt))
    if sharp >= sigma:
        return _cut_of(sigma, depth, sigma)
    lifted = rate * math.exp(min((3 * far - 1) / (2 * sigma**2), 600.0))
    if lifted > 10:  # as steep as it ever is
        return _cut_of(sigma, depth, sharp)
    # as soft as can be without lifting what lies behind it much above what lies there anyway
    square, softer = sigma**2, min(sharp * math.sqrt((1 + lifted) / lifted), sigma)

    def height(soft: float, cut: float, x: Array) -> float:
        u = (2 * x - 1) / (2 * square)
        log_odds = np.log1p(rate * np.expm1(np.minimum(u, 600.0))) + np.maximum(u - 600.0, 0.0)
        return float((4 * tilt * log_odds - x * x / (2 * square) - np.square((x - cut) / soft) / 2).max())

    sharpest = _cut_of(sigma, depth, sharp)
    most = max(height(*sharpest, np.array([sharpest[1]])), -3.0) + 3
    while softer > 1.5 * sharp:
        soft, cut = _cut_of(sigma, depth, softer)
        if height(soft, cut, cut + soft * np.geomspace(0.1, max(8 * tilt * soft / square, 1.0), 100)) <= most:
            return soft, cut
        softer /= 2
    return sharpest


def _cut_of(sigma: float, depth: float, soft: float) -> tuple[float, float]:
    """A cut about so soft, behind all but e^{−depth} of the mass."""
    soft = short(soft, 5)
    return soft, math.ceil(16 * (1 + math.sqrt(2 * depth * (sigma**2 + soft**2)))) / 16


def heaviest(sigma: float, rate: float, cut: float) -> float:
    """The tilt at which φ·A^{1+τ} is as large far away, at the cut or before, as at 0."""
    far = min(cut, 1 + 2 * sigma**2 * math.log(1 / rate))
    loss = math.log1p(rate * math.expm1(min((2 * far - 1) / (2 * sigma**2), 600.0)))
    return max(far * far / (2 * sigma**2 * loss) - 1, 1.0) if loss > 0 else math.inf


def rough_variance(sigma: float, rate: float, count: int) -> float:
    """q²(e^{1/σ²} − 1) a copy: the variance of A without the record, and about that of the loss; or, where the record
    shows plainly, the square of the loss that it then brings.
    """
    seen = max(1 / (2 * sigma**2) + math.log(rate), 0.0)
    return count * min(rate**2 * math.expm1(min(1 / sigma**2, 500.0)), rate * (seen**2 + 1 / sigma**2))
