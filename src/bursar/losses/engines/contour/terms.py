"""What a contour sums: its terms at every node, and the errors of what comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Factor
from bursar.numerics.arrays import Array
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY


@dataclass(frozen=True)
class Errors:
    """The error budget of one evaluation, relative to δ."""

    aliasing: float
    truncation: float
    cut: float
    """What the smooth cut gives up."""
    quadrature: float
    """Of the moments, their rounding included."""
    rounding: float
    """Of the sum."""

    def terms(self) -> tuple[tuple[str, float], ...]:
        """Each error with its name, in the order of the fields."""
        return tuple((field.name, getattr(self, field.name)) for field in fields(self))


class Sums:
    """The terms of the sum at every node, apart from e^{K(τ)−τε}: size and angle, and what is unsure about them."""

    def __init__(self, factors: Sequence[Factor], tau: float, frequencies: Array) -> None:
        parts = [factor.moments(tau, frequencies) for factor in factors]
        self.drift = sum((part.drift for part in parts), arb(0))
        none = np.zeros_like(frequencies)
        turn, size = sum((part.turn for part in parts), none), sum((part.log_size for part in parts), none)
        self.turn_size = sum((np.abs(part.turn) + np.abs(part.log_size) for part in parts), none)
        self.share = np.exp(size) / (np.hypot(tau, frequencies) * np.hypot(tau + 1, frequencies))
        self.share[0] /= 2
        self.angle = turn - np.arctan2(frequencies, tau) - np.arctan2(frequencies, tau + 1)
        self.powers = tau + 1j * frequencies
        doubt = np.expm1(np.minimum(sum((part.error for part in parts), none), 700.0))
        self.doubt = SAFETY * summed(self.share, doubt)
        self.near_drift = float(self.drift)
