"""δ at many ε's along contours: each set of nodes serves all the ε's around the one that it was made for, in one array.

What is bounded, and how, is what `bursar.losses.engines.contour.engine` says of a single ε; the sums and the bounds of
the aliases are formed for all ε's at once, in floats whose errors are bounded (proofs/contour.md, "Many ε's at once").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Losses, leak_of
from bursar.losses.engines.chernoff import exponentials
from bursar.losses.engines.contour import NoContour
from bursar.losses.engines.contour.choice import around, factors_of
from bursar.losses.engines.contour.engine import Contour
from bursar.losses.engines.contour.saddle import rough_cumulants
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_GOOD = 1e-7  # of δ: what aliases and cut may take, however narrow δ is wanted, without choosing the nodes anew
_PART = 0.4  # of the width asked, which they may take
_AHEAD, _FURTHER = 0.12, 0.4  # of all ε's: how far ahead the first nodes are made; how many more than expected to try
_MOST_AHEAD, _MOST_FURTHER = 500, 2000
_SHARE = 0.85  # of the larger ε's served: as many smaller ones will be
_MANY = 300  # nodes; beyond, it pays to look for others
_TINY = 1e-300  # more than what underflows
_LEAST, _LARGEST = 1e-280, 690.0  # of e^{K−τε}, and of its logarithm: between, floats round relatively
_UNSURE = 0.01  # of e^{K−τε}


class Ends(NamedTuple):
    """Bounds of δ at several ε's, and what aliases and cut take of each, relative to it: whether the nodes serve it."""

    lower: Array
    upper: Array
    errors: Array


def deltas_at(
    losses: Losses, epsilons: Sequence[float], width: float, enough: Sequence[float] | None = None
) -> list[tuple[float, float] | None]:
    """Both ends of δ at each of the rising ε's; None where contours do not serve. Where δ is at most what is
    ``enough`` at an ε, the upper end of a smaller ε may serve, and 0.
    """
    if any(after < before for before, after in pairwise(epsilons)):
        raise ValueError("the ε's must rise")
    top, leak = sum((count * loss.support()[1] for loss, count in losses), arb(0)), leak_of(losses)
    rest = (max(down(leak), 0.0), min(up(leak), 1.0))
    inside = sum(not top <= x for x in epsilons)
    found = _along(losses, epsilons[:inside], width, enough or [0.0] * inside)
    # from the largest loss on, δ is what leaks
    return [*found, *[None] * (inside - len(found)), *[rest] * (len(epsilons) - inside)]


def _along(
    losses: Losses, epsilons: Sequence[float], width: float, enough: Sequence[float]
) -> list[tuple[float, float] | None]:
    """The same up to the first that is not served."""
    most = max(_PART * width, _GOOD)
    found: list[tuple[float, float] | None] = []
    further = min(math.ceil(_FURTHER * len(epsilons)), _MOST_FURTHER)
    last, ahead, least = None, min(int(_AHEAD * len(epsilons)), _MOST_AHEAD), math.inf
    while (i := len(found)) < len(epsilons):
        if least <= enough[i]:  # δ falls
            found.append((0.0, least))
            continue
        # nodes made for an ε serve smaller ones too: try those of a later one first, then those of this very one
        for near, centre in ((last, min(ahead, len(epsilons) - i - 1)), (None, 0)):
            block = np.array(epsilons[i : i + 2 * centre + further])
            try:
                last = _contour(losses, float(block[centre]), near)
                ends = evaluated(last, block)
            except (NoContour, ArithmeticError, ValueError):  # whatever the floats stumble over, fail closed
                if not centre:
                    return found
                continue
            served = int(np.append(ends.errors < most, False).argmin())
            if served > centre:
                break
        served = max(served, 1)  # nobody has better nodes for it
        found += zip(ends.lower[:served].tolist(), ends.upper[:served].tolist(), strict=True)
        least = min(least, float(ends.upper[:served].min()))
        ahead = min(int(_SHARE * (served - centre - 1)), _MOST_AHEAD)
    return found


def _contour(losses: Losses, epsilon: float, near: Contour | None) -> Contour:
    """Nodes for δ at this ε: at the saddle that the last one leads to, or sought anew. Floats only choose them."""
    if near is None:
        return around(losses, epsilon)
    tau, log_delta, factors = near.tau, -math.inf, near.factors
    for turn in range(4):
        k, mean, variance = rough_cumulants(factors, tau)
        if turn == 3 or not variance > 0:
            break
        tau = min(max(tau + (epsilon - mean) / variance, 0.5 * tau), 2 * tau)
        log_delta = k - tau * epsilon - math.log(tau * (tau + 1)) - 0.5 * math.log(2 * math.pi * variance)
        if turn == 1:
            factors = factors_of(losses, log_delta)  # which say how far they must be followed at so small a δ
    try:
        found = Contour(factors, near.leak, epsilon, min(log_delta, -0.1), tau)
    except (NoContour, ArithmeticError, ValueError):
        return around(losses, epsilon)
    return found if len(found.frequencies) <= _MANY else around(losses, epsilon)


def evaluated(contour: Contour, epsilons: Array) -> Ends:
    """Certified ends of δ at each ε, by the contour's nodes."""
    if contour.mirrored:
        raise NoContour("only aliases that are bounded are known here")
    sums, middle = contour.sums, float(epsilons[len(epsilons) // 2])
    apart = epsilons - middle
    turned, off = _split(sums.drift - arb(middle))
    near = turned - apart
    slip = off + UNIT * (np.abs(apart) + np.abs(near))
    phase = sums.angle[None, :] + contour.frequencies[None, :] * near[:, None]
    values = product(np.cos(phase), sums.share)
    rounded = (ULPS + 4) * (1 + sums.turn_size + np.abs(phase)) + phase.shape[1] + 48
    rounding = SAFETY * UNIT * product(rounded, sums.share) + SAFETY * slip * summed(sums.share, contour.frequencies)
    lead, unsure = _lead(contour, middle, apart)
    if not lead[0] > _LEAST:
        raise NoContour("δ is too small for floats")
    doubt = sums.doubt + rounding
    low, high = np.maximum(values - doubt, 0.0) * lead * (1 - unsure), (values + doubt) * lead * (1 + unsure)
    cut, alias = up(_beyond(contour)) * lead * (1 + unsure), _aliases(contour, epsilons)
    least = np.maximum(low - cut - alias, 0.0) * (1 - 8 * UNIT)
    most = (high + cut + up(contour.given_up)) * (1 + 8 * UNIT)
    lower = np.nextafter(max(down(contour.leak), 0.0) + least, -1.0)
    upper = np.nextafter(up(contour.leak) + most, 2.0)
    known = (epsilons >= contour.floor) & (unsure < _UNSURE) & (lead > _LEAST) & (values > 0)
    if not (lower <= upper)[known].all():  # impossible: no end of such an interval can be trusted
        raise NoContour("the ends contradict each other")
    errors = np.where(known, (alias + cut) / np.maximum(values * lead, _LEAST), math.inf)
    lower = np.where(known, np.maximum(lower, 0.0), 0.0)
    return Ends(lower, np.where(known, np.minimum(upper, 1.0), 1.0), errors)


def _split(number: Ball) -> tuple[float, float]:
    """The float nearest to a ball, about, and how far from it the ball reaches."""
    near = float(number)
    return near, up(abs(number - arb(near)))


def _lead(contour: Contour, middle: float, apart: Array) -> tuple[Array, Array]:
    """e^{K−τε}·Δ/π at ε = middle + apart, and a bound of its relative error: one ball, and floats from there."""
    height, off = _split(contour.cumulant - arb(contour.tau) * arb(middle) + (arb(contour.step) / arb.pi()).log())
    moved = contour.tau * apart
    slack = off + UNIT * (ULPS + 8 + 2 * abs(height) + 4 * np.abs(moved))
    return np.exp(np.clip(height - moved, -_LARGEST, _LARGEST)), SAFETY * np.expm1(np.minimum(slack, 1.0))


def _beyond(contour: Contour) -> Ball:
    """What is beyond the last node, as a share of the lead: e^{decay}/(Δ·last)."""
    return arb(contour.gone).exp() / (arb(contour.step) * arb(float(contour.frequencies[-1])))


def _aliases(contour: Contour, epsilons: Array) -> Array:
    """Upper bounds of the unknown aliases at each ε: the least that the tilts of the ladder prove for either side."""
    period, tau = contour.period_ball(), arb(contour.tau)
    high = np.full(len(epsilons), math.inf)
    low = np.full(len(epsilons), math.inf if contour.mirrored else up(1 / (tau * period).expm1()))
    for tilt, bound in contour.chernoff.items():
        apart = min(down((abs(arb(tilt) - tau) * period).expm1()), 1e300)
        if not apart > _TINY:
            continue
        side = exponentials(bound, tilt, epsilons) / apart
        if tilt > contour.tau:
            high = np.minimum(high, side)
        elif tilt < contour.tau and contour.mirrored is (tilt < 0):
            low = np.minimum(low, side)
    return np.asarray((high + low) * (1 + 8 * UNIT) + _TINY)
