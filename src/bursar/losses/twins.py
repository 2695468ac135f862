"""Laws that stand on either side of another: the answers for the two enclose the answer for that one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from flint import arb

from bursar.losses._base import Loss
from bursar.losses._directions import Directions
from bursar.numerics.balls import Ball


class Twins(NamedTuple):
    """A law that costs no more and one that costs no less, in any composition, but for a slack.

    With a slack ρ the outcomes of the pair between them are, up to factors from e^{−ρ} to e^{ρ}, what becomes of the
    larger pair's, and those of the smaller pair what becomes of its own; so k copies have
    e^{−kρ}·δ_low(ε + 2kρ) ≤ δ(ε) ≤ e^{kρ}·δ_high(ε − 2kρ) (proofs/likeness.md §5).
    """

    low: Loss
    high: Loss
    slack: Ball = arb(0)


def sampled_twins(base: Directions, sampled: Callable[[Loss], Loss]) -> Twins | None:
    """Samples of the base's twins: what becomes of outcomes does not depend on who took part."""
    twins = base.remove.base_twins() if base.same else None
    return None if twins is None else Twins(sampled(twins.low), sampled(twins.high), twins.slack)
