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
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_GOOD = 1e-7  # of δ: what aliases and cut may take, however narrow δ is wanted, without choosing the nodes anew
_PART = 0.4  # of the width asked, which they may take
_FIRST = 24  # ε's to try beyond those that the last nodes let expect
_SHARE = 0.8  # of the larger ε's served: as many smaller ones will be
_MANY = 300  # nodes; beyond, it pays to look for others
_TINY = 1e-300  # more than what underflows


class Ends(NamedTuple):
    """Bounds of δ at several ε's, and what aliases and cut take of each, relative to it: whether the nodes serve it."""

    lower: list[float]
    upper: list[float]
    errors: list[float]


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
    last, ahead, least = None, 0, math.inf
    while (i := len(found)) < len(epsilons):
        if least <= enough[i]:  # δ falls
            found.append((0.0, least))
            continue
        # nodes made for an ε serve smaller ones too: try those of a later one first, then those of this very one
        try:
            for near, centre in ((last, min(ahead, len(epsilons) - i - 1)), (None, 0)):
                block = np.array(epsilons[i : i + 2 * centre + _FIRST])
                last = _contour(losses, float(block[centre]), near)
                ends = evaluated(last, block)
                served = next((j for j, error in enumerate(ends.errors) if not error < most), len(block))
                if served > centre:
                    break
        except (NoContour, ArithmeticError, ValueError):  # whatever the floats stumble over, fail closed
            return found
        served = max(served, 1)  # nobody has better nodes for it
        found += zip(ends.lower[:served], ends.upper[:served], strict=True)
        least = min(least, *ends.upper[:served])
        ahead = int(_SHARE * (served - centre - 1))
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
    sums, ends = contour.sums, Ends([], [], [])
    places = [arb(x) for x in epsilons.tolist()]
    apart = [sums.drift - x for x in places]
    near = np.array([float(gap) for gap in apart])
    slip = [float(abs(gap - arb(rough)).upper()) for gap, rough in zip(apart, near.tolist(), strict=True)]
    phase = sums.angle[None, :] + contour.frequencies[None, :] * near[:, None]
    values = np.cos(phase) @ sums.share
    turned = (ULPS + 4) * (1 + sums.turn_size + np.abs(phase)) + phase.shape[1] + 48
    rounding = SAFETY * UNIT * (turned @ sums.share) + SAFETY * np.array(slip) * float(sums.share @ contour.frequencies)
    aliases, share = _aliases(contour, epsilons), _beyond(contour)
    scale = arb(contour.step) / arb.pi()
    for x, value, unsure, alias in zip(places, values.tolist(), rounding.tolist(), aliases.tolist(), strict=True):
        lead = (contour.cumulant - arb(contour.tau) * x).exp() * scale
        total = lead * arb(value, sums.doubt + unsure)
        _add(ends, contour, x, total, (lead * share).upper(), arb(alias))
    return ends


def _add(ends: Ends, contour: Contour, x: Ball, total: Ball, cut: Ball, alias: Ball) -> None:
    """The ends at one ε, from the sum, what is beyond the last node and the unknown aliases."""
    if x < contour.floor:
        lower, upper, error = arb(0), arb(1), math.inf
    else:
        given_up = contour.given_up
        if contour.mirrored:
            # both laws have mass 1 but for what is given up, so the known aliases may be off by that share
            ones, odds = contour._known(x)
            total, alias, given_up = total - ones + odds, alias + given_up * odds, given_up * (1 + ones)
        lower, upper = contour.leak + (total - cut - alias).max(arb(0)), contour.leak + (total + cut + given_up)
        error = float(alias + cut) / max(float(total), 1e-320)
    least, most = max(down(lower), 0.0), up(upper)
    if not least <= most:  # impossible: no end of such an interval can be trusted
        raise NoContour("the ends contradict each other")
    ends.lower.append(least)
    ends.upper.append(min(most, 1.0))
    ends.errors.append(error)


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
