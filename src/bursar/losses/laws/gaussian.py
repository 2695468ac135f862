"""The loss of Gaussian noise: L ~ N(μ²/2, μ²), μ = sensitivity/σ."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from bursar.guarantees.gdp import far_gaussian_delta
from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.losses.engines.contour.factors import GaussianFactor
from bursar.losses.engines.likeness import Likeness
from bursar.losses.places import SLACK, WIDEST, Density, Law, Moves, itself, spread
from bursar.numerics import normal
from bursar.numerics.arrays import Array, Known
from bursar.numerics.balls import (
    Ball,
    ComplexBall,
    ComplexLike,
    RealLike,
    ball,
    complex_ball,
    infinity,
)
from bursar.numerics.trusted import UNIT


@dataclass(frozen=True)
class GaussianLoss(Loss):
    """N(0, 1) against N(μ, 1), in either direction."""

    mu: Ball

    def profile(self, epsilon: RealLike) -> Ball:
        """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
        return self.copies_profile(1, ball(epsilon))

    def cdf(self, x: RealLike) -> Ball:
        """Φ((x − μ²/2)/μ)."""
        return normal.cdf((ball(x) - self.mu**2 / 2) / self.mu)

    def tail(self, x: RealLike) -> Ball:
        """Φ((μ²/2 − x)/μ), with all digits where it is small."""
        return normal.cdf((self.mu**2 / 2 - ball(x)) / self.mu)

    def support(self) -> tuple[Ball, Ball]:
        """The whole line."""
        return -infinity(), infinity()

    def mean(self) -> Ball:
        """μ²/2."""
        return self.mu**2 / 2

    def variance(self) -> Ball:
        """μ²."""
        return self.mu**2

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """t(t + 1)μ²/2."""
        z = complex_ball(t)
        return z * (z + 1) * self.mu**2 / 2

    def rough_cumulant(self, t: float) -> float:
        """K(t) = t(t + 1)μ²/2 in floats, for searching."""
        return t * (t + 1) * float(self.mu) ** 2 / 2

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Losses from N(μ²/2, μ²)."""
        mu = float(self.mu)
        return rng.normal(mu * mu / 2, mu, size)

    def contour_factor(self, count: int, log_delta: float) -> GaussianFactor:
        """One Gaussian for all copies, with the sum of their μ²."""
        return GaussianFactor(count * self.mu * self.mu)

    def envelope_factor(self, count: int, depth: float) -> GaussianFactor:
        """The same factor serves every engine."""
        return self.contour_factor(count, -depth)

    def lattice_law(self, depth: float) -> Law:
        """The normal density of the loss itself."""
        m, reach = float(self.mu), math.sqrt(2 * depth)
        middle, doubt = m * m / 2, spread(self.mu)

        def log_density(v: Array) -> Known:
            z = (v - middle) / m
            slip = np.abs(z) / m * 4 * UNIT * (np.abs(v) + middle)
            error = (6 * UNIT + 3 * doubt) * (np.square(z) + m * np.abs(z) + 1) + slip
            return -0.5 * np.square(z) - math.log(m * math.sqrt(2 * math.pi)), error

        edge = middle + reach * m
        # on a disc of radius r around c the log-density moves by at most r(2|c − m| + r)/(2μ²) ≤ 1
        width = min(m / (2.1 * (reach + m + 1)), WIDEST)
        # the window is symmetric, so it holds for the reversed pair too: sampling mixes the two
        moves = (normal_moves(middle, m), normal_moves(-middle, m))
        density = Density(-edge, edge, width, log_density, itself, lambda g: g, moves=moves)
        return Law(densities=(density,), log_lost=SLACK - depth)

    def likeness(self) -> Likeness:
        """The Gaussian that it is, with this μ²."""
        return Likeness(self.mu**2)

    def gaussian_noise(self) -> bool:
        """True: the noise is Gaussian."""
        return True

    def copies_profile(self, count: int, epsilon: Ball) -> Ball:
        """That of one Gaussian with √count·μ, also where its terms are far beyond floats (proofs/hits.md §3)."""
        return far_gaussian_delta(self.mu * arb(count).sqrt(), epsilon)

    def sampled_pair(self, pair: Directions, rate: Ball) -> Directions:
        """The sampled Gaussian, whose integrals are its own."""
        return sampled_gaussian(1 / self.mu, rate)


def normal_moves(middle: float, deviation: float) -> Moves:
    """By how much ln of a normal density moves on a disc: r(2|c − m| + r)/(2s²), and a little for readings of both."""

    def moves(at: Array, radius: Array) -> Array:
        return 1.001 * radius * (2 * np.abs(at - middle) + radius) / (2 * deviation * deviation)

    return moves


def sampled_gaussian(sigma: Ball, rate: Ball) -> Directions:
    """Both directions of the Poisson-sampled Gaussian under the add/remove relation."""
    from bursar.losses.laws.sampled_gaussian import sampled_normal  # a third of the engines, for those who sample

    base = GaussianLoss(1 / sigma)
    return sampled_normal(Directions(base, base, True), sigma, rate)
