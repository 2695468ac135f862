"""Basic composition.

Statement: mechanisms that are (εᵢ, δᵢ)-DP, adaptively composed, are together (Σεᵢ, 1 − Π(1 − δᵢ))-DP, which is at
    most (Σεᵢ, Σδᵢ). At δ = 0 nothing smaller than Σεᵢ holds when every εᵢ is the essential supremum of its
    mechanism's loss in one and the same direction: all suprema can be approached at once.
Hypotheses: each mechanism promises pure or approximate privacy. For ε at a given δ, δ covers the leaks; for δ at a
    given ε, ε ≥ Σεᵢ.
Source: Dwork, McSherry, Nissim and Smith 2006; Dwork et al. 2006; the sharper leak is Kairouz, Oh and Viswanath
    2015's optimum at ε = Σεᵢ.
Code/paper: ``total.epsilon`` is Σεᵢ, exact over the rationals; ``leaks`` are the δᵢ.
Rounding: sums are exact; leaks are balls; the float at the end is rounded outward.
Checked: exact sums with fractions; enumeration of all outcomes for small k; the worst-case example in
    `bursar.lecture.worst_case`.
"""

from __future__ import annotations

from flint import arb

from bursar.composition import Composition
from bursar.guarantees import ApproxDP, PureDP, Tightness
from bursar.mechanisms._base import known_losses
from bursar.numerics.balls import Ball, ball
from bursar.theorems._base import (
    Abstain,
    Adaptivity,
    Bound,
    ForEpsilon,
    Question,
    Theorem,
    bounded,
    collected,
    leaks_of,
    rest_of_delta,
    told_exactly,
    too_leaky,
    whole_delta,
)


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """Σε at a δ that covers the leaks; the leaks at an ε of at least Σε."""
    promises = collected(composition, ApproxDP)
    if isinstance(promises, Abstain):
        return promises
    leaks = leaks_of(promises)
    total = ApproxDP.compose(promises).epsilon
    if isinstance(question, ForEpsilon):
        rest = rest_of_delta(question.delta, leaks)
        if not rest >= 0:
            return Abstain(too_leaky(leaks, question.delta))
        because = f"the ε's add up to {float(total):.6g}"
        if question.delta.high > 0:
            return bounded(because, upper=ball(total))
        lower = ball(total) if _attained(composition) else _largest_loss(composition)
        return bounded(because, upper=ball(total), lower=lower)
    asked = question.epsilon
    same = composition.count == 1 and (total, total.low, total.high) == (asked, asked.low, asked.high)
    if not total.high <= asked.low and not same:
        return Abstain(f"basic composition speaks of ε ≥ Σε = {float(total):.6g} only")
    leak = whole_delta(arb(0), leaks)
    because = f"ε covers Σε = {float(total):.6g}, and the leaks come to {float(leak):.6g}"
    exact = told_exactly(composition, PureDP, ApproxDP)
    return bounded(because, upper=leak, lower=leak if exact else None, most=1.0)


def _attained(composition: Composition) -> bool:
    """Whether each mechanism's ε is its largest loss in both directions, so that the exact sum is."""
    for mechanism, _ in composition.terms:
        losses = known_losses(mechanism)
        alike = not isinstance(losses, str) and losses.same and losses.attained
        if not any(
            isinstance(claim.guarantee, PureDP)
            and (claim.tightness is Tightness.EXACT or (alike and claim.tightness is Tightness.TIGHT))
            for claim in mechanism.stated()
        ):
            return False
    return True


def _largest_loss(composition: Composition) -> Ball | None:
    """The largest loss of the whole, in the worse direction, where each mechanism attains its pair: all suprema meet in
    one event.
    """
    pairs = []
    for mechanism, count in composition.terms:
        losses = known_losses(mechanism)
        if isinstance(losses, str) or not losses.attained:
            return None
        pairs.append((losses, count))
    removed = sum((count * losses.remove.support()[1] for losses, count in pairs), arb(0))
    added = sum((count * losses.add.support()[1] for losses, count in pairs), arb(0))
    return removed.max(added)


THEOREM = Theorem(
    id="basic",
    title="basic composition",
    citations=("DMNS06", "DKMMN06", "KOV15"),
    adaptivity=Adaptivity.ADAPTIVE,
    answer=answer,
)
