"""The lattice engine: every loss on one grid, composed by a tilted Fourier transform, with every error bounded.

The composed upper law U is a sum of the gridded losses. Its δ_U(ε) is an upper bound of δ(ε) at once. The lower one
comes from what the grid adds: U is the loss plus a Z that is ρ-zCDP, ρ = m·h²/8 for m moved releases, so for any a > 0

    δ(ε)·(1 − κ(e^a + 1)) ≥ δ_U(ε) − κ·(e^a·δ_U(ε − a) + δ_U(ε + a)) − b

with κ = √(ρ/2)/(e^a − 1) and b = e^{−(a−ρ)²/(4ρ)}.

The error is of second order in h even for atoms. The derivations are in proofs/lattice.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.chernoff import chernoff_constant
from bursar.losses.engines.lattice.grid import Gridded, NoLattice, TooCoarse, TooFine
from bursar.numerics.arrays import Array, Complexes, dot
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, backward, forward

_FAR = math.log(1e12)  # wrapped-around mass is pushed this far below δ
_RUNGS = (1.5, 3.0, 5.0, 8.0)
_FACTORS = (0.25, 0.5, 0.75, 0.9, 1.07, 1.15, 1.3, 1.6, 2.2)


class Lattice:
    """One direction of a composition on a grid, at one tilt: serves every ε near the one it was made for."""

    def __init__(self, grids: Sequence[Gridded], step: float, tau: float, leak: Ball) -> None:
        self.grids, self.step, self.tau, self.leak = grids, step, tau, leak
        self.head = sum((grid.count * arb(grid.log_norm) for grid in grids), arb(0))
        moments = [_moments(grid, step) for grid in grids]
        self.variance = sum(v for _, v in moments) + step * step
        self.mean = sum(m for m, _ in moments)
        self.lost = sum((grid.count * arb(grid.log_lost).exp() for grid in grids), arb(0))
        self.slack = SAFETY * math.fsum(grid.count * grid.slack for grid in grids)
        errors = SAFETY * math.fsum(grid.count * grid.error for grid in grids)
        if not errors < 1:
            raise TooFine("the masses are not known precisely enough for so many releases")
        self.inner = math.expm1(errors)
        self.discretisation, self.rounding, self.last, self.wrapped = 0.0, 0.0, 0.0, arb(0)
        self.moved = sum(grid.count for grid in grids if grid.moved)
        spread = math.sqrt(self.variance)
        if 2.2 * tau * step + 8 * step / spread > 600:
            raise TooCoarse("the tilt is too steep for the step")
        tilts = [tau * x for x in _FACTORS] + [tau + x / spread for x in _RUNGS]
        tilts += [tau - x / spread for x in _RUNGS if tau - x / spread > 0]
        self.ladder = {tilt: self._cumulant(tilt - tau) for tilt in tilts}

    def _cumulant(self, more: float) -> float:
        """An upper bound of K_U(τ + more) − K_U(τ), errors of the weights included."""
        total = 0.0
        for grid in self.grids:
            exponent = more * self.step * (grid.first + np.arange(len(grid.weights)))
            top = float(exponent.max())
            value = dot(grid.weights, np.exp(exponent - top)) + len(grid.weights) * 1e-307
            if grid.relative is not None:
                value *= 1 + grid.relative[0] + grid.relative[1] * (1 + math.exp((self.tau + more) * self.step))
            else:
                value += grid.error  # as if all of it were at the worst place
            if math.isfinite(grid.floor):
                value += math.exp(min((self.tau + more) * grid.floor - grid.log_norm - top, 700.0))
            rounding = UNIT * (4 * float(np.abs(exponent).max()) + len(grid.weights) + 4 * ULPS)
            total += grid.count * (top + math.log(value) + 2 * rounding)
        return total

    def compose(self, epsilon: float, log_delta: float, precision: float, most: int) -> None:
        """Choose the window around ε and compose all gridded losses in it."""
        # ε lies low in the window, for what is above it counts; below it there is room for what `lower` asks
        below = self.reach(log_delta, precision) + 8 * self.step + 8 / self.tau
        room = max(self._room(epsilon, log_delta), 4 * below)
        size = 1 << max(math.ceil(math.log2(room / self.step)), 6)
        if size > most:
            raise TooFine(f"{size} grid points are more than {most}")
        self.size, self.period = size, size * self.step
        self.start = math.floor(epsilon / self.step) - size // 4
        spectrum, noise = self._spectrum(size)
        raw, rounding = backward(spectrum, size)
        self.mass = np.roll(raw, -(self.start % size))
        self.noise = noise + rounding
        exponents = self.step * np.arange(size)
        self.first_fall = np.exp(-self.tau * exponents)
        self.second_fall = np.exp(-(self.tau + 1) * exponents)

    def _room(self, epsilon: float, log_delta: float) -> float:
        """A period for which Chernoff bounds push wrapped-around mass far below δ, on both sides."""
        height = float(self.head) - log_delta + _FAR
        above, high, low = math.inf, math.inf, max(_FAR - log_delta, 1.0) / self.tau
        for tilt, more in self.ladder.items():
            gap = max(height + more - tilt * epsilon, 1.0)
            if tilt > self.tau:
                above = min(above, gap / tilt / 0.74)
                high = min(high, gap / (tilt - self.tau))
            else:
                low = min(low, gap / (self.tau - tilt))
        return max(above, high, low, 64 * self.step)

    def _spectrum(self, size: int) -> tuple[Complexes, float]:
        """The product of all characteristic functions, and a bound of what its errors do to any one mass."""
        half = size // 2 + 1
        log_size, log_most, turn, slip = (np.zeros(half) for _ in range(4))
        for grid in self.grids:
            at = (grid.first + np.arange(len(grid.weights))) % size
            wrapped = np.bincount(at, grid.weights, size).astype(np.float64, copy=False)
            values, error = forward(wrapped)
            error += UNIT * (len(grid.weights) // size + 2)  # of adding up what wraps around
            modulus = np.abs(values)
            log_size += grid.count * np.log(modulus + 1e-300)
            log_most += grid.count * np.log(modulus + error)
            angle = np.angle(values)
            turn += grid.count * angle
            slip += (
                grid.count
                * UNIT
                * (2 * ULPS + 4 + len(self.grids))
                * (1 + np.abs(angle) + np.abs(np.log(modulus + 1e-300)))
            )
        log_size = np.minimum(log_size, log_most)
        product = np.exp(log_size) * (np.cos(turn) + 1j * np.sin(turn))
        most = np.exp(np.minimum(log_most, 700.0))
        doubt = -most * np.expm1(log_size - log_most) + most * np.minimum(slip + 4 * ULPS * UNIT, 2.0)
        return product, SAFETY * 2 * float(doubt.sum()) / size

    def tail(self, epsilon: float) -> tuple[Ball, Ball]:
        """Certified ends of δ_U(ε) − δ_∞, as far as the window and the floats go."""
        tau, h = self.tau, self.step
        n = math.floor(epsilon / h) + 1
        gap = n * h - epsilon
        if not self.start <= n <= self.start + self.size - 4:
            raise NoLattice("ε lies outside the window")
        mass = self.mass[n - self.start :]
        first = float((mass * self.first_fall[: len(mass)]).sum()) * math.exp(-tau * gap)
        second = float((mass * self.second_fall[: len(mass)]).sum()) * math.exp(-(tau + 1) * gap)
        value = first - second
        # what a unit of noise in every mass can do, and rounding of the two sums
        reach = math.exp(-tau * gap) / -math.expm1(-tau * h) - math.exp(-(tau + 1) * gap) / -math.expm1(-(tau + 1) * h)
        sums = (
            (abs(first) + abs(second))
            * (4 * ULPS + math.log2(self.size) + 8 + 4 * (tau + 1) * abs(epsilon) + min(tau * self.period, 800.0))
            * UNIT
        )
        noise = SAFETY * (self.noise * (reach + 1e-9 * abs(reach) + 1e-12) + sums)
        self.rounding, self.last = noise, epsilon
        lift = (self.head - arb(tau) * arb(epsilon)).exp()
        doubt = arb(noise) + chernoff_constant(tau).exp() * self.inner
        beyond, wrapped = self._wrap(epsilon, lift)
        self.wrapped = wrapped
        return (lift * (arb(value) - doubt) - wrapped).max(arb(0)), lift * (arb(value) + doubt) + beyond

    def _wrap(self, epsilon: float, lift: Ball) -> tuple[Ball, Ball]:
        """Bounds of the mass above the window, and of what wrapped-around mass adds inside it, by the best tilts."""
        above = (self.start + self.size - 1) * self.step - epsilon
        high = beyond = arb("inf")
        low = (1 + arb(self.inner)) / (arb(self.tau) * self.period).expm1()
        for tilt, more in self.ladder.items():
            chernoff = lift * (arb(more) - (arb(tilt) - arb(self.tau)) * arb(epsilon)).exp()
            side = chernoff / (abs(arb(tilt) - arb(self.tau)) * self.period).expm1()
            if tilt > self.tau:
                high = high.min(side)
                beyond = beyond.min(chernoff * (-arb(tilt) * arb(above)).exp())
            else:
                low = low.min(side)
        return beyond.upper(), (high + low).upper()

    def upper(self, epsilon: float) -> Ball:
        """A certified upper end of δ(ε)."""
        return self.leak + self.lost + self.tail(math.nextafter(epsilon - self.slack, -math.inf))[1]

    def price(self) -> Ball:
        """The ρ of the zCDP that the grid adds."""
        return arb(self.moved) * arb(self.step) ** 2 / 8

    def reach(self, log_delta: float, precision: float) -> float:
        """The a of the module's head: beyond it Z has less than a thousandth of the precision asked."""
        rho = float(self.price())
        return rho + 2 * math.sqrt(rho * (math.log(1000 / precision) - min(log_delta, 0.0)))

    def budget(self, log_delta: float) -> tuple[tuple[str, float], ...]:
        """The errors of the last evaluation, relative to δ."""
        lift = (self.head - arb(self.tau) * arb(self.last)).exp()
        size = math.exp(log_delta)
        inner = float(lift * chernoff_constant(self.tau).exp()) * self.inner
        return (
            ("discretisation", self.discretisation),
            ("aliasing", float(self.wrapped) / size),
            ("truncation", float(self.lost) / size),
            ("quadrature", inner / size),
            ("rounding", float(lift) * self.rounding / size),
        )

    def lower(self, epsilon: float, log_delta: float, precision: float) -> Ball:
        """A certified lower end of δ(ε): the inequality of the module's head, or U itself where no place was moved."""
        at = math.nextafter(epsilon + self.slack, math.inf)
        here = self.tail(at)[0]
        self.discretisation = 0.0
        if not self.moved:
            return self.leak + here
        rho, a = self.price(), self.reach(log_delta, precision)
        grown = arb(a).exp()
        kappa = (rho / 2).sqrt() / arb(a).expm1()
        rest = (-((arb(a) - rho) ** 2) / (4 * rho)).exp()
        share = 1 - kappa * (grown + 1)
        left, right = self.tail(math.nextafter(at - a, -math.inf))[1], self.tail(math.nextafter(at + a, -math.inf))[1]
        if not share > 0:
            return self.leak
        result = ((here - kappa * (grown * left + right) - rest) / share).lower()
        self.discretisation = float(1 - result / here) if here > 0 else 1.0
        return self.leak + result.max(arb(0))


def _moments(grid: Gridded, step: float) -> tuple[float, float]:
    """Mean and variance of all copies under the tilt, in floats."""
    at: Array = step * (grid.first + np.arange(len(grid.weights), dtype=np.float64))
    mean = dot(grid.weights, at)
    return grid.count * mean, grid.count * dot(grid.weights, np.square(at - mean))
