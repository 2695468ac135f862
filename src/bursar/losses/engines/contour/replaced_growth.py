"""How the modulus of a replaced record's integrand changes on lines off the real one, by its phase and by its second
power.

On Im x = ±θs² the modulus of e^{iωL} is e^{∓ω(α(x)+α(−x))}, α(x) = arg(1 − q + q·e^{u(x)+iθ}) ≥ 0. Means under the
tilted law are bounded by an upper sum over cells and its tails, divided by a lower sum of the same integrand
(proofs/contour.md §7). With the plus sign they say what the quadrature must make up for, with the minus sign how fast
the moments decay.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bursar.numerics.arrays import Array

if TYPE_CHECKING:
    from bursar.losses.engines.contour.replaced_integral import ReplacedIntegral

_NEAR, _BEYOND = np.linspace(0.0, 1.0, 97), np.linspace(0.0, 1.0, 25)[1:]
_LEAST = -1e9


def replaced_growth(integral: ReplacedIntegral, tau: float, frequencies: Array, *, sign: int = 1) -> Array:
    """ln of the mean under the tilted law of |A(−x)|^{−τ} relative to its real value, times e^{±ω(α(x)+α(−x))}: for
    each θ in rows and each frequency in columns.
    """
    thetas, lifts = integral.thetas, integral.power_growth(tau, integral.thetas)
    reached = float(frequencies[-1] * thetas[-1]) if sign > 0 else 0.0
    x = _line(integral, tau, reached + float(lifts[-1]))
    top, bottom = _heights(integral, tau, x)
    here, there = _bends(integral.seen(-x))
    # (1 − 4p(1−p)·sin²(θ/2))^{−τ/2}, with the largest p(1−p) on the cell
    bend = 4 * np.maximum(here, there) * np.square(np.sin(thetas / 2))[:, None]
    power = -0.5 * tau * np.log1p(-bend)
    rising, falling = _angles(integral, x), _angles(integral, -x)
    if sign > 0:
        angle = rising[:, 1:] + falling[:, :-1]
        edges = thetas + falling[:, -1], thetas + rising[:, 0]
    else:
        angle = -(rising[:, :-1] + falling[:, 1:])
        edges = -rising[:, -1], -falling[:, 0]
    shape = (top + power)[:, None, :] + np.multiply.outer(frequencies, np.ones(1)) * angle[:, None, :]
    peak = shape.max(axis=2)
    mass = peak + np.log(np.exp(shape - peak[:, :, None]).sum(axis=2))
    unit = math.log(integral.sigma * math.sqrt(2 * math.pi))
    tails = integral.tails(float(x[0]), float(x[-1]), tau) + unit + lifts
    outside = tails[:, None] + np.multiply.outer(np.maximum(*edges), frequencies)
    lead = float(bottom.max())
    found: Array = np.logaddexp(mass, outside) - lead - math.log(float(np.exp(bottom - lead).sum())) + 1e-6
    return found


def _heights(integral: ReplacedIntegral, tau: float, x: Array) -> tuple[Array, Array]:
    """ln of upper and of lower bounds of the integrals of φ·A^{1+τ}·A(−x)^{−τ}·χ over the cells."""
    square, cells = integral.sigma**2, np.diff(x)
    height, unsure, _ = integral.height(x, tau)
    upper, lower = integral.highest(x, tau)[0], height - unsure + integral.log_cut(x)
    # on a cell the logarithm is a concave function plus a convex one: the first may rise above its ends, the second
    # sag below
    convex, concave = (np.maximum(*_bends(integral.seen(side))) for side in (x, -x))
    eighth = cells * cells / 8
    rise = eighth * (1 / square + 1 / integral.soft**2 + tau * concave / square**2)
    sag = eighth * (1 + tau) * convex / square**2
    top = np.maximum(upper[1:], upper[:-1]) + rise + np.log(cells)
    bottom = np.maximum(np.minimum(lower[1:], lower[:-1]) - sag, _LEAST) + np.log(cells)
    return top, bottom


def _bends(p: Array) -> tuple[Array, Array]:
    """p(1−p) at both ends of each cell, or ¼ where p passes ½: its maximum on the cell is the larger of the two."""
    bend = p * (1 - p)
    passed = (p[1:] - 0.5) * (p[:-1] - 0.5) <= 0
    return np.where(passed, 0.25, bend[1:]) * (1 + 1e-9), bend[:-1] * (1 + 1e-9)


def _angles(integral: ReplacedIntegral, x: Array) -> Array:
    """α at each place, for each θ: it rises with x."""
    thetas, odds = integral.thetas, integral.rate * np.exp(np.minimum((2 * x - 1) / (2 * integral.sigma**2), 600.0))
    real = 1 - integral.rate + np.multiply.outer(np.cos(thetas), odds)
    angles: Array = np.arctan2(np.multiply.outer(np.sin(thetas), odds), real)
    return angles


def _line(integral: ReplacedIntegral, tau: float, lift: float) -> Array:
    """Cells for the sums: fine in the window, coarse beyond, as far as tails could be lifted by e^lift."""
    low, high = integral.window(tau)
    lifted = 2 * (lift + integral.tolerance + 3)
    far = high + math.sqrt(lifted / (1 / integral.sigma**2 + 1 / integral.soft**2))
    start = min(-integral.sigma * math.sqrt(lifted), 1.01 * low)
    outer = np.concatenate([low + (start - low) * _BEYOND[::-1], low + (high - low) * _NEAR])
    return np.concatenate([outer, high + (max(far, 1.01 * high) - high) * _BEYOND])
