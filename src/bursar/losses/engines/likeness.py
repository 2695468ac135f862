"""Discrete Gaussians of a large σ, beside Gaussians: δ is the Gaussian one but for an error in closed form.

The moments of k discrete Gaussians are the Gaussian ones near the real line, and repeat themselves with period
T = 2πσ²/Δ along it. So with V = Σμᵢ² and any tilt τ > 0

    |δ(ε) − δ_V(ε)| ≤ e^{τ(τ+1)V/2 − τε}·E,   E about π²/(T²√(2πkμ²))/(2π),

which is (z/(2σ√k))² of δ at the z-th standard deviation (proofs/likeness.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from flint import arb

from bursar.guarantees.gdp import gaussian_delta
from bursar.losses.engines.answer import Answer, Losses, NoEnvelope
from bursar.losses.engines.contour.factors import GaussianFactor, Moments
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, up
from bursar.numerics.search import crossing

LEAST = 100  # of σ²: what the constants below were made for


class Likeness(NamedTuple):
    """The Gaussian that a loss is like: its μ², and for noise on the integers σ² and the period of its moments."""

    mu_square: Ball
    noise: Ball | None = None
    period: Ball | None = None


Alike = tuple[Likeness, int]
"""Copies of one loss that is like a Gaussian."""


def delta_of(terms: Sequence[Alike], epsilon: Ball) -> Ball:
    """δ(ε) of all of them together."""
    square = sum((count * like.mu_square for like, count in terms), arb(0))
    plain = gaussian_delta(square.sqrt(), epsilon)
    discrete = [term for term in terms if term[0].noise is not None]
    if not discrete:
        return plain
    x, v = float(epsilon), float(square)
    # where the bound is least, or thereabouts; below the mean δ is near 1, and any small tilt will do
    tau = arb(max(x / v - 0.5, 1 / (math.sqrt(v) + max(v / 2 - x, 0.0))))
    off = (tau * (tau + 1) * square / 2 - tau * epsilon).exp() * _error(discrete, square, tau)
    return (plain + arb(0, off.upper())).max(arb(0)).min(arb(1))


def _error(discrete: Sequence[Alike], square: Ball, tau: Ball) -> Ball:
    """E, term by term as in proofs/likeness.md §3."""
    near = arb(0)
    for like, count in discrete:
        assert like.noise is not None
        near += count * 4.2 * (-(arb.pi() ** 2) * like.noise).exp()
    near = near.expm1()
    (own, noise, period), count = min(discrete, key=lambda term: float(term[0].period or 0))
    assert noise is not None
    assert period is not None
    far = (-count * (arb.pi() ** 2 * noise / 8 - arb("1.14"))).exp()
    whole = (2 * arb.pi() / (count * own)).sqrt() * (1 + near) + period * far / 2
    inner = near * (2 * arb.pi() / square).sqrt() / (tau * (tau + 1))
    return (inner + 20 * far / period + arb.pi() ** 2 * whole / (period * period)) / (2 * arb.pi())


class LikeFactor(GaussianFactor):
    """Copies of a loss like a Gaussian, on its moments up to a quarter of their period: as proofs/likeness.md §2 says,
    each copy's logarithm is off by 4.2·e^{−π²σ²} there.
    """

    def __init__(self, like: Likeness, count: int) -> None:
        super().__init__(count * like.mu_square, count)
        self.like = like

    def gaussian_part(self) -> None:  # type: ignore[override]
        """None: it is no Gaussian at large frequencies."""
        return

    def _off(self) -> Ball:
        assert self.like.noise is not None
        return (self.count * 4.2 * (-(arb.pi() ** 2) * self.like.noise).exp()).upper()

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K of the Gaussian, and what that may be off."""
        return [cumulant + arb(0, self._off()) for cumulant in super().cumulants(tilts)]

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """The Gaussian's, within a quarter of the period."""
        assert self.like.period is not None
        if not arb(float(frequencies[-1])) < self.like.period / 4:
            raise NoEnvelope("the noise's own steps can be told apart")
        found = super().moments(tau, frequencies)
        return replace(found, error=found.error + up(2 * self._off()))


def epsilon_at(losses: Losses, delta: Ball) -> Answer | None:
    """ε of a composition of nothing but these; None where something else is in it, or nothing is discrete."""
    terms = []
    for loss, count in losses:
        like = loss.likeness()
        if like is None:
            return None
        terms.append((like, count))
    if all(like.noise is None for like, _ in terms) or not delta > 0:
        return None
    square = sum((count * like.mu_square for like, count in terms), arb(0))
    guess = float(square / 2 + (square * -2 * delta.log()).sqrt()) if delta < 1 else 1.0
    found = crossing(lambda x: delta_of(terms, arb(x)), delta, guess=guess)
    return Answer(found.lower, found.upper, (), "closed form", 1, 0.0)
