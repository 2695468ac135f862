"""The odometer: a bound on the loss so far that holds at all times at once.

Statement: for releases chosen adaptively, P(there is an n with L_n > u_n) ≤ δ′ for

    u_n = √(2(V_n + γ)·ln(√((V_n + γ)/γ)/δ′)) + V_n/2,     V_n = 2Σρᵢ,

whatever γ > 0 was fixed before the first release. Σεᵢ bounds the loss surely, so the smaller of the two holds too.
Reading a fixed-time bound after every release is not such a bound: it is crossed with more than its probability.
Source: Whitehouse, Ramdas, Rogers and Wu 2023, Theorem 3, with zCDP steps (only positive exponents are used).
"""

from __future__ import annotations

from fractions import Fraction

from bursar.numerics.balls import Ball, ball, up, working


def mixture(variance: Fraction, gamma: Fraction, delta: Fraction) -> float:
    """The bound u_n of the statement above, rounded up."""
    with working():
        v, g, d = ball(variance), ball(gamma), ball(delta)
        return up((2 * (v + g) * ((((v + g) / g).sqrt()) / d).log()).sqrt() + v / 2)


def line(variance: Fraction, tangent: Fraction, delta: Fraction) -> float:
    """The boundary that is tight at V = y: √(2 ln(1/δ))·(√y/2 + V/(2√y)) + V/2, rounded up."""
    with working():
        v, y, d = ball(variance), ball(tangent), ball(delta)
        return up((-2 * d.log()).sqrt() * (y.sqrt() / 2 + v / (2 * y.sqrt())) + v / 2)


def stitched(variance: Fraction, start: Fraction, delta: Fraction) -> float:
    """1.7√(V(ln ln(2V/v₀) + 0.72·ln(5.2/δ))) + V/2 for V ≥ v₀, rounded up."""
    with working():
        v, v0, d = ball(max(variance, start)), ball(start), ball(delta)
        constant: Ball = ball(Fraction(72, 100)) * (ball(Fraction(52, 10)) / d).log()
        return up(ball(Fraction(17, 10)) * (v * ((2 * v / v0).log().log() + constant)).sqrt() + v / 2)
