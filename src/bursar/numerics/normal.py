"""The normal distribution in balls."""

from __future__ import annotations

from flint import arb

from bursar.numerics.balls import Ball


def cdf(x: Ball) -> Ball:
    """Φ(x), with full relative accuracy in the left tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def density(x: Ball) -> Ball:
    """φ(x)."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def quantile(p: Ball) -> Ball:
    """Φ⁻¹(p) for 0 < p < 1."""
    return -arb(2).sqrt() * (2 * p).erfcinv()
