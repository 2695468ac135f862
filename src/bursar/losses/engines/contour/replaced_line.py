"""Moments of a replaced record along a line Im x = θs² off the real one, at frequencies ω > 0 of any size.

There |e^{iωL}| = e^{−ω(α(x)+α(−x))} ≤ 1, and at every height between the real line and a further one, Im x = ηs² with
θ < η < π: so the trapezoid sum errs by at most M(τ)/(e^{2πθs²/h} − 1) + N_η/(e^{2π(η−θ)s²/h} − 1), whatever ω is
(proofs/contour.md §7). Errors are absolute, in units of M(τ): near frequency 0 the real line is better.
"""

from __future__ import annotations

import math

import numpy as np
from flint import acb, arb

from bursar.losses.engines.contour.replaced_integral import ReplacedIntegral
from bursar.losses.engines.contour.sampled_odds import turned_odds
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball
from bursar.numerics.lattice import short
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_MOST_NODES = 20_000
_SHARES = np.linspace(0.04, 1.0, 25)
_GROWN = 4.0  # ln of how much larger than the moment the terms may be: rounding grows with it
_HIDDEN = 41.0  # −ln of what the cut may lack of 1 where it is taken as 1


class ShiftedLine:
    """The tilted integrand on a line: complex weights, normalised, and complex losses centred at ``mean``."""

    def __init__(self, integral: ReplacedIntegral, tau: float, cumulant: Ball, mean: float) -> None:
        self.integral, self.tau = integral, tau
        square = integral.sigma**2
        self.theta, self.step, grown = self._choose()
        x, outside = self._nodes(grown)
        u, y = np.multiply.outer([1.0, -1.0], 2 * x) - 1, self.theta * square
        error_a, log_a, turn_a = turned_odds(u[0] / (2 * square), self.theta, integral.rate, integral.spread)
        error_b, log_b, turn_b = turned_odds(u[1] / (2 * square), self.theta, integral.rate, integral.spread)
        log_cut, turn_cut, error_cut = _cut(integral, x, y)
        normal = (np.square(x) + y * y) / (2 * square) + np.abs(x) * self.theta
        sizes = normal + (1 + tau) * (np.abs(log_a) + turn_a) + tau * (np.abs(log_b) + turn_b) + np.abs(log_cut)
        log_size = (1 + tau) * log_a - tau * log_b + log_cut - (np.square(x) - y * y) / (2 * square)
        log_size += math.log(self.step / (integral.sigma * math.sqrt(2 * math.pi))) - float(cumulant)
        turn = (1 + tau) * turn_a + tau * turn_b + turn_cut - x * self.theta
        error = 6 * (integral.spread + UNIT) * normal + (1 + tau) * error_a + tau * error_b + error_cut
        error += float(cumulant.rad()) + UNIT * (8 * (sizes + abs(float(cumulant))) + 4 * ULPS + 16)
        size = np.exp(log_size)
        if not (float(error.max()) < 1 and float(np.max(np.where(size > 1e-25, error, 0.0))) < 1e-3):
            raise ArithmeticError("rounding errors are too large to be bounded to first order")
        self.weights = size * (np.cos(turn) + 1j * np.sin(turn))
        self.real, self.imag = (log_a - log_b) - mean, turn_a + turn_b
        loss_error = error_a + error_b + 6 * UNIT * (np.abs(log_a) + np.abs(log_b) + self.imag + abs(mean))
        # of the sums: a part that does not depend on the frequency, and one that grows with it
        fixed = error + UNIT * (6 * ULPS + 4 * len(x) + 64)
        self.error = SAFETY**2 * summed(size, fixed) + outside
        self.drift = SAFETY**2 * summed(size, loss_error + 8 * UNIT * (np.abs(self.real) + self.imag))

    def _choose(self) -> tuple[float, float, float]:
        """θ, a step of five bits for which both edges of the strip stay below the tolerance, and how much larger terms
        are than the moment.
        """
        integral, tolerance = self.integral, self.integral.tolerance
        thetas = _SHARES * min(float(integral.thetas[-1]), 2.8)
        growth = integral.base(thetas) + integral.power_growth(self.tau, thetas)
        apart = thetas[None, :] - thetas[:, None]
        steps = np.minimum(thetas[:, None] / tolerance, np.where(apart > 0, apart, 0.0) / (tolerance + growth))
        steps = np.where(((thetas <= 1.5) & (growth <= _GROWN))[:, None], steps, 0.0)
        i, j = np.unravel_index(int(np.argmax(steps)), steps.shape)
        scale = 2 * math.pi * integral.sigma**2
        if not steps[i, j] > 0:
            raise ArithmeticError("no line off the real one serves")
        step = short(0.97 * scale * float(steps[i, j]), 5)
        depth = max(-scale * float(thetas[i]) / step, float(growth[j]) - scale * float(apart[i, j]) / step)
        self.missing = 4 * math.exp(depth) if depth < -2 else math.inf  # 2/(e^x − 1) ≤ 3e^{−x}, and 1% for rounding
        return float(thetas[i]), step, float(growth[i])

    def _nodes(self, grown: float) -> tuple[Array, float]:
        """Multiples of the step over a window, and what quadrature and window leave out."""
        integral, tau = self.integral, self.tau
        low, high = integral.window(tau)
        low = -math.sqrt(low * low + 2 * integral.sigma**2 * grown)
        for _ in range(30):
            if integral.tails(low, high, tau) + grown < -integral.tolerance:
                break
            high += 0.1 * (high - integral.cut + integral.soft)
        first, last = math.floor(low / self.step), math.ceil(high / self.step)
        if last - first > _MOST_NODES:
            raise ArithmeticError(f"{last - first} nodes in x are too many")
        x = np.arange(first, last + 1, dtype=np.float64) * self.step
        tails = integral.tails(float(x[0]), float(x[-1]), tau) + grown
        return x, 1.1 * SAFETY * (self.missing + math.exp(min(tails, 700.0)) + 2 * integral.lost)

    def sums(self, step: float, first: int, last: int) -> tuple[Complexes, Array]:
        """E[e^{iω(L−m)}] under the tilted law at ω = jΔ, first ≤ j ≤ last, and bounds of the errors."""
        rows = math.isqrt(last) + 1
        near = self._turned(np.arange(rows, dtype=np.float64) * step)
        far = self._turned(np.arange(first // rows, last // rows + 1, dtype=np.float64) * (rows * step))
        start = first - first // rows * rows
        values = product(far * self.weights, near.T).ravel()[start : start + last - first + 1]
        return values, self.error + self.drift * SAFETY * step * np.arange(first, last + 1, dtype=np.float64)

    def _turned(self, omegas: Array) -> Complexes:
        angle = np.multiply.outer(omegas, self.real)
        shrunk = np.exp(-np.multiply.outer(omegas, self.imag))
        turned: Complexes = shrunk * np.cos(angle) + 1j * (shrunk * np.sin(angle))
        return turned


def _cut(integral: ReplacedIntegral, x: Array, y: float) -> tuple[Array, Array, Array]:
    """ln|χ| and arg χ at x + iy, and bounds of the errors: in balls near the cut, 1 where it is that to all digits."""
    log, turn = np.zeros_like(x), np.zeros_like(x)
    depth = np.maximum(integral.inside(x), 0.0) ** 2 / 2 - (y / integral.soft) ** 2 / 2
    error = np.where(depth > _HIDDEN, 3 * np.exp(-np.maximum(depth, _HIDDEN)), 0.0)
    scale, cut = 1 / (arb(integral.soft) * arb(2).sqrt()), arb(integral.cut)
    for i in np.flatnonzero(depth <= _HIDDEN).tolist():
        z = acb(abs(float(x[i])), y if x[i] >= 0 else -y)  # χ is even
        value = ((((z - cut) * scale).erfc() - ((z + cut) * scale).erfc()) / 2).log()
        log[i], turn[i] = float(value.real), float(value.imag)
        error[i] = float((value.real.rad() + value.imag.rad()).upper()) + UNIT * (abs(log[i]) + 8)
    return log, turn, error
