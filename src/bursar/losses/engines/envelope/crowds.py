"""Crowds: different Laplace losses by their closed form, and different losses with a few atoms each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.envelope.crowd import Crowd, Values
from bursar.losses.places import Law, spread
from bursar.numerics.arrays import Array, Complexes, Integers
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import ULPS, UNIT


class LaplaceCrowd(Crowd):
    """Different Laplace losses: M(t) = e^{tε}·((t+1) + t·e^{−(2t+1)ε})/(2t+1)."""

    def __init__(self, epsilons: Sequence[Ball], counts: Sequence[int]) -> None:
        super().__init__(counts)
        self.exact = list(epsilons)
        self.epsilons = np.array([float(epsilon) for epsilon in epsilons])
        self.spreads = np.array([spread(epsilon) for epsilon in epsilons])
        self.whole = list(counts)

    def arrange(self, order: Integers) -> None:
        """Put the losses into this order."""
        self.exact, self.whole = [self.exact[i] for i in order], [self.whole[i] for i in order]
        self.epsilons, self.spreads, self.counts = self.epsilons[order], self.spreads[order], self.counts[order]

    def single(self, tilts: Array) -> Array:
        """τε + ln(1 − τ(1 − e^{−(2τ+1)ε})/(2τ+1))."""
        t, e = tilts[:, None], self.epsilons
        found: Array = t * e + np.log1p(t * np.expm1(-(2 * t + 1) * e) / (2 * t + 1))
        return found

    def doubts(self, tilt: float) -> Array:
        """K′ lies between −ε and ε; of the formula at most a few roundings of its parts."""
        e = self.epsilons
        # the logarithm's argument is at least ½: τ(1 − e^{−x})/(2τ+1) < ½
        inner = -tilt * np.expm1(-(2 * tilt + 1) * e) / (2 * tilt + 1)
        found: Array = 2 * tilt * e * self.spreads + UNIT * (4 * tilt * e + (4 * ULPS + 16) * inner)
        return found

    def drifts(self, tau: float) -> tuple[Array, Ball]:
        """Every loss is shifted by its largest value."""
        return self.epsilons, sum((k * e for k, e in zip(self.whole, self.exact, strict=True)), arb(0))

    def values(self, tau: float, part: slice, frequencies: Array, live: Integers) -> Values:
        """((t+1) + t·e^{−(2t+1)ε})/(2t+1) at t = τ + is, relative to its value at τ."""
        e, s = self.epsilons[part, None], frequencies[live]
        fade = np.exp(-(2 * tau + 1) * e)
        start = (tau + 1 + tau * fade) / (2 * tau + 1)
        # (t+1)/(2t+1) = a − ic and t/(2t+1) = b + ic, of sizes at most 1 and ½; the second turns by 2sε
        square = 2 * s * s
        below = np.square(2 * tau + 1) + 2 * square
        first, second = np.empty(len(s), dtype=complex), np.empty(len(s), dtype=complex)
        first.real, second.real = ((tau + 1) * (2 * tau + 1) + square) / below, (tau * (2 * tau + 1) + square) / below
        second.imag = s / below
        first.imag = -second.imag
        found = turns(-2 * e, frequencies, live, fade / start)
        found *= second
        found += first / start
        slack = UNIT * (8 * ULPS + 64) + 2 * fade * (2 * tau + 1) * e * (self.spreads[part, None] + 4 * UNIT)
        drift = 4 * fade * e * (self.spreads[part, None] + 4 * UNIT)
        return Values(found, slack / start + drift / start * s)


def turns(rates: Array, frequencies: Array, live: Integers, sizes: Array) -> Complexes:
    """size·e^{i·rate·s} for each rate at some of the frequencies 0, Δ, 2Δ, …: with j = pR + r as a product of two
    entries of short tables (proofs/envelope.md §9).
    """
    near = 1 << max(math.ceil(math.log2(max(len(frequencies), 1)) / 2), 1)
    slow, fast = (np.exp(1j * (rates * part)) for part in (frequencies[::near], frequencies[:near]))
    found: Complexes
    if len(live) == len(frequencies):
        found = ((slow * sizes)[:, :, None] * fast[:, None, :]).reshape(len(rates), -1)[:, : len(frequencies)]
    else:
        found = (slow * sizes)[:, live // near] * fast[:, live % near]
    return found


class AtomsCrowd(Crowd):
    """Different losses with few atoms each, and nothing else."""

    def __init__(self, laws: Sequence[Law], counts: Sequence[int]) -> None:
        super().__init__(counts)
        widest = max(len(law.losses) for law in laws)

        def table(name: str, empty: float) -> Array:
            rows = np.full((len(laws), widest), empty)
            for row, law in zip(rows, laws, strict=True):
                column = getattr(law, name)
                row[: len(column)] = column
            return rows

        self.losses, self.loss_errors = table("losses", 0.0), table("loss_errors", 0.0)
        self.heights, self.mass_errors = table("log_masses", -np.inf), table("mass_errors", 0.0)

    def arrange(self, order: Integers) -> None:
        """Put the losses into this order."""
        self.losses, self.loss_errors = self.losses[order], self.loss_errors[order]
        self.heights, self.mass_errors = self.heights[order], self.mass_errors[order]
        self.counts = self.counts[order]

    def single(self, tilts: Array) -> Array:
        """ln Σ p·e^{τl}."""
        exponents = self.heights + tilts[:, None, None] * self.losses
        top = exponents.max(axis=2)
        found: Array = top + np.log(np.exp(exponents - top[:, :, None]).sum(axis=2))
        return found

    def _weights(self, tau: float) -> tuple[Array, Array]:
        """Tilted masses that sum to 1 in each row, and bounds of their relative errors."""
        exponents = self.heights + tau * self.losses
        weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        sizes = np.where(np.isfinite(self.heights), np.abs(self.heights), 0.0) + 2 * np.abs(tau * self.losses)
        errors = self.mass_errors + tau * self.loss_errors + UNIT * (2 * ULPS + 8 + weights.shape[1] + 4 * sizes)
        if not float(np.max(np.where(weights > 1e-26, errors, 0.0))) < 1e-3:
            raise ArithmeticError("rounding errors are too large to be bounded to first order")
        return weights, errors + (weights * errors).sum(axis=1, keepdims=True)

    def doubts(self, tilt: float) -> Array:
        """The tilted mean of the errors of the terms, and the logarithm's own."""
        weights, errors = self._weights(tilt)
        found: Array = (weights * errors).sum(axis=1) + (ULPS + 2) * UNIT * np.abs(self.single(np.array([tilt]))[0])
        return found

    def drifts(self, tau: float) -> tuple[Array, Ball]:
        """Every loss is shifted by its tilted mean."""
        means = (self._weights(tau)[0] * self.losses).sum(axis=1)
        exact = sum((arb(k) * arb(m) for k, m in zip(self.counts.tolist(), means.tolist(), strict=True)), arb(0))
        return means, exact

    def values(self, tau: float, part: slice, frequencies: Array, live: Integers) -> Values:
        """Σ w·e^{is(l−m)} for each loss."""
        s = frequencies[live]
        weights, errors = (table[part] for table in self._weights(tau))
        apart = self.losses[part] - self.drifts(tau)[0][part, None]
        found = np.zeros((len(apart), len(s)), dtype=complex)
        for place, weight in zip(apart.T, weights.T, strict=True):
            found += weight[:, None] * np.exp(1j * np.multiply.outer(place, s))
        sizes = np.abs(apart)
        shift = self.loss_errors[part] + 4 * UNIT * (sizes + np.abs(self.losses[part]))
        # near 0 errors shrink with s, because the weights sum to 1 whatever they are
        near = np.multiply.outer((weights * (errors * sizes + shift)).sum(axis=1), s)
        near = near + np.multiply.outer((weights * (errors * sizes**2 + 2 * sizes * shift)).sum(axis=1), s * s)
        far = 2 * (weights * errors).sum(axis=1)[:, None] + np.multiply.outer((weights * shift).sum(axis=1), s)
        return Values(found, np.minimum(near, far) + (2 * ULPS + 2 * weights.shape[1] + 8) * UNIT)
