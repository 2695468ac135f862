"""ε of compositions in which a few large losses decide among very many small ones, by laws on bands.

Tilts are no use where one release that loses much is likelier than many that lose a little: no exponential weight
brings such a law near ε. Here every law is added to itself as it is, in numbers whose exponents reach that far, on
grids that are fine where losses are small. The upper end comes from losses that are spread, the lower one from losses
that are gathered (proofs/bands.md); both are of second order in the step.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Loss
from bursar.losses.engines.answer import Answer, Losses
from bursar.losses.engines.bands.law import LONG, RATIO, Extended, Frame, Law, gathered, rounded
from bursar.numerics.balls import Ball, positive_part, working
from bursar.numerics.lattice import short
from bursar.numerics.trusted import EXTENDED, extended

_BITS = 192
_LEAST = arb(10) ** -1000  # δ: far above what extended floats lose
_COARSE, _FINE = (256, 32), (2048, 128)  # places of the coarsest band and the reach of the others: at first, and then
_MOST_BANDS, _MOST_KINDS = 14, 6
_TRIES, _GROWN, _STEP = 8, 1, 4.0  # looks for ε; how often it may turn out larger than thought, and by how much
_NEAR = 1.3  # how far apart the ends may be, as a ratio, before the last look
_SMALL = 0.4  # of 1/(τ√k): the finest step
_USUAL = 0.15  # of what a release usually loses: the finest step, where that matters
_NOTHING = 1e-4  # of ε: what all releases usually lose together, where it does not
_LOOSE = 1e-6  # by how much the masses of one release may exceed 1
_TRUSTED = 1e-6  # relative: by how much all roundings together may be off, at the most


def epsilon_at(losses: Losses, delta: Ball) -> Answer | None:
    """Both ends of the smallest ε ≥ 0 with δ(ε) ≤ δ; None where too much is asked."""
    count = sum(copies for _, copies in losses)
    rounding = 4 * count * (3 * _FINE[0] + 200) * EXTENDED
    if not extended() or len(losses) > _MOST_KINDS or not _LEAST < delta < 1 or rounding > _TRUSTED:
        return None
    if not all(loss.drawable and loss.bracket() is None for loss, _ in losses):
        return None  # a profile for every place would take too long
    # what overflows is refused where it is used: nobody wants to read of it
    with working(_BITS), np.errstate(over="ignore", invalid="ignore"):
        reach = -2 * float(delta.log())
        near = max(_single(loss, delta / copies) for loss, copies in losses)
        # what all lose together, as if that were normal: E|L| is about twice δ₁(0)
        near = max(near, *(2.5 * float(loss.profile(arb(0))) * math.sqrt(reach * copies) for loss, copies in losses))
        low, high, grown = 0.0, math.inf, 0
        for _ in range(_TRIES):
            # where ε is far above what one release costs, it is not a few that decide
            if not 0 < near < math.inf or grown > _GROWN:
                return None
            low, high = _ends(losses, delta, near, _COARSE)
            if high <= _NEAR * low:  # also where both are 0
                break
            near, grown = (_STEP * near, grown + 1) if high == math.inf else (high, grown)
        if not high < math.inf:
            return None
        least, most = _ends(losses, delta, high, _FINE) if high > 0 else (low, high)
    return Answer(max(low, least), min(high, most), (), "bands", _FINE[0], 0.0)


def _ends(losses: Losses, delta: Ball, near: float, size: tuple[int, int]) -> tuple[float, float]:
    """Both ends of ε, on grids for an ε of about this size."""
    depth, (places, reach) = -float(delta.log()), size
    count = sum(copies for _, copies in losses)
    step = short(near * (1 + min(25 / depth, 1.0)) / places, 24)
    finest = _SMALL * near / (depth * math.sqrt(count))
    for loss, copies in losses:
        usual = float(loss.profile(arb(0)))
        if copies * usual > _NOTHING * near:
            finest = min(finest, _USUAL * usual)
    bands = 1 + max(math.ceil(math.log(step / finest) / math.log(RATIO)), 0)
    ends = []
    for upper in (False, True):
        frame = Frame(step, min(bands, _MOST_BANDS), reach, places, places // 4, upper)
        whole: Law | None = None
        for loss, copies in losses:
            law = single(frame, loss) ** copies
            whole = law if whole is None else whole * law
        assert whole is not None
        ends.append(_root(whole, delta))
    return ends[0], ends[1]


def single(frame: Frame, loss: Loss) -> Law:
    """The law of one release on the grids of a frame, spread or gathered."""
    places = _places(frame)
    steps = frame.steps()
    at = [index * steps[band] for band, index in places]
    profile = [loss.profile(place) for place in at]
    gaps = [-(low - high).expm1() for low, high in pairwise(at)]
    # P(L > low) is at least this, P(L > high) at most: how the losses of a cell are spread over its ends
    over = [h1 + (h0 - h1) / gap for h0, h1, gap in zip(profile[:-1], profile[1:], gaps, strict=True)]
    if frame.upper:
        parts = [1 - over[0], *(a - b for a, b in pairwise(over)), over[-1] - profile[-1]]
        masses, infinite = rounded(parts, upwards=True), rounded([profile[-1]], upwards=True)[0]
        if not masses.sum() + infinite < 1 + _LOOSE:  # powers of them would soon be too large for anything
            raise ArithmeticError("the profile is not known closely enough for steps this fine")
    else:
        tail = [loss.tail(place) for place in at]
        cells = rounded([positive_part(a - b) for a, b in pairwise(tail)], upwards=False)
        down = rounded([positive_part(a - b) for a, b in zip(tail[:-1], over, strict=True)], upwards=True)
        up = rounded([positive_part(a - b) for a, b in zip(over, tail[1:], strict=True)], upwards=False)
        wide = [high - low for low, high in pairwise(at)]
        slopes = [arb(1), *(a.expm1() / -(-b).expm1() for a, b in pairwise(wide)), arb(1)]
        masses, infinite = gathered(cells, down, up, rounded(slopes, upwards=True)), LONG(0)
        masses[-1] += rounded([tail[-1]], upwards=False)[0]
    return Law(frame, _banded(frame, places, masses), infinite)


def _places(frame: Frame) -> list[tuple[int, int]]:
    """The band and the number of every place, in the order of losses: each band outside of the next finer one."""
    low, high = frame.ends(frame.bands - 1)
    found = [(frame.bands - 1, i) for i in range(low, high + 1)]
    for band in reversed(range(frame.bands - 1)):
        low, high = frame.ends(band)
        found = [
            *((band, i) for i in range(low, -frame.reach)),
            *found,
            *((band, i) for i in range(frame.reach + 1, high + 1)),
        ]
    return found


def _banded(frame: Frame, places: list[tuple[int, int]], masses: Extended) -> list[Extended]:
    bands = [np.zeros(high - low + 1, dtype=LONG) for low, high in map(frame.ends, range(frame.bands))]
    for (band, index), mass in zip(places, masses, strict=True):
        bands[band][index - frame.ends(band)[0]] = mass
    return bands


def _root(law: Law, delta: Ball) -> float:
    """The least ε, or nearly, at which spread losses have at most δ; the largest at which gathered ones have more."""
    upper = law.frame.upper
    target = rounded([delta * (1 - 4 * _TRUSTED if upper else 1 + 4 * _TRUSTED)], upwards=not upper)[0]
    low, high = 0.0, law.frame.step * law.frame.above
    if law.delta(0.0) <= target:
        return 0.0
    if law.delta(high) > target:
        return math.inf if upper else high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2 if low > 0 else high / 16
        if middle < 1e-300:
            break
        low, high = (middle, high) if law.delta(middle) > target else (low, middle)
    return high if upper else low


def _single(loss: Loss, delta: Ball) -> float:
    """About what one release costs, in floats; 0 where that is not known."""
    low, high = -300.0, 300.0
    for _ in range(14):
        x = (low + high) / 2
        try:
            low, high = (x, high) if loss.profile(arb(10.0**x)) > delta else (low, x)
        except (LossUnknown, ArithmeticError, ValueError):
            return 0.0
    return float(10.0**high)
