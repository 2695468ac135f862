"""The factors of a composition as the contour engine sees them: cumulants, certified moments off the real line, and how
fast they decay.

Every factor stands for ``count`` copies of one loss. Floats guide (`rough`); what ends up in a bound is a ball
(`moments`, `cumulants`) or a bound proved for all larger frequencies (`decay`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from bursar.losses._base import Loss
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, down
from bursar.numerics.products import product
from bursar.numerics.trusted import SAFETY, UNIT

Decay = Callable[[Array], Array]
DEAD = -80.0  # of the logarithm of all copies' moment: nothing below matters


class NoContour(Exception):
    """The engine cannot serve this composition within its limits."""


class Care(Enum):
    """How closely to look at the decay: more care costs time and saves nodes."""

    LEAST = 0
    MOST = 1


@dataclass(frozen=True)
class Moments:
    """ln E[e^{tL}] at t = τ + is, up to multiples of 2πi: K(τ) + i·s·drift + log_size + i·turn, up to ``error``."""

    drift: Ball
    log_size: Array
    turn: Array
    error: Array


class Factor(ABC):
    """``count`` copies of one loss."""

    count: int
    given_up: Ball = arb(0)
    """By how much the factor may lower δ at most."""
    floor: float = -math.inf
    """The ε from which on ``given_up`` holds."""
    smooth: bool = True
    """Whether its moments decay along the line."""
    heavy: float = math.inf
    """The tilt beyond which far, rare losses outweigh the near ones."""
    mirrored: bool = False
    """Whether cumulants at tilts below −1 are known, and the masses of both laws are 1 but for what is given up."""
    splits: bool = False
    """Whether few large losses can be told from many small ones: see `rare`."""

    @abstractmethod
    def rough(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all copies at a real tilt, in floats."""

    def rough_variance(self) -> float:
        """A first guess of the variance of all copies."""
        return self.rough(1.0)[2]

    def live(self, tau: float, step: float, count: int) -> int:
        """How many of so many multiples of a frequency may have moments above e^{`DEAD`}: all, if nothing is known."""
        return count

    def pairs(self, tau: float, frequencies: Array) -> float:
        """About how many pairs of a node and a frequency the moments take, where that may be very many."""
        return 0.0

    def rough_cumulants(self, tilts: Array) -> Array:
        """K of all copies at several real tilts, in floats."""
        return np.array([self.rough(tilt)[0] for tilt in tilts.tolist()])

    @abstractmethod
    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K of all copies at real tilts, most closely at the first."""

    def mirror(self, tilt: Ball) -> Ball:
        """An upper bound of K of all copies at −1 − tilt, for a tilt > 0."""
        raise NoContour("no cumulants below −1 are known")

    @abstractmethod
    def moments(self, tau: float, frequencies: Array) -> Moments:
        """The moments of all copies at t = τ + is, for frequencies s = 0, Δ, 2Δ, …"""

    def gaussian_part(self) -> Ball | None:
        """μ² where the whole factor is Gaussian: all such factors are one."""
        return None

    def rare(self, floor: float, log_delta: float) -> Factor:
        """The compositions in which at least one copy has a large loss; what the others may add to δ from the floor on
        is given up.
        """
        raise NoContour("small and large losses cannot be told apart")

    @abstractmethod
    def decay(self, tau: float, care: Care) -> Decay:
        """Frequencies s ↦ upper bounds of ln|E[e^{(τ+is′)L}]/E[e^{τL}]| of all copies, valid for every s′ ≥ s."""


@dataclass(frozen=True)
class GaussianFactor(Factor):
    """All the Gaussians together: one, with the sum of their μ²."""

    mu_square: Ball
    count: int = 1
    mirrored = True

    def gaussian_part(self) -> Ball:
        """μ²."""
        return self.mu_square

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K = τ(τ + 1)μ²/2 and its derivatives, in floats."""
        m = float(self.mu_square)
        return tau * (tau + 1) * m / 2, (2 * tau + 1) * m / 2, m

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K(τ) = τ(τ + 1)μ²/2 at each tilt."""
        return [arb(tau) * (arb(tau) + 1) * self.mu_square / 2 for tau in tilts]

    def live(self, tau: float, step: float, count: int) -> int:
        """Up to where e^{−μ²s²/2} is above e^{−80}."""
        return int(min(count, 2 + 1.001 * math.sqrt(-2 * DEAD / max(down(self.mu_square), 1e-300)) / step))

    def mirror(self, tilt: Ball) -> Ball:
        """K(−1 − t) = K(t)."""
        return tilt * (tilt + 1) * self.mu_square / 2

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """K(t) = t(t + 1)μ²/2 at t = τ + is."""
        size = -0.5 * float(self.mu_square) * frequencies * frequencies
        doubt = float((self.mu_square.rad() / self.mu_square).upper()) + 4 * UNIT
        return Moments((2 * arb(tau) + 1) * self.mu_square / 2, size, np.zeros_like(size), doubt * np.abs(size))

    def decay(self, tau: float, care: Care) -> Decay:
        """The bound −s²μ²/2, which falls with s."""
        half = down(self.mu_square) / 2
        return lambda s: -s * s * half * (1 - 1e-12)


class Exponential(NamedTuple):
    """The density height·e^{(l−reach)/2} on [−reach, reach]."""

    reach: Ball
    height: Ball


class ClosedFactor(Factor):
    """A loss whose cumulant function has a closed form, perhaps with a density between its atoms."""

    def __init__(self, loss: Loss, count: int, density: Exponential | None = None) -> None:
        self.loss, self.count, self.density = loss, count, density
        self.smooth = density is not None

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K by the law's own floats, K′ and K″ by its differences."""
        step = 1e-3 * (1 + tau) if tau > 0.01 else 0.1 * tau
        low, middle, high = (self.loss.rough_cumulant(tau + d) for d in (-step, 0.0, step))
        first, second = (high - low) / (2 * step), (high - 2 * middle + low) / (step * step)
        return self.count * middle, self.count * first, self.count * second

    def rough_cumulants(self, tilts: Array) -> Array:
        """K alone at several tilts, without its derivatives."""
        return np.array([self.count * self.loss.rough_cumulant(tilt) for tilt in tilts.tolist()])

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K by its closed form, in balls."""
        return [self.count * self.loss.cumulant(arb(tau)).real for tau in tilts]

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """K(τ + is) by its closed form, in balls."""
        start = self.loss.cumulant(arb(tau)).real
        drift = arb(self.rough(tau)[1])
        size, turn, error = (np.empty(len(frequencies)) for _ in range(3))
        for i, s in enumerate(frequencies):
            left = self.count * (self.loss.cumulant(acb(tau, float(s))) - start) - acb(0, drift * float(s))
            size[i], turn[i] = float(left.real), float(left.imag)
            error[i] = float((left.real.rad() + left.imag.rad()).upper()) + UNIT * (abs(size[i]) + abs(turn[i]))
        return Moments(drift, size, turn, SAFETY * error)

    def decay(self, tau: float, care: Care) -> Decay:
        """From uniform pieces of the density between the atoms, where there is one; atoms alone do not decay."""
        if self.density is None:
            return np.zeros_like
        return uniform_decay([self._pieces(tau, *self.density)], self.count)

    def _pieces(self, tau: float, reach: Ball, height: Ball) -> list[tuple[float, float]]:
        """Uniform pieces below the tilted density height·e^{(l−reach)/2 + τl}/E[e^{τL}], as (share, width): it rises,
        so its minimum on a piece is at the left.
        """
        norm = self.loss.cumulant(arb(tau)).real
        best: list[tuple[float, float]] = []
        for parts in (1, 6):
            width = 2 * reach / parts
            first = height * (-reach - tau * reach - norm).exp() * width
            growth = (width * (arb(1) / 2 + tau)).exp()
            pieces, size = [], max(down(width), 0.0)
            for _ in range(parts):
                pieces.append((max(down(first), 0.0), size))
                first *= growth
            best = max(best, pieces, key=lambda p: sum(share * size * size for share, size in p))
        return best


def uniform_decay(ways: Sequence[Array | list[tuple[float, float]]], count: int) -> Decay:
    """|φ(s)| ≤ 1 − Σ share·(1 − |sinc(s·width/2)|) for uniform parts (proofs/contour.md §3), cut in the best way."""
    sets = []
    for pieces in ways:
        table = np.asarray(pieces, dtype=float).reshape(-1, 2)
        total = float(table[:, 0].sum())
        sets.append((table[:, 0] * (1 - 1e-9) / max(total, 1.0), table[:, 1] / 2))

    def bound(s: Array) -> Array:
        lost = np.zeros_like(s)
        for share, half in sets:
            lost = np.maximum(lost, product(least_gap(np.multiply.outer(s, half)), share))
        return count * np.log1p(-np.minimum(lost * (1 - 1e-9), 1 - 1e-15))

    return bound


def least_gap(z: Array) -> Array:
    """A lower bound of 1 − |sinc(y)| for all y ≥ z: up to √10 it is at least y²/6 − y⁴/120, which rises; from π on
    |sinc| stays below 0.2173; and everywhere it stays below 1/y.
    """
    square = np.square(z)
    np.minimum(square, 10.0, out=square)  # in place: tables of it are large
    near = square / 120
    np.subtract(1 / 6, near, out=near)
    near *= square
    np.minimum(near, 1 - 0.2173, out=near)
    far = np.maximum(z, 1.0)
    np.divide(1.0, far, out=far)
    np.subtract(1.0, far, out=far)
    return np.maximum(near, far, out=near)
