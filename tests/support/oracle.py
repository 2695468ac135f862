"""A slow, independent evaluation of composed losses in balls: its own contour, its own step, its own quadrature, no
error analysis shared with the engines.

δ(ε) is summed along t = τ + is with a step so small and a reach so long that aliases and tails are far below the
digits asked for; both are then changed and the results compared, so that a poor choice shows itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import acb, arb


@dataclass(frozen=True)
class Gauss:
    """A Gaussian release."""

    mu: arb

    def log_moment(self, t: acb) -> acb:
        """t(t+1)μ²/2."""
        return t * (t + 1) * self.mu * self.mu / 2


class Sampled:
    """A Poisson-sampled Gaussian by flint's adaptive integration, x cut off hard where count·P(x beyond) is below
    1e-24·δ.
    """

    def __init__(self, sigma: arb, rate: arb, count: int, log_delta: float, *, removed: bool) -> None:
        self.sigma, self.rate, self.removed = sigma, rate, removed
        depth = 2 * (56 + math.log(count) - log_delta)
        reach = float(sigma) * math.sqrt(depth)
        places = (
            [-reach, -0.4 * reach, 0.0, 0.4 * reach, 1 + reach]
            if removed
            else [-reach, -0.4 * reach, 0.0, 0.4 * reach, reach]
        )
        self.breaks = [arb(place) for place in places]

    def log_moment(self, t: acb) -> acb:
        """ln ∫ φ·A^p, p = 1 + t or −t."""
        power = 1 + t if self.removed else -t
        square, scale = 2 * self.sigma * self.sigma, 1 / (self.sigma * (2 * arb.pi()).sqrt())

        def integrand(x: acb, analytic: bool) -> acb:
            odds = 1 - self.rate + self.rate * ((2 * x - 1) / square).exp()
            return (power * odds.log(analytic=analytic) - x * x / square).exp() * scale

        parts = [acb.integral(integrand, a, b, rel_tol=arb(2) ** -96) for a, b in pairwise(self.breaks)]
        return sum(parts, acb(0)).log()


class Replaced:
    """A replaced record's sampled Gaussian by flint's adaptive integration, in units in which the noise is s = 2σ, with
    a smooth cut on both sides.
    """

    def __init__(self, sigma: arb, rate: arb, cut: float, soft: float) -> None:
        self.noise, self.rate, self.cut, self.soft = 2 * sigma, rate, arb(cut), arb(soft)
        end, reach = cut + 16 * soft, 16 * float(self.noise)
        self.breaks = [arb(x) for x in sorted({-end, -cut, -min(cut, reach / 4), 0.0, min(cut, reach / 4), cut, end})]

    def log_moment(self, t: acb) -> acb:
        """ln ∫ φ·A(x)^{1+t}·A(−x)^{−t}·P(|x + aZ| ≤ c)."""
        square, root = 2 * self.noise * self.noise, self.soft * arb(2).sqrt()
        scale = 1 / (self.noise * (2 * arb.pi()).sqrt())

        def integrand(x: acb, analytic: bool) -> acb:
            odds, other = (1 - self.rate + self.rate * ((2 * y - 1) / square).exp() for y in (x, -x))
            kept = (((x - self.cut) / root).erfc() - ((x + self.cut) / root).erfc()) / 2
            power = (1 + t) * odds.log(analytic=analytic) - t * other.log(analytic=analytic)
            return (power - x * x / square).exp() * kept * scale

        parts = [acb.integral(integrand, a, b, rel_tol=arb(2) ** -70) for a, b in pairwise(self.breaks)]
        return sum(parts, acb(0)).log()


def delta(
    parts: Sequence[tuple[object, int]],
    epsilon: arb,
    tau: float,
    spread: float,
    *,
    fine: float = 1.0,
    small: str = "1e-22",
) -> arb:
    """δ(ε) of a composition, from a contour at τ; ``spread`` is the standard deviation of the tilted total loss, and
    terms are left out from where they stay ``small`` beside the sum.
    """
    step = arb(0.3 / fine) / arb(spread * 3)
    total, j, quiet = arb(0), 0, 0
    while quiet < 6 and j < 20_000:
        t = acb(tau, j * step)
        k = sum((count * part.log_moment(t) for part, count in parts), acb(0))
        term = ((k - epsilon * t).exp() / (t * (t + 1))).real
        total += term / 2 if j == 0 else term
        quiet = quiet + 1 if abs(term) < abs(total) * arb(small) else 0
        j += 1
    return total * step / arb.pi()


I = acb(0, 1)
