"""Discrete Gaussian noise of a small σ, in many releases: how likely it moves outputs n steps towards larger losses.

With h = 1/(2σ²) and λ = k·e^{−h} the chance of n steps in all is C(k, n)·e^{−hn}·p₀^k times a factor between 1 and
e^{kR}, R = Σ_{y≥2} (n·e^h)^y·e^{−hy²} + Σ_{y≥1} λ^y·e^{−hy²} (proofs/steady.md §4).
"""

from __future__ import annotations

from flint import arb

from bursar.losses.engines.rungs import Rung, Rungs
from bursar.numerics.balls import Ball

_LEAST = 20  # of h
_RARE = 1e-3  # of λ: with more hits than that, ordinary sums serve
_MOST = 64  # rungs
_NEGLIGIBLE = 40.0  # by how much, as a logarithm, what is left out stays below δ


def rungs(variance: Ball, shift: int, count: int, chance: Ball, depth: float) -> Rungs | None:
    """The rungs of so many releases, down to e^{−depth}; ``chance`` is p₀, of an output that is not moved."""
    h = 1 / (2 * variance)
    hits = count * (-h).exp()
    if not (h >= _LEAST and hits < _RARE):
        return None
    step, start = arb(shift) / variance, count * arb(shift) ** 2 / (2 * variance)
    height = count * chance.log()
    found: list[Rung] = []
    for n in range(_MOST + 1):
        most = height + count * (arb("1.01") * max(n, 1) ** 2 * (-2 * h).exp() + arb("1.01") * hits * (-h).exp())
        if float(most) < -depth - _NEGLIGIBLE:
            # each rung is at most 2λ times the one below
            return Rungs(found, (most.exp() / (1 - 2 * hits)).upper())
        # whatever lies below the lowest rung counts as if it were there
        found.append(Rung(start + n * step, height, most if n else arb(0)))
        if n == count:  # more than all of them need a step of two
            return None
        height += (arb(count - n) / (n + 1)).log() - h
    return None
