"""Discrete Gaussian noise, how far it moves outputs: its variance; and for a small σ, in many releases, the chance of n
steps towards larger losses.

With h = 1/(2σ²) and λ = k·e^{−h} the chance of n steps in all is C(k, n)·e^{−hn}·p₀^k times a factor between 1 and
e^{kR}, R = Σ_{y≥2} (n·e^h)^y·e^{−hy²} + Σ_{y≥1} λ^y·e^{−hy²} (proofs/steady.md §4).
"""

from __future__ import annotations

import itertools
import math

from flint import arb, arb_poly

from bursar.losses.engines.hit_steps import Steps
from bursar.losses.engines.rungs import Rung, Rungs
from bursar.numerics.balls import WORKING_BITS, Ball, hull, working

_LEAST, _LOW = 20, 2  # of h, for many releases and for few
_RARE = 1e-3  # of λ: with more hits than that, ordinary sums serve
_FEW, _MOST = 64, 64  # releases that are taken one by one; rungs
_SEEN, _MOST_OUTPUTS = 800.0, 100  # as a logarithm, what is seen at all; outputs on either side
_NEGLIGIBLE = 40.0  # by how much, as a logarithm, what is left out stays below δ


def rungs(variance: Ball, shift: int, count: int, chance: Ball, depth: float) -> Rungs | None:
    """The rungs of so many releases, down to e^{−depth}; ``chance`` is p₀, of an output that is not moved."""
    h = 1 / (2 * variance)
    hits = count * (-h).exp()
    step, start = arb(shift) / variance, count * arb(shift) ** 2 / (2 * variance)
    if count <= _FEW and h >= _LOW:
        return _few(h, count, chance, depth, (start, step))
    if not (h >= _LEAST and hits < _RARE):
        return None
    height = count * chance.log()
    found: list[Rung] = []
    for n in range(_MOST + 1):
        most = height + count * (arb("1.01") * max(n, 1) ** 2 * (-2 * h).exp() + arb("1.01") * hits * (-h).exp())
        if float(most) < -depth - _NEGLIGIBLE:
            # each rung is at most 2λ times the one below
            return Rungs(found, (most.exp() / (1 - 2 * hits)).upper())
        # whatever lies below the lowest rung counts as if it were there
        found.append(Rung(start + n * step, height, most if n else arb(0)))
        height += (arb(count - n) / (n + 1)).log() - h
    return None


def _few(h: Ball, count: int, chance: Ball, depth: float, line: tuple[Ball, Ball]) -> Rungs:
    """The same for few releases, by the powers of a polynomial: steps of two and more may be what reaches far."""
    reach = math.ceil(math.sqrt((depth + _NEGLIGIBLE) / float(h))) + 1
    with working(WORKING_BITS + 3 * math.ceil(depth + _NEGLIGIBLE)):  # chances of all sizes stand side by side
        one = [chance * (-h * y * y).exp() for y in range(-reach, reach + 1)]
        chances = (arb_poly(one) ** count).coeffs()[reach * count :]
    kept = list(itertools.takewhile(lambda p: p > 0 and float(p.log()) > -depth - _NEGLIGIBLE, chances))
    rungs = [Rung(line[0] + n * line[1], p.log(), p.log() if n else arb(0)) for n, p in enumerate(kept)]
    lost = 3 * count * (-h * (reach + 1) ** 2).exp()  # outputs further away, of any release
    return Rungs(rungs, (sum(chances[len(kept) :], lost)).upper())


def steps_of(variance: Ball, shift: int, chance: Ball) -> Steps | None:
    """The losses of one release by its outputs, where few of them are all that is ever seen."""
    h = 1 / (2 * variance)
    reach = math.ceil(math.sqrt(_SEEN / float(h))) + 1
    if reach > _MOST_OUTPUTS:
        return None
    step = arb(shift) / variance
    chances = [chance * (-h * y * y).exp() for y in range(-reach, reach + 1)]
    # outputs further away: each is at most half as likely as the one before
    return Steps(arb(shift) ** 2 / (2 * variance) + reach * step, step, chances, 4 * (-h * (reach + 1) ** 2).exp())


def variance_of(s: Ball, normaliser: Ball) -> Ball:
    """Var(Y) = σ² + 2σ⁴·ϑ′/ϑ for σ² = s, where ϑ = Σ e^{−2π²σ²k²}."""
    if s < 0.2:
        return _narrow_variance(s, normaliser)
    rate = 2 * arb.pi() ** 2 * s
    value, slope = arb(1), arb(0)
    k = 1
    while True:
        term = 2 * (-rate * k * k).exp()
        value += term
        slope -= term * 2 * arb.pi() ** 2 * k * k
        # later terms: each is at most e^{−2·rate·k} < 1/2 times the one before once rate·k ≥ 1, and k² grows slower
        # than that
        if rate * k >= 4 and term < arb(2) ** -140:
            rest = term * (2 * arb.pi() ** 2 * (k + 1) ** 2)
            value, slope = value + hull(arb(0), term), slope - hull(arb(0), rest)
            return s + 2 * s * s * slope / value
        k += 1


def _narrow_variance(s: Ball, normaliser: Ball) -> Ball:
    """Var(Y) by its own sum, where few integers carry all the mass."""
    total = arb(0)
    for y in range(1, 9):
        total += 2 * y * y * (-arb(y * y) / (2 * s)).exp()
    # from y = 9 on y²e^{−y²/(2s)} falls by more than half at each step
    rest = 4 * 81 * (-arb(81) / (2 * s)).exp()
    return (total + hull(arb(0), rest)) / normaliser
