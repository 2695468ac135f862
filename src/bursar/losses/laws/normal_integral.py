"""Integrals against a normal density, in balls: what the moments of a sampled Gaussian are.

The range is cut to a finite window; what lies outside is bounded through |integrand| ≤ (c + c′·e^{κ|x|})·φ and added to
the radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import acb, arb, ctx

from bursar.numerics import normal
from bursar.numerics.balls import Ball, ComplexBall
from bursar.numerics.quadrature import integral

Integrand = Callable[[ComplexBall, bool], ComplexBall]


def normal_integral(
    h: Integrand, sigma: Ball, *, flat: Ball, steep: Ball, growth: Ball, above_half: bool = False
) -> ComplexBall:
    """∫ φ_σ(x)·h(x) dx for |h(x)| ≤ flat + steep·e^{growth·|x|}, on the line or from ½ on."""
    bits = ctx.prec + 40 + min(max(float(growth * sigma * sigma), 0.0), 1e6)
    reach = sigma * sigma * growth + sigma * arb(math.sqrt(2 * math.log(2) * bits))
    edge = arb(float(reach.upper())) if reach.is_finite() else reach
    scale = 1 / (sigma * (2 * arb.pi()).sqrt())

    def inside(x: ComplexBall, analytic: bool) -> ComplexBall:
        return h(x, analytic) * (-x * x / (2 * sigma * sigma)).exp() * scale

    lifted = (growth * growth * sigma * sigma / 2).exp() * normal.cdf(growth * sigma - edge / sigma)
    error = arb(0, (2 * (flat * normal.cdf(-edge / sigma) + steep * lifted)).upper())
    half = arb(1) / 2
    if above_half:
        edge = edge.max(arb(1))
    return integral(inside, (half, edge) if above_half else (-edge, arb(0), half, edge)) + acb(error, error)


def power(x: ComplexBall, exponent: int) -> ComplexBall:
    """x^0, x^1 or x^2 without logarithms, which would spoil balls around 0."""
    return acb(1) if exponent == 0 else x if exponent == 1 else x * x
