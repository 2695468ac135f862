"""Discrete Gaussians of a large σ, beside Gaussians: δ is the Gaussian one but for an error in closed form.

The moments of k discrete Gaussians are the Gaussian ones near the real line, and repeat themselves with period
T = 2πσ²/Δ along it. So with V = Σμᵢ² and any tilt τ > 0

    |δ(ε) − δ_V(ε)| ≤ e^{τ(τ+1)V/2 − τε}·E,   E about π²/(T²√(2πkμ²))/(2π),

which is (z/(2σ√k))² of δ at the z-th standard deviation (proofs/likeness.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from bursar.guarantees.gdp import gaussian_delta
from bursar.losses.engines.answer import Answer, Losses
from bursar.numerics.balls import Ball
from bursar.numerics.search import crossing

LEAST = 100  # of σ²: what the constants below were made for


class Likeness(NamedTuple):
    """The Gaussian that a loss is like: its μ², and for noise on the integers σ² and the period of its moments."""

    mu_square: Ball
    noise: Ball | None = None
    period: Ball | None = None


class Alike(NamedTuple):
    """Copies of one loss that is like a Gaussian."""

    like: Likeness
    count: int


def delta_of(terms: Sequence[Alike], epsilon: Ball) -> Ball:
    """δ(ε) of all of them together."""
    square = sum((count * like.mu_square for like, count in terms), arb(0))
    plain = gaussian_delta(square.sqrt(), epsilon)
    discrete = [term for term in terms if term.like.noise is not None]
    if not discrete:
        return plain
    x, v = float(epsilon), float(square)
    tau = arb(max(x / v - 0.5, min(1.0, v**-0.5)))  # where the bound is least, or thereabouts
    off = (tau * (tau + 1) * square / 2 - tau * epsilon).exp() * _error(discrete, square, tau)
    return (plain + arb(0, off.upper())).max(arb(0)).min(arb(1))


def _error(discrete: Sequence[Alike], square: Ball, tau: Ball) -> Ball:
    """E, term by term as in proofs/likeness.md §3."""
    near = arb(0)
    for like, count in discrete:
        assert like.noise is not None
        near += count * 4.2 * (-(arb.pi() ** 2) * like.noise).exp()
    near = near.expm1()
    (own, noise, period), count = min(discrete, key=lambda term: float(term.like.period or 0))
    assert noise is not None
    assert period is not None
    far = (-count * (arb.pi() ** 2 * noise / 8 - arb("1.14"))).exp()
    whole = (2 * arb.pi() / (count * own)).sqrt() * (1 + near) + period * far / 2
    inner = near * (2 * arb.pi() / square).sqrt() / (tau * (tau + 1))
    return (inner + 20 * far / period + arb.pi() ** 2 * whole / (period * period)) / (2 * arb.pi())


def epsilon_at(losses: Losses, delta: Ball) -> Answer | None:
    """ε of a composition of nothing but these; None where something else is in it, or nothing is discrete."""
    terms = []
    for loss, count in losses:
        like = loss.likeness()
        if like is None:
            return None
        terms.append(Alike(like, count))
    if all(term.like.noise is None for term in terms) or not delta > 0:
        return None
    square = sum((count * like.mu_square for like, count in terms), arb(0))
    guess = float(square / 2 + (square * -2 * delta.log()).sqrt()) if delta < 1 else 1.0
    found = crossing(lambda x: delta_of(terms, arb(x)), delta, guess=guess)
    return Answer(found.lower, found.upper, (), "closed form", 1, 0.0)
