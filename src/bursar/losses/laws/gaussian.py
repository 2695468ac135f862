"""The loss of Gaussian noise: L ~ N(μ²/2, μ²), μ = sensitivity/σ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bursar.guarantees.gdp import gaussian_delta
from bursar.losses._base import Loss
from bursar.numerics import normal
from bursar.numerics.balls import Ball, ComplexBall, ball, complex_ball, infinity

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class GaussianLoss(Loss):
    """N(0, 1) against N(μ, 1), in either direction."""

    mu: Ball

    def profile(self, epsilon: object) -> Ball:
        """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
        return gaussian_delta(self.mu, ball(epsilon))

    def cdf(self, x: object) -> Ball:
        """Φ((x − μ²/2)/μ)."""
        return normal.cdf((ball(x) - self.mu**2 / 2) / self.mu)

    def support(self) -> tuple[Ball, Ball]:
        """The whole line."""
        return -infinity(), infinity()

    def mean(self) -> Ball:
        """μ²/2."""
        return self.mu**2 / 2

    def variance(self) -> Ball:
        """μ²."""
        return self.mu**2

    def cumulant(self, t: object) -> ComplexBall:
        """t(t + 1)μ²/2."""
        z = complex_ball(t)
        return z * (z + 1) * self.mu**2 / 2

    def rough_cumulant(self, t: float) -> float:
        """The same in floats."""
        return t * (t + 1) * float(self.mu) ** 2 / 2

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Normal losses."""
        mu = float(self.mu)
        return rng.normal(mu * mu / 2, mu, size)
