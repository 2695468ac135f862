"""δ at one ε, asked of the envelope engine, one direction at a time."""

from __future__ import annotations

import math

from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.envelope.choice import Ladder
from bursar.losses.engines.envelope.comb import Combed
from bursar.losses.engines.envelope.engine import MOST_MOMENTS, Envelope
from bursar.losses.engines.envelope.gathering import factors_of
from bursar.losses.engines.envelope.guided import GuidedFactor
from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.envelope.solve import made
from bursar.numerics.arrays import CALM
from bursar.numerics.balls import Ball, down, up

_START = math.log(1e-9)
_FINER, _ROUNDS = 16, 4  # by how much the width asked falls where an atom lies close to ε, and how often


def delta_at(losses: Losses, epsilon: Ball, width: float, most: int = MOST_MOMENTS) -> Answer:
    """δ(ε) of the composed losses."""
    return _Profile(losses, width, most).at(epsilon)


class _Profile:
    """δ as a function of ε."""

    def __init__(self, losses: Losses, width: float, most: int) -> None:
        self.losses, self.width, self.most, self.leak = losses, width, most, leak_of(losses)
        self.top = sum((count * loss.support()[1] for loss, count in losses), arb(0))

    def _read(self, sums: Envelope | Combed, epsilon: Ball) -> Answer:
        """Both ends of δ: it falls with ε, so the ends of ε's ball give them."""
        upper, errors = sums.evaluate(down(epsilon))[1:]
        least, most = down(sums.evaluate(up(epsilon))[0]), min(up(upper), 1.0)
        return Answer(min(max(least, 0.0), most), most, errors, "envelope", sums.line.nodes, sums.tau)

    @CALM
    def at(self, epsilon: Ball) -> Answer:
        """δ at this ε, by sums made for it."""
        if self.top <= epsilon:
            return Answer(max(down(self.leak), 0.0), up(self.leak), (), "envelope", 0, 1.0)
        x, log_delta, goal, best, plain = float(epsilon), _START, self.width, None, False
        for _ in range(_ROUNDS):
            factors = factors_of(self.losses, log_delta, plain=plain)
            ladder = Ladder(factors, log_delta, self.most, at=x)
            expected = min(ladder.log_delta(x), log_delta)
            try:
                sums = made(factors, self.leak, ladder, x, expected, goal, of_delta=True)
                found = self._read(sums, epsilon)
                seen = sums.rough(x)[0]
            except (NoEnvelope, ArithmeticError):
                if best is not None:
                    break
                if plain or not any(isinstance(factor, GuidedFactor) for factor in factors):
                    raise
                plain = True  # by their places, where moments of their own fail
                continue
            if best is None or found.width < best.width:
                best = found
            if best.width <= self.width:
                break
            # what is left out of the laws must shrink with δ; else an atom lies close to ε
            log_delta, goal = (seen, goal) if seen < log_delta - 1.5 else (log_delta, goal / _FINER)
        if best is None:
            raise NoEnvelope("the search for δ does not settle")
        return best
