"""How much the integrand behind a moment grows off the real line by its phase: what the step of the nodes must make up
for.

On the line Im x = θσ² the modulus of A^{is} is e^{−s·arg A}. Its mean under the tilted law is bounded by an upper sum
over cells, divided by a lower sum of the same integrand (proofs/contour.md §4).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bursar.numerics.arrays import Array

if TYPE_CHECKING:
    from bursar.losses.engines.contour.sampled_integral import SampledIntegral

THETAS = np.array([0.06, 0.25, 0.7, 1.4, 2.5])
_NEAR, _BEYOND = np.linspace(0.0, 1.0, 97), np.linspace(0.0, 1.0, 41)[1:]


def phase_growth(integral: SampledIntegral, tau: float, reach: float) -> Array:
    """ln of the mean of e^{s·|arg A|} under the tilted law, for each θ, by an upper sum."""
    square = integral.sigma * integral.sigma
    x = _line(integral, tau, reach)
    cells = np.diff(x)
    u = np.minimum((2 * x - 1) / (2 * square), 600.0)
    odds = integral.rate * np.exp(u)
    angle = np.arctan2(
        np.multiply.outer(np.sin(THETAS), odds), 1 - integral.rate + np.multiply.outer(np.cos(THETAS), odds)
    )
    power = (1 + tau) if integral.removed else -tau
    height = -x * x / (2 * square) + power * (
        integral.losses(u)[1] + np.maximum((2 * x - 1) / (2 * square) - 600.0, 0.0)
    )
    upper, lower = height, height
    if integral.removed:
        z = np.maximum((x - integral.cut) / integral.soft, 0.0)
        upper, lower = height - 0.5 * z * z, height + integral.log_cut(x)  # Φ(−z) ≤ e^{−z²/2}
    # on a cell the logarithm is a concave function plus a convex one: the first may rise above its ends, the second
    # sag below
    rise = cells * cells / 8 * (1 / square + (1 / integral.soft**2 if integral.removed else 0.0))
    sag = cells * cells / 8 * abs(power) / (4 * square * square)
    top = np.maximum(upper[1:], upper[:-1]) + rise + (sag if power < 0 else 0.0) + np.log(cells)
    bottom = np.minimum(lower[1:], lower[:-1]) - (sag if power > 0 else 0.0) + np.log(cells)
    shape = top + reach * angle[:, 1:]
    peak = shape.max(axis=1, keepdims=True)
    mass = peak[:, 0] + np.log(np.exp(shape - peak).sum(axis=1))
    lead = float(bottom.max())
    growth: Array = np.maximum(mass - lead - math.log(float(np.exp(bottom - lead).sum())), 0.0) + 0.01
    return growth


def _line(integral: SampledIntegral, tau: float, reach: float) -> Array:
    """Cells for the sums: fine in the window, coarse beyond, as far as e^{s·θ} could lift the tail."""
    low, high = integral.window(tau)
    lifted = 2 * (reach * float(THETAS[-1]) + integral.tolerance + 3)
    if integral.removed:
        far = high + math.sqrt(lifted / (1 / integral.sigma**2 + 1 / integral.soft**2))
    else:
        far = integral.sigma * math.sqrt(lifted - 2 * tau * math.log1p(-integral.rate))
    return np.concatenate([low + (high - low) * _NEAR, high + (max(far, 1.01 * high) - high) * _BEYOND])
