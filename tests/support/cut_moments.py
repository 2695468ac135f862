"""Moments of a sampled Gaussian with a smooth cut, in balls, by flint's own adaptive integration on the real line."""

from __future__ import annotations

from itertools import pairwise

from flint import acb, arb


def cut_moment(sigma: float, rate: float, t: acb, cut: tuple[arb, arb] | None, edges: tuple[float, float]) -> acb:
    """∫ φ_σ·A^p·χ, p = 1 + t with the cut (place, softness) where a record is removed, p = −t without one."""
    noise, share = arb(sigma), arb(rate)
    square, scale = 2 * noise * noise, 1 / (noise * (2 * arb.pi()).sqrt())
    power = -t if cut is None else 1 + t

    def integrand(x: acb, analytic: bool) -> acb:
        odds = 1 - share + share * ((2 * x - 1) / square).exp()
        value = (power * odds.log(analytic=analytic) - x * x / square).exp() * scale
        if cut is not None:
            value *= ((x - cut[0]) / (cut[1] * arb(2).sqrt())).erfc() / 2
        return value

    places = [edges[0] + (edges[1] - edges[0]) * i / 40 for i in range(41)]
    small = {"rel_tol": arb(2) ** -80, "abs_tol": arb(2) ** -180}
    return sum((acb.integral(integrand, acb(a), acb(b), **small) for a, b in pairwise(places)), acb(0))
