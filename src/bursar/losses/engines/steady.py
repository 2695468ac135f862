"""Losses that hardly vary beside the answer: they move it by a number, and the engines are asked about the others.

Let L_B be the loss of some of the releases, with δ_∞ its chance to be infinite, and b⁻ ≤ b⁺ such that L_B is finite and
above b⁺ with probability at most η, and below b⁻ with probability at most η′. Then, with δ_A for the other releases,

    (1 − δ_∞ − η′)·δ_A(ε − b⁻) ≤ δ(ε) − δ_∞ ≤ η + (1 − δ_∞)·δ_A(ε − b⁺),

since (1 − e^{ε−L})₊ lies between 0 and 1 and rises with L. The same with p·(1 − δ_∞ − η′) where some of them are taken
at their largest loss, which they have with probability p together (proofs/steady.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses.engines.answer import Losses, leak_of
from bursar.numerics.balls import Ball, maximum, minimum

_MOST_KINDS = 24
_SHARE = arb(2) ** -30  # of δ, and of 1: what may lie above b⁺, and below b⁻
_STEADY = 5e-7  # of the answer: how far apart b⁻ and b⁺ may be, all together
_ROOMS = (1e-10, 1e-9, 1e-8, 1e-7)  # of the answer: by how much Chernoff bounds may exceed a mean
DEAR = 0.05  # of ln(1/δ): what all copies at their largest loss may cost the others
_ALIKE = 1e-9
_TILTS = [10.0**power for power in range(-40, 41)]


Term = tuple[float, float, Loss, int]
"""How far apart the ends are thought to be, the room for it, and the loss with its count."""


class Split(NamedTuple):
    """The releases that are left, how far the steady ones move ε, and at which δ the others are to be asked."""

    rest: Losses
    low: Ball
    high: Ball
    below: Ball
    """The δ for the lower end."""
    above: Ball
    """The δ for the upper end."""
    ease: float = 1.0
    """How many times wider than the whole the others may be, relatively: about ε over their own."""


def split(losses: Losses, delta: Ball, dear: float = DEAR) -> Split | None:
    """The steady part of a composition, where there is one; ``dear`` is what those at their largest loss may cost."""
    if len(losses) > _MOST_KINDS or not 0 < delta < 1:
        return None
    depth = -float(delta.log())
    reaches = [_reach(loss, count, depth) for loss, count in losses]
    scale = max(reaches, default=0.0)
    if not 0 < scale < math.inf:
        return None
    rest, steady, used = [], [], 0.0
    terms = [(*_gap(loss, count, scale, depth), loss, count) for loss, count in losses]
    terms = [_at_its_top(term, sum(reaches) - reach, depth, dear) for term, reach in zip(terms, reaches, strict=True)]
    for gap, room, loss, count in sorted(terms, key=lambda term: term[0]):
        used += gap
        if used <= _STEADY * scale:
            steady.append((loss, count, room))
        else:
            rest.append((loss, count))
    found = _certified(steady, rest, delta) if steady else None
    left = sum(reach for (loss, _), reach in zip(losses, reaches, strict=True) if any(loss is one for one, _ in rest))
    return found._replace(ease=max(1.0, float(found.low) / left)) if found is not None and left > 0 else found


def _certified(steady: list[tuple[Loss, int, float]], rest: list[tuple[Loss, int]], delta: Ball) -> Split | None:
    leak = leak_of([(loss, count) for loss, count, _ in steady])
    left = delta - leak
    if not left > 0 or not leak < 1:
        return None
    share = _SHARE / len(steady)
    low, high, chance = arb(0), arb(0), arb(0)
    for loss, count, room in steady:
        atom = loss.top() if room == 0 else None
        if atom is not None:
            low, high = low + count * atom.loss, high + count * loss.support()[1]
            chance += count * atom.mass.log()
        else:
            low += _least(loss, count, share, room)
            high += _most(loss, count, share * left, room)
    if not (low.is_finite() and high.is_finite()):
        return None
    below, above = left / ((1 - leak - _SHARE) * chance.exp()), (left - _SHARE * left) / (1 - leak)
    return Split(rest, arb(low.lower()), arb(high.upper()), below, above) if below < 1 and above > 0 else None


def _at_its_top(term: Term, others: float, depth: float, dear: float) -> Term:
    """The same term, at its largest loss where that is likely enough to cost the others little (with no room)."""
    gap, _, loss, count = term
    atom = loss.top()
    if not gap > 0 or atom is None or not atom.mass > 0:
        return term
    price = -count * float(atom.mass.log()) / depth  # of the others' ε, and they rarely pay more than half of it
    return (price * others, 0.0, loss, count) if price < dear and price * others < gap else term


def _most(loss: Loss, count: int, spare: Ball, room: float) -> Ball:
    """What all copies together exceed, while finite, with at most this probability."""
    depth = -spare.log()
    tilt = depth / room
    ways = [count * loss.support()[1]]
    if not loss.takes_integrals():
        ways.append((count * loss.cumulant(tilt).real + depth) / tilt)
    atom = loss.top(spare / count)
    if atom is not None:  # no more than what is spare lies above it
        ways.append(count * atom.loss)
    return minimum(*(arb(way.upper()) for way in ways if way.is_finite()), arb("inf"))


def _least(loss: Loss, count: int, spare: Ball, room: float) -> Ball:
    """What all copies together stay below with at most this probability."""
    depth = -spare.log()
    tilt = depth / room
    ways = [count * loss.support()[0]]
    if not loss.takes_integrals():
        ways.append(-(count * loss.cumulant(-tilt).real + depth) / tilt)
    atom = loss.top(spare / count)
    if atom is not None and atom.mass > 0 and count * atom.mass.log() >= (-spare).log1p():
        ways.append(count * atom.loss)
    if room > 0 and _near_its_top(loss, count, spare, room):
        ways.append(count * loss.support()[1] - room)
    return maximum(*(arb(way.lower()) for way in ways if way.is_finite()), -arb("inf"))


def _near_its_top(loss: Loss, count: int, spare: Ball, room: float) -> bool:
    """Whether all copies together are this close to their largest losses but for a chance this small, one by one."""
    top = loss.support()[1]
    try:
        return bool(top.is_finite() and count * loss.below(top - arb(room) / count) <= spare)
    except (LossUnknown, ArithmeticError, ValueError):
        return False


def _reach(loss: Loss, count: int, depth: float) -> float:
    """About the ε of these alone, in floats; 0 where K takes integrals. (kK(t) + depth)/t falls and then rises, since
    tK′ − K rises, so that halves find the tilt at which it is least; where floats fail it is as good as infinite.
    """
    if loss.takes_integrals():
        return 0.0
    low, high = 0, len(_TILTS) - 1
    while low < high:
        middle = (low + high) // 2
        here, after = (_mean_at(loss, count, _TILTS[i], depth) for i in (middle, middle + 1))
        if after < here - _ALIKE * abs(here):  # at large tilts it may be all but constant
            low = middle + 1
        else:
            high = middle
    found = _mean_at(loss, count, _TILTS[low], depth)
    return 0.0 if math.isnan(found) else found


def _mean_at(loss: Loss, count: int, tilt: float, depth: float) -> float:
    """(kK(t) + depth)/t, in floats; NaN where they fail."""
    if loss.takes_integrals():
        return math.nan
    try:
        return (count * loss.rough_cumulant(tilt) + depth) / tilt
    except (ArithmeticError, ValueError):
        return math.nan


def _gap(loss: Loss, count: int, scale: float, depth: float) -> tuple[float, float]:
    """How far apart the ends of the law will be, in floats, and the room that a Chernoff bound is given for it."""
    deep, flat, top = depth + 30, 30.0, count * float(loss.support()[1])
    best = (math.inf, scale)
    if loss.takes_integrals():
        room = _ROOMS[0] * scale
        return (room, room) if _near_its_top(loss, count, _SHARE / _MOST_KINDS, room) else best
    for room in (share * scale for share in _ROOMS):
        high = _mean_at(loss, count, deep / room, deep)
        gap = (top if math.isnan(high) else min(high, top)) - _mean_at(loss, count, -flat / room, flat)
        if gap < best[0]:
            best = (max(gap, 0.0), room)
    return best
