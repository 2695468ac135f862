"""Chernoff bounds of δ, and cumulants that are bounded in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb

from bursar.losses.engines.answer import Losses
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_TINY = 1e-300  # more than what underflows


@dataclass(frozen=True)
class CumulantBound:
    """An upper bound of the cumulant function of one copy of a loss, in closed form."""

    variance: float
    """About the variance of the loss: says which tilt to try."""
    largest: float
    """The tilt from which on the bound explodes."""
    at: Callable[[float], Ball]
    """The bound at a tilt above 0."""


def chernoff_constant(tilt: float | Ball) -> Ball:
    """ln of sup_x (1 − e^{−x})e^{−τx} = τ^τ/(1+τ)^{1+τ}, in a form that keeps its digits at large tilts."""
    t = arb(tilt)
    return -t.log1p() - t * (1 / t).log1p()


def exponentials(bound: float, tilt: float, epsilons: Array) -> Array:
    """Upper bounds of e^{bound − tilt·ε}."""
    moved = tilt * epsilons
    slack = SAFETY * UNIT * (ULPS + 8 + 2 * (abs(bound) + 2 * np.abs(moved)))
    with np.errstate(over="ignore"):
        return np.asarray(np.where(slack < 0.01, np.exp(bound - moved) * (1 + slack) + _TINY, math.inf))


def delta_at_most(losses: Losses, epsilon: float) -> Ball:
    """A Chernoff bound of δ(ε) where every loss bounds its cumulant in closed form; 1 for other losses or where the
    bound would be no use.
    """
    known = [(bound, count) for loss, count in losses if (bound := loss.cumulant_bound()) is not None]
    if not epsilon > 0 or len(known) < len(losses):
        return arb(1)
    variance = sum(count * bound.variance for bound, count in known)
    # the tilt of a Gaussian with this variance, at most where a bound starts to explode
    tilt = min([epsilon / variance - 0.5, *(bound.largest for bound, _ in known)])
    if not tilt > 0:
        return arb(1)
    cumulant = sum((count * bound.at(tilt) for bound, count in known), arb(0))
    return (cumulant - arb(tilt) * arb(epsilon) + chernoff_constant(tilt)).exp().min(arb(1))
