"""Noise so small that it hardly ever moves an output: its losses are a ladder, each rung far rarer than the one below.

With P(n) the chance of rung n, lₙ its loss and δ_A the profile of the other releases, δ(ε) = Σ P(n)·δ_A(ε − lₙ). One
rung m decides. From below its own term is enough: ε ≥ lₘ + ε_A(δ/P(m)). From above

    ε ≤ lₘ + ε_A((1 − ω)δ/P(m))   if at this ε all other rungs together stay below ωδ,

which Chernoff bounds of δ_A show (proofs/steady.md §3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.chernoff import chernoff_constant
from bursar.numerics.balls import Ball, down, up

_SHARES = (2.0**-24, 2.0**-16, 2.0**-10, 2.0**-5, 0.5)  # of δ: ω
_TILTS = [10.0 ** (power / 8) for power in range(-320, 321)]


class Rung(NamedTuple):
    """A loss of all copies, and bounds of the logarithm of its chance."""

    loss: Ball
    least: Ball
    most: Ball


class Rungs(NamedTuple):
    """The rungs from the lowest on, as which everything below counts, and the chance of all that is above."""

    rungs: Sequence[Rung]
    beyond: Ball


Ask = Callable[[Losses, Ball], Answer]


def epsilon_at(losses: Losses, delta: Ball, ask: Ask) -> Answer | None:
    """ε where some kind of release has rungs, beside others of which their own ε is ``ask``-ed; None elsewhere."""
    if not 0 < delta < 1:
        return None
    depth = -float(delta.log())
    ladders, rest = [], []
    for loss, count in losses:
        ladder = loss.rungs(count, depth)
        if ladder is None:
            rest.append((loss, count))
        else:
            ladders.append((ladder, (loss, count)))
    if not ladders:
        return None
    # the one with the largest steps; further ones that matter are climbed when the others are asked
    ladders.sort(key=lambda pair: float(pair[0].rungs[0].loss - pair[0].rungs[-1].loss))
    (main, _), *further = ladders
    for ladder, term in further:
        if len(ladder.rungs) > 1:
            rest.append(term)
        else:
            main = _joined(main, ladder)
    others = _Others(rest)
    if rest and (not others.heights or not leak_of(rest) <= 0):
        return None
    return _by_one(main, others, delta, depth, ask) if rest else _alone(main, delta)


def _joined(main: Rungs, single: Rungs) -> Rungs:
    """Every rung together with the only one of another ladder."""
    ((loss, least, _),) = single.rungs
    rungs = [Rung(rung.loss + loss, rung.least + least, rung.most) for rung in main.rungs]
    return Rungs(rungs, main.beyond + single.beyond)


def _alone(ladder: Rungs, delta: Ball) -> Answer | None:
    """Nothing else is released: the highest rung that is likelier than δ, if all above it are not."""
    chances = [rung.most.exp() for rung in ladder.rungs]
    for i in reversed(range(len(chances))):
        loss, least, _ = ladder.rungs[i]
        left = delta - sum(chances[i + 1 :], ladder.beyond)
        if least > delta.log() and left >= 0:
            low, high = loss + (-delta / least.exp()).log1p(), loss
            share = left / chances[i]
            if share < 1 and (i == 0 or loss + (-share).log1p() >= ladder.rungs[i - 1].loss):
                high = loss + (-share).log1p()  # where the rungs below count for nothing
            return Answer(max(down(low), 0.0), max(up(high), 0.0), (), "rung by rung", 1, 0.0)
    return None


class _Others:
    """The other releases: their Chernoff bounds along a ladder of tilts."""

    def __init__(self, losses: Losses) -> None:
        self.losses = losses
        self.heights = (
            [] if any(loss.takes_integrals() for loss, _ in losses) else list(filter(None, map(self._height, _TILTS)))
        )

    def _height(self, tilt: float) -> tuple[float, float] | None:
        try:
            height = sum(count * loss.rough_cumulant(tilt) for loss, count in self.losses)
        except (ArithmeticError, ValueError):
            return None
        return (tilt, height) if math.isfinite(height) else None

    def reach(self, depth: float) -> float:
        """About ε at δ = e^{−depth}, in floats."""
        return max(min((height + depth) / tilt for tilt, height in self.heights), 0.0)

    def most(self, epsilon: Ball) -> Ball:
        """A bound of δ_A(ε), proved."""
        if epsilon >= sum((count * loss.support()[1] for loss, count in self.losses), arb(0)):
            return arb(0)  # no loss is that large, and there are no leaks
        x = float(epsilon)
        tilt = arb(min(self.heights, key=lambda pair: pair[1] - pair[0] * x)[0])
        cumulant = sum((count * loss.cumulant(tilt).real for loss, count in self.losses), chernoff_constant(tilt))
        bound = (cumulant - tilt * epsilon).exp()
        return arb(bound.upper()).min(arb(1)) if bound.is_finite() else arb(1)


def _by_one(ladder: Rungs, others: _Others, delta: Ball, depth: float, ask: Ask) -> Answer | None:
    """Both ends by the rung that seems to decide."""
    likely = [rung for rung in ladder.rungs if rung.least > delta.log()]
    if not likely:
        return None
    main = max(likely, key=lambda rung: float(rung.loss) + others.reach(depth + float(rung.least)))
    below = delta / main.least.exp()
    first = ask(others.losses, below)
    low = main.loss + (arb(first.lower) if first.lower > 0 else (-below).log1p())
    for share in _SHARES:
        target = (1 - arb(share)) * delta
        if not _rest(ladder, main, others, main.loss + arb(first.upper)) <= share * delta:
            continue  # not even a little higher up would do, probably
        high = main.loss + arb(ask(others.losses, target / main.most.exp()).upper)
        if _rest(ladder, main, others, high) <= share * delta:
            ends = max(down(low), 0.0), max(up(high), 0.0)
            return Answer(min(ends), ends[1], (), "rung by rung", 1, 0.0)
    return None


def _rest(ladder: Rungs, main: Rung, others: _Others, epsilon: Ball) -> Ball:
    """What all rungs but one have of δ(ε), at most."""
    parts = (rung.most.exp() * others.most(epsilon - rung.loss) for rung in ladder.rungs if rung is not main)
    return sum(parts, ladder.beyond)
