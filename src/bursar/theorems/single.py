"""One release: its own profile.

Statement: a mechanism whose worst pair (P, Q) is known is (ε, δ)-DP exactly for δ ≥ δ(ε) = E_P[(1 − e^{ε−L})₊], the
    worse of its directions.
Hypotheses: the composition is one release, whose loss distributions are known; from below also: they are attained,
    or each point of the profile is (by the exponential mechanism, proofs/strategies.md §1).
Source: Balle and Wang 2018, Thm 5, for the profile as an expectation of the loss; Zhu, Dong and Wang 2022, Def. 7,
    for dominating pairs.
Code/paper: ``losses.profile`` is δ(ε).
Rounding: profiles are balls; the inverse is a certified search that returns both ends.
Checked: every mechanism's profile against quadrature or enumeration.
"""

from __future__ import annotations

import math
from dataclasses import replace

from flint import arb

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.losses import Directions
from bursar.numerics.balls import ball
from bursar.numerics.search import crossing
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem, bounded, never

_LEAST = -40.0  # a lower end of δ is not worth the time below e to this


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Read the profile of the one release."""
    if composition.count != 1:
        return Abstain(f"it speaks of one release, not of {composition.count}")
    mechanism = composition.terms[0].mechanism
    try:
        losses = mechanism.losses()
        if losses.remove.copies()[1] > 1:
            return Abstain("the release is several at once, which numerical composition reads")
        found = _read(losses, question, f"the profile of {mechanism.text()} itself")
        if losses.exact_alone or isinstance(found, Abstain):
            return found
        lower = max((_lower(pair, question) for pair in losses.least), default=0.0)
        because = found.because + (", which dominates; from below by what some data attain" if lower > 0 else "")
        return replace(found, lower=min(max(lower, found.lower), found.upper), because=because)
    except LossUnknown as unknown:
        return Abstain(str(unknown))


def _lower(pair: Directions, question: Question) -> float:
    """What a pair costs that is attained."""
    try:
        found = _read(pair.suited(_LEAST), question, "")
    except LossUnknown:
        return 0.0
    return found.lower if isinstance(found, Bound) else 0.0


def _read(losses: Directions, question: Question, because: str) -> Bound | Abstain:
    if not isinstance(question, ForEpsilon):
        delta = losses.profile(ball(question.epsilon))
        return bounded(because, upper=delta, lower=delta if losses.exact_alone else None, most=1.0)
    leak, target = losses.infinite_mass(), ball(question.delta)
    if target < leak:
        revealed = f"it reveals everything with probability {float(leak):.6g}, more than δ"
        return Bound(math.inf if losses.exact_alone else 0.0, math.inf, revealed)
    if question.delta.high == 0 and leak <= 0:
        top = losses.largest_loss().max(arb(0))
        return bounded(f"the largest loss of {because}", upper=top, lower=top if losses.exact_alone else None)
    if not target > leak:
        return Abstain("δ is, up to rounding, the probability of revealing everything")
    suited = losses.suited(float(target.log()))
    found = crossing(lambda x: suited.profile(arb(x)), target)
    return Bound(found.lower if losses.exact_alone else 0.0, found.upper, because)


THEOREM = Theorem(
    id="single",
    title="the release's own profile",
    citations=("BW18", "ZDW22"),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
    dear=never,
)
