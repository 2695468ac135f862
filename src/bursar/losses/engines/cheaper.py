"""Whether one direction of a composition costs less than the other, whose ε is known: easier to show than to solve."""

from __future__ import annotations

from flint import arb

from bursar.errors import LossUnknown
from bursar.losses.engines import contour, dominant, envelope
from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.contour import NoContour
from bursar.losses.engines.envelope import NoEnvelope
from bursar.losses.engines.lattice import NoLattice
from bursar.numerics.balls import Ball

STUMBLES = (NoContour, NoEnvelope, NoLattice, LossUnknown, ArithmeticError, ValueError)
"""Whatever the floats of an engine stumble over: it fails closed."""
_ROUGH = ("hits", "steady", "one by one", "rung by rung")  # what answers where losses are of very different sizes


def cheaper(losses: Losses, first: Answer, delta: Ball) -> bool:
    """Whether δ at the other direction's ε is at most δ, as far as one sum or a Chernoff bound shows."""
    try:
        if first.engine == "contour":
            return contour.at_most(losses, first.upper, delta, first.tilt)
        return envelope.at_most(losses, first.upper, delta)
    except STUMBLES:
        return False


def below(losses: Losses, first: Answer, delta: Ball) -> bool:
    """Whether no loss is ever larger than the other direction's ε, or all cost less together, one by one."""
    try:
        most = sum((count * loss.support()[1] for loss, count in losses), arb(0))
        if most <= first.lower and leak_of(losses) <= 0:
            return True
        return first.engine in _ROUGH and bool(dominant.at_most(losses, delta) <= first.lower)
    except STUMBLES:
        return False
